import FileDBPlist
import FileDBTables

/// Reads a damaged record field by field. A value that cannot be read is kept as text.
struct RecordSalvage {
  typealias Note = (text: String, line: Int)

  private(set) var fields = PlistDictionary()
  /// What became of values that are not read as they are in the file.
  private(set) var notes: [Note] = []
  /// Whether this is no record, but a whole table.
  private(set) var isTable = false
  /// The lines of what could not be kept.
  private(set) var lost: [Note] = []

  private let bytes: ArraySlice<UInt8>
  /// The line on which the record begins.
  private let line: Int
  private let limits: PlistLimits

  /// - Parameter bytes: the record, from its `<dict>` to its `</dict>`.
  init(_ bytes: ArraySlice<UInt8>, line: Int, limits: PlistLimits) {
    (self.bytes, self.line, self.limits) = (bytes, line, limits)
    let keys = self.keys
    isTable = keys.contains { $0.name == TableFile.recordsKey }
    if isTable { return }
    if let whole = Self.value(Self.withEscapedAmpersands(bytes), limits)?.dict {
      fields = whole
      notes.append(("an & that stands for itself is read as text", line))
      return
    }
    let end = bytes.indices.last { bytes[$0...].starts(with: "</dict>".utf8) } ?? bytes.endIndex
    for (index, key) in keys.enumerated() {
      take(key.name, bytes[key.end..<(index + 1 < keys.count ? keys[index + 1].start : end)])
    }
  }

  private mutating func take(_ name: String, _ element: ArraySlice<UInt8>) {
    let line = line(at: element.startIndex)
    guard fields[name] == nil else {
      return lost.append(("the field '\(name)' is there a second time; this value is left out", line))
    }
    if let value = Self.value(element, limits) ?? Self.value(Self.withEscapedAmpersands(element), limits) {
      fields[name] = value
    } else if let value = closed(element) {
      fields[name] = value
      notes.append(("a tag of the value of '\(name)' is damaged; it is read as \(value.quoted)", line))
    } else if let text = Self.text(of: element), (try? checkXMLText(text, limits: limits)) != nil {
      fields[name] = .string(text)
      notes.append(("the value of '\(name)' cannot be read; it is kept as text", line))
    } else {
      lost.append(("the value of '\(name)' cannot be read; it is left out", line))
    }
  }

  /// - Returns: `nil` if the element cannot be read by itself.
  static func value(_ element: some Sequence<UInt8>, _ limits: PlistLimits) -> PlistValue? {
    try? PlistParser.parse(Array("<plist>".utf8) + element + Array("</plist>".utf8), limits: limits)
  }

  /// The text that these bytes are between the tags of an element.
  private static func text(between content: ArraySlice<UInt8>, _ limits: PlistLimits) -> String? {
    value(
      Array("<string>".utf8) + withEscapedAmpersands(content) + Array("</string>".utf8), limits)?.string
  }

  /// The value if it only lacks the right end tag.
  private func closed(_ element: ArraySlice<UInt8>) -> PlistValue? {
    guard let start = element.firstIndex(of: UInt8(ascii: "<")),
      let end = element.firstIndex(of: UInt8(ascii: ">")),
      let text = Self.text(of: element), start < end
    else { return nil }
    let name = element[(start + 1)..<end]
    guard ["string", "integer", "real", "date", "data"].contains(where: { name.elementsEqual($0.utf8) })
    else { return nil }
    let content = Self.withEscapedAmpersands(Array(text.replacing(["<": "&lt;"]).utf8))
    return Self.value(
      Array("<".utf8) + name + [UInt8(ascii: ">")] + content + Array("</".utf8) + name + [UInt8(ascii: ">")],
      limits)
  }

  /// The keys of the record itself, not of dictionaries in it.
  private var keys: [(name: String, start: Int, end: Int)] {
    var keys: [(name: String, start: Int, end: Int)] = []
    var depth = 0
    for position in bytes.indices where bytes[position] == UInt8(ascii: "<") {
      let rest = bytes[position...]
      if ["<dict>", "<array>"].contains(where: { rest.starts(with: $0.utf8) }) { depth += 1 }
      if ["</dict>", "</array>"].contains(where: { rest.starts(with: $0.utf8) }) { depth -= 1 }
      guard depth == 1, rest.starts(with: "<key>".utf8), let end = rest.firstRange(of: Array("</key>".utf8)),
        let name = Self.text(between: rest[(position + 5)..<end.lowerBound], limits)
      else { continue }
      keys.append((name, position, end.upperBound))
    }
    return keys
  }

  private func line(at position: Int) -> Int {
    line + bytes[..<position].count { $0 == UInt8(ascii: "\n") }
  }

  /// The bytes in which an `&` that begins no entity is escaped. Somebody has typed it.
  private static func withEscapedAmpersands(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    var result: [UInt8] = []
    for position in bytes.indices {
      result.append(bytes[position])
      guard bytes[position] == UInt8(ascii: "&") else { continue }
      let name = bytes[(position + 1)...].prefix(10).prefix {
        $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "&")
      }
      let isEnded =
        position + 1 + name.count < bytes.count && bytes[position + 1 + name.count] == UInt8(ascii: ";")
      let isEntity =
        name.first == UInt8(ascii: "#")
        || ["amp", "lt", "gt", "quot", "apos"].contains { name.elementsEqual($0.utf8) }
      if !isEnded || !isEntity { result += Array("amp;".utf8) }
    }
    return result
  }

  /// What is between the tags of an element.
  /// - Returns: `nil` if it is not closed, or is not text.
  private static func text(of element: ArraySlice<UInt8>) -> String? {
    guard let start = element.firstIndex(of: UInt8(ascii: ">")),
      let end = element.indices.last(where: { element[$0...].starts(with: "</".utf8) }), start < end
    else { return nil }
    let content = element[(start + 1)..<end]
    let escaped =
      content.contains(UInt8(ascii: "<")) ? nil : text(between: content, PlistLimits())
    return escaped ?? String(validating: content, as: UTF8.self)
  }
}
