import FileDBPlist

/// The records of a table file that is no longer a property list as a whole: cut off, or damaged inside.
///
/// It goes by the tags and the tabs or spaces before them: a record begins with a `<dict>` and ends with the next `</dict>`
/// that is indented alike. A raw `<` never stands in a text, so that no value looks like a tag.
struct TableSalvage {
  private(set) var records: [(value: PlistValue, line: Int)] = []
  /// The lines where something begins that should be a record and cannot be read.
  private(set) var lost: [Int] = []
  private(set) var counter: RecordID?

  init(_ bytes: [UInt8], limits: PlistLimits) {
    let starts = Dictionary(grouping: Self.tags("<dict>", in: bytes), by: \.indentation)
    let ends = Dictionary(grouping: Self.tags("</dict>", in: bytes), by: \.indentation)
    // Records are the dictionaries of whichever indentation has the most with an id.
    for (indentation, starts) in starts {
      let found = Self.read(bytes, starts: starts, ends: ends[indentation] ?? [], limits: limits)
      if found.records.count > records.count { (records, lost) = found }
    }
    counter = Self.counter(in: bytes)
  }

  private struct Tag {
    let position: Int
    let end: Int
    let line: Int
    let indentation: [UInt8]
  }

  private static func tags(_ text: String, in bytes: [UInt8]) -> [Tag] {
    let wanted = Array(text.utf8)
    var tags: [Tag] = []
    var line = 1
    for position in bytes.indices {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      guard bytes[position] == wanted[0], bytes[position...].starts(with: wanted) else { continue }
      let indentation = bytes[..<position].reversed().prefix { $0 == 0x20 || $0 == 0x09 }
      tags.append(
        Tag(position: position, end: position + wanted.count, line: line, indentation: indentation.reversed())
      )
    }
    return tags
  }

  private static func read(
    _ bytes: [UInt8], starts: [Tag], ends: [Tag], limits: PlistLimits
  ) -> (records: [(value: PlistValue, line: Int)], lost: [Int]) {
    var records: [(value: PlistValue, line: Int)] = []
    var lost: [Int] = []
    var ends = ends[...]
    for (number, start) in starts.enumerated() {
      let next = number + 1 < starts.count ? starts[number + 1].position : bytes.count
      ends = ends.drop { $0.position < start.position }
      let end = ends.first.flatMap { $0.position < next ? $0.end : nil } ?? next
      let document = Array("<plist>".utf8) + bytes[start.position..<end] + Array("</plist>".utf8)
      if let value = try? PlistParser.parse(document, limits: limits), value.dict?[TableFile.idKey] != nil {
        records.append((value, start.line))
      } else {
        lost.append(start.line)
      }
    }
    return (records, lost)
  }

  /// The digits behind the counter's key.
  private static func counter(in bytes: [UInt8]) -> RecordID? {
    guard let key = tags("<key>\(TableFile.counterKey)</key>", in: bytes).first else { return nil }
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    // What stands between is a tag and white space.
    let digits = bytes[key.end...].prefix(80).drop { !isDigit($0) }.prefix(while: isDigit)
    return RecordID(String(decoding: digits, as: UTF8.self))
  }
}
