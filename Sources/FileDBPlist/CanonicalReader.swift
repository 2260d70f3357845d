import CFileDB
import FileDBEssentials

/// Reads values from canonical bytes: those that ``CanonicalScanner`` has accepted or ``PlistWriter`` has written. With
/// other bytes, it may stop the program or return a wrong value, but it never reads beyond the bytes.
///
/// A reader of a typed row goes through ``entries(of:)`` and asks for each value in the type that it wants. The bytes
/// must outlive the reader and its cursors.
package struct CanonicalReader {
  let bytes: CanonicalBytes

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = CanonicalBytes(bytes) }

  /// The value whose first line begins at `position`, after `indentation` tabs.
  package func element(at position: Int = 0, indentation: Int) -> CanonicalElement? {
    bytes.element(at: position + indentation, indentation: indentation)?.element
  }

  /// The dictionary that takes up all of the bytes, as in a record. This saves searching for its end.
  package func dict(indentation: Int) -> CanonicalElement {
    let start = indentation + "<dict>\n".utf8.count
    let end = bytes.count - indentation - "</dict>\n".utf8.count
    // `<dict/>` is shorter than an opening and a closing tag.
    return CanonicalElement(kind: .dict, content: start < end ? start..<end : 0..<0)
  }

  /// The entries of a dictionary, in the order of their keys.
  package func entries(of dict: CanonicalElement) -> CanonicalEntries {
    CanonicalEntries(bytes, lines: dict.content)
  }

  /// The elements of an array.
  package func elements(of array: CanonicalElement) -> CanonicalElements {
    CanonicalElements(bytes, lines: array.content)
  }

  package func value(of element: CanonicalElement) -> PlistValue {
    let value: PlistValue? =
      switch element.kind {
      case .string: .string(text(element.content))
      case .integer: integer(element).map(PlistValue.integer) ?? unsigned(element).map(PlistValue.unsigned)
      case .real: real(element).map(PlistValue.real)
      case .true: .bool(true)
      case .false: .bool(false)
      case .date: date(element).map(PlistValue.date)
      case .data: data(element).map(PlistValue.data)
      case .array: .array(array(element))
      case .dict: .dict(dictionary(element))
      }
    guard let value else { preconditionFailure("the bytes are not canonical") }
    return value
  }

  package func dictionary(_ dict: CanonicalElement) -> PlistDictionary {
    var entries: [PlistDictionary.Entry] = []
    var cursor = self.entries(of: dict)
    while let (key, element) = cursor.next() {
      entries.append(PlistDictionary.Entry(key: text(key), value: value(of: element)))
    }
    return PlistDictionary(ascending: entries)
  }

  private func array(_ array: CanonicalElement) -> [PlistValue] {
    var values: [PlistValue] = []
    var cursor = elements(of: array)
    while let element = cursor.next() { values.append(value(of: element)) }
    return values
  }

  /// Finds the keys of two dictionaries whose values differ, in order. Only what differs is decoded.
  /// - Parameters:
  ///   - other: the other dictionary, and its reader.
  ///   - body: called with the key and its two values; `nil` for a key that one of the dictionaries lacks.
  package func forEachDifference(
    _ dict: CanonicalElement, to other: CanonicalElement, of reader: CanonicalReader,
    _ body: (_ key: String, _ before: PlistValue?, _ after: PlistValue?) -> Void
  ) {
    var (befores, afters) = (entries(of: dict), reader.entries(of: other))
    var (before, after) = (befores.next(), afters.next())
    while before != nil || after != nil {
      let order = self.order(before?.key, after?.key, of: reader)
      if order == 0, let old = before?.element, let new = after?.element, old.kind == new.kind,
        bytes.isSame(old.content, UnsafeRawBufferPointer(reader.bytes.text(new.content)))
      {
        (before, after) = (befores.next(), afters.next())
        continue
      }
      let (old, new) = (order <= 0 ? before : nil, order >= 0 ? after : nil)
      let key = old.map { text($0.key) } ?? new.map { reader.text($0.key) } ?? ""
      body(key, old.map { value(of: $0.element) }, new.map { reader.value(of: $0.element) })
      if order <= 0 { before = befores.next() }
      if order >= 0 { after = afters.next() }
    }
  }

  /// The order of a key and one of another reader, less than, equal to or greater than 0. No key is after all others.
  private func order(_ key: Range<Int>?, _ other: Range<Int>?, of reader: CanonicalReader) -> Int {
    guard let key else { return 1 }
    guard let other else { return -1 }
    if bytes.isSame(key, UnsafeRawBufferPointer(reader.bytes.text(other))) { return 0 }
    return compareUTF8(text(key), reader.text(other))
  }

  /// Whether the text of a key or a string, without its escapes, is `text`.
  package func isText(_ range: Range<Int>, _ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      if bytes.isSame(range, UnsafeRawBufferPointer(utf8)) { return true }
      // Escapes make the text longer.
      guard range.count > utf8.count else { return false }
      var rest = range
      return utf8.allSatisfy { !rest.isEmpty && bytes.popCharacter(&rest) == $0 } && rest.isEmpty
    }
  }

  /// Whether the text of a key or a string contains escapes.
  package func hasEscapes(_ text: Range<Int>) -> Bool {
    bytes.first(UInt8(ascii: "&"), from: text.lowerBound, to: text.upperBound) < text.upperBound
  }

  /// The text of a key or a string, without its escapes.
  package func text(_ range: Range<Int>) -> String {
    if !hasEscapes(range) {
      return String(decoding: bytes.text(range), as: UTF8.self)
    }
    var rest = range
    return String(unsafeUninitializedCapacity: range.count) { characters in
      var count = 0
      while !rest.isEmpty {
        characters[count] = bytes.popCharacter(&rest)
        count += 1
      }
      return count
    }
  }
}

/// A scalar as one Swift type, `nil` if the value is of another kind or the type cannot hold it.
extension CanonicalReader {
  package func string(_ element: CanonicalElement) -> String? {
    element.kind == .string ? text(element.content) : nil
  }

  package func bool(_ element: CanonicalElement) -> Bool? {
    switch element.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  package func integer(_ element: CanonicalElement) -> Int64? {
    guard element.kind == .integer else { return nil }
    let digits = element.content
    guard bytes.byte(at: digits.lowerBound) == UInt8(ascii: "-") else {
      return bytes.magnitude(digits).flatMap { Int64(exactly: $0) }
    }
    guard let magnitude = bytes.magnitude(digits.dropFirst()), magnitude <= Int64.min.magnitude else {
      return nil
    }
    return Int64(truncatingIfNeeded: 0 &- magnitude)
  }

  package func unsigned(_ element: CanonicalElement) -> UInt64? {
    guard element.kind == .integer, bytes.byte(at: element.content.lowerBound) != UInt8(ascii: "-") else {
      return nil
    }
    return bytes.magnitude(element.content)
  }

  package func real(_ element: CanonicalElement) -> Double? {
    guard element.kind == .real else { return nil }
    return bytes.plainReal(element.content) ?? PlistNumber.real(bytes.text(element.content))
  }

  package func date(_ element: CanonicalElement) -> Date? {
    element.kind == .date ? PlistDate.parse(bytes.text(element.content)) : nil
  }

  package func data(_ element: CanonicalElement) -> Data? {
    guard element.kind == .data else { return nil }
    // Remove everything between the lines: line ends and tabs are smaller than any character of base64.
    return bytes.text(element.content).filter { $0 > UInt8(ascii: " ") }.withUnsafeBufferPointer(
      Base64.decode)
  }
}

/// Iterates over the entries of a dictionary.
package struct CanonicalEntries {
  private let bytes: CanonicalBytes
  private let end: Int
  private let indentation: Int
  private var position: Int

  init(_ bytes: CanonicalBytes, lines: Range<Int>) {
    self.bytes = bytes
    (position, end) = (lines.lowerBound, lines.upperBound)
    indentation = bytes.indentation(at: position)
  }

  /// - Returns: the place of the key's text, with its escapes, and the value.
  package mutating func next() -> (key: Range<Int>, element: CanonicalElement)? {
    guard position < end else { return nil }
    var entry = filedb_entry()
    guard filedb_split_entries(bytes.start, end, &position, indentation, &entry, 1) == 1 else {
      preconditionFailure("the bytes are not canonical")
    }
    return (entry.key..<entry.end_of_key, CanonicalElement(entry.value))
  }
}

/// Iterates over the elements of an array.
package struct CanonicalElements {
  private let bytes: CanonicalBytes
  private let end: Int
  private let indentation: Int
  private var position: Int

  init(_ bytes: CanonicalBytes, lines: Range<Int>) {
    self.bytes = bytes
    (position, end) = (lines.lowerBound, lines.upperBound)
    indentation = bytes.indentation(at: position)
  }

  package mutating func next() -> CanonicalElement? {
    guard position < end else { return nil }
    guard let (element, next) = bytes.element(at: position + indentation, indentation: indentation) else {
      preconditionFailure("the bytes are not canonical")
    }
    position = next
    return element
  }
}
