import CFileDB

/// Checks that bytes are in the canonical form, without building a value. It accepts exactly what ``PlistWriter``
/// writes for the value that ``PlistParser`` reads there.
///
/// Each function returns `nil`, and stays at its position, if it finds anything else. That may be a valid property list
/// of another program, so the parser has to judge it. The bytes must outlive the scanner.
package struct CanonicalScanner: Sendable {
  private let bytes: CanonicalBytes
  private let limits: PlistLimits

  /// The number of bytes that have been accepted so far.
  package private(set) var position = 0

  package init(_ bytes: UnsafeRawBufferPointer, limits: PlistLimits = PlistLimits()) {
    self.bytes = CanonicalBytes(bytes)
    self.limits = limits
  }

  package var isAtEnd: Bool { position == bytes.count }

  /// A scanner that continues at another position.
  package func moved(to position: Int) -> CanonicalScanner {
    var moved = self
    moved.position = position
    return moved
  }

  /// Where the first dictionary after `offset` with this indentation may begin. In valid bytes, its tag occurs nowhere
  /// else.
  package func startOfDict(behind offset: Int, indentation: Int) -> Int? {
    var line = bytes.first(UInt8(ascii: "\n"), from: offset, to: bytes.count) + 1
    while line < bytes.count {
      if bytes.hasTabs(indentation, at: line), bytes.has("<dict>\n", at: line + indentation) { return line }
      line = bytes.first(UInt8(ascii: "\n"), from: line, to: bytes.count) + 1
    }
    return nil
  }

  /// Skips `text` if it comes next.
  package mutating func skip(_ text: String) -> Bool {
    let length = text.utf8.count
    guard text.utf8.elementsEqual(bytes.text(position..<position + length)) else { return false }
    position += length
    return true
  }

  /// Scans a whole document.
  /// - Returns: its root.
  package mutating func scanDocument() -> CanonicalElement? {
    guard skip(PlistWriter.header), let root = scanValue(indentation: 0), skip(PlistWriter.footer), isAtEnd
    else { return nil }
    return root
  }

  /// Scans the line of a key.
  /// - Returns: the place of its text, with its escapes.
  package mutating func scanKey(indentation: Int) -> Range<Int>? {
    guard let key = key(at: position, indentation) else { return nil }
    position = key.nextLine
    return key.text
  }

  /// Scans the lines of a value of any kind.
  package mutating func scanValue(indentation: Int) -> CanonicalElement? {
    guard let end = endOfValue(at: position, indentation),
      let (element, _) = bytes.element(at: position + indentation, indentation: indentation)
    else { return nil }
    position = end
    return element
  }

  /// Scans a dictionary whose entry `numberKey` is a number, 0 or more, in the form of a string.
  /// - Returns: the range of its lines, including its tags, and the number.
  package mutating func scanDict(indentation: Int, numberKey: StaticString) -> (
    range: Range<Int>, number: Int64
  )? {
    let start = position
    guard indentation < limits.depth, bytes.hasTabs(indentation, at: start),
      bytes.has("<dict>\n", at: start + indentation),
      let entries = entries(at: start + indentation + 7, indentation, numberKey: numberKey),
      let number = entries.number
    else { return nil }
    position = entries.end
    return (start..<entries.end, number)
  }

  /// The same for one of many similar dictionaries. It is several times as fast, because the shape tells what to
  /// expect.
  /// - Parameter shape: must have been made for these limits, and be used for no other dictionaries.
  package mutating func scanDict(alike shape: DictShape) -> (range: Range<Int>, number: Int64)? {
    let (start, indentation) = (position, shape.indentation)
    guard indentation < limits.depth, bytes.hasTabs(indentation, at: start),
      bytes.has("<dict>\n", at: start + indentation)
    else { return nil }
    let first = start + indentation + 7
    var entries = filedb_entries(position: first, last: first, next: 0, number: -1)
    while true {
      shape.pass(&entries, in: bytes)
      let line = entries.position
      if line > first, bytes.byte(at: line + indentation) != UInt8(ascii: "\t") { break }
      guard passEntry(&entries, isFirst: line == first, shape) else { return nil }
    }
    let end = entries.position + indentation + 8
    guard entries.number >= 0, bytes.hasTabs(indentation, at: entries.position),
      bytes.has("</dict>\n", at: end - 8)
    else { return nil }
    position = end
    return (start..<end, entries.number)
  }

  /// Scans an entry that the shape's code has left over.
  @inline(never)
  private func passEntry(_ entries: inout filedb_entries, isFirst: Bool, _ shape: DictShape) -> Bool {
    let (line, indentation) = (entries.position, shape.indentation + 1)
    guard let key = key(at: line, indentation) else { return false }
    if !isFirst {
      guard let last = self.key(at: entries.last, indentation), bytes.isAscending(last, key) else {
        return false
      }
    }
    guard let end = endOfValue(at: key.nextLine, indentation) else { return false }
    if bytes.holds(shape.numberKey, in: key.text) {
      let tag = key.nextLine + indentation
      guard bytes.has("<string>", at: tag), let number = bytes.number(tag + 8..<end - 10) else {
        return false
      }
      entries.number = number
    }
    entries.position = end
    entries.last = line
    entries.next = shape.placeBehind(key, at: line, in: bytes)
    return true
  }

  /// Scans a key and a string that are both numbers, 0 or more, with two tabs.
  package mutating func scanNumbers() -> (key: Int64, value: Int64)? {
    var numbers: (key: Int64, value: Int64) = (0, 0)
    let end = filedb_pass_numbers(bytes.start, bytes.count, position, &numbers.key, &numbers.value)
    guard end > 0 else { return nil }
    position = end
    return numbers
  }

  /// The end of the value whose first line is at `line`.
  @inline(__always)
  private func endOfValue(at line: Int, _ indentation: Int) -> Int? {
    guard bytes.hasTabs(indentation, at: line) else { return nil }
    let tag = line + indentation
    switch bytes.byte(at: tag + 1) {
    case UInt8(ascii: "s"):
      guard bytes.has("<string>", at: tag), let text = bytes.canonicalText(at: tag + 8, limits),
        bytes.has("</string>\n", at: text.end)
      else { return nil }
      return text.end + 10
    case UInt8(ascii: "i"):
      guard bytes.has("<integer>", at: tag), let end = bytes.endOfInteger(at: tag + 9),
        bytes.has("</integer>\n", at: end), end - tag - 9 <= limits.valueBytes
      else { return nil }
      return end + 11
    case UInt8(ascii: "t"): return bytes.has("<true/>\n", at: tag) ? tag + 8 : nil
    case UInt8(ascii: "f"): return bytes.has("<false/>\n", at: tag) ? tag + 9 : nil
    case UInt8(ascii: "d") where bytes.has("<date>", at: tag):
      guard bytes.has("</date>\n", at: tag + 26), PlistDate.parse(bytes.text(tag + 6..<tag + 26)) != nil,
        20 <= limits.valueBytes
      else { return nil }
      return tag + 34
    default: return endOfRareValue(at: tag, indentation)
    }
  }

  /// Handles rare kinds of values, apart from the code for the usual ones.
  @inline(never)
  private func endOfRareValue(at tag: Int, _ indentation: Int) -> Int? {
    if bytes.has("<real>", at: tag) {
      guard let end = bytes.endOfReal(at: tag + 6), bytes.has("</real>\n", at: end),
        end - tag - 6 <= limits.valueBytes
      else { return nil }
      return end + 8
    }
    if bytes.has("<data>\n", at: tag) {
      guard let end = bytes.endOfBase64(at: tag + 7, indentation, limits),
        bytes.hasTabs(indentation, at: end),
        bytes.has("</data>\n", at: end + indentation)
      else { return nil }
      return end + indentation + 8
    }
    guard indentation < limits.depth else { return nil }
    if bytes.has("<dict/>\n", at: tag) { return tag + 8 }
    if bytes.has("<array/>\n", at: tag) { return tag + 9 }
    if bytes.has("<dict>\n", at: tag) { return entries(at: tag + 7, indentation, numberKey: nil)?.end }
    if bytes.has("<array>\n", at: tag) { return endOfElements(at: tag + 8, indentation) }
    return nil
  }

  /// The end of the array whose first element is at `line`.
  private func endOfElements(at line: Int, _ indentation: Int) -> Int? {
    var line = line
    // An array without elements is `<array/>`, so there is a first one.
    repeat {
      guard let end = endOfValue(at: line, indentation + 1) else { return nil }
      line = end
    } while bytes.byte(at: line + indentation) == UInt8(ascii: "\t")
    guard bytes.hasTabs(indentation, at: line), bytes.has("</array>\n", at: line + indentation) else {
      return nil
    }
    return line + indentation + 9
  }

  /// The end of the dictionary whose first key is at `line`, and the number under `numberKey`.
  private func entries(at line: Int, _ indentation: Int, numberKey: StaticString?)
    -> (end: Int, number: Int64?)?
  {
    var line = line
    var number: Int64?
    var last: CanonicalKey?
    repeat {
      guard let key = key(at: line, indentation + 1) else { return nil }
      if let last, !bytes.isAscending(last, key) { return nil }
      last = key
      guard let end = endOfValue(at: key.nextLine, indentation + 1) else { return nil }
      if let numberKey, bytes.holds(numberKey, in: key.text) {
        let tag = key.nextLine + indentation + 1
        number = bytes.has("<string>", at: tag) ? bytes.number(tag + 8..<end - 10) : nil
      }
      line = end
    } while bytes.byte(at: line + indentation) == UInt8(ascii: "\t")
    guard bytes.hasTabs(indentation, at: line), bytes.has("</dict>\n", at: line + indentation) else {
      return nil
    }
    return (line + indentation + 8, number)
  }

  @inline(__always)
  private func key(at line: Int, _ indentation: Int) -> CanonicalKey? {
    let tag = line + indentation
    guard bytes.hasTabs(indentation, at: line), bytes.has("<key>", at: tag),
      let text = bytes.canonicalText(at: tag + 5, limits), bytes.has("</key>\n", at: text.end)
    else { return nil }
    return CanonicalKey(text: tag + 5..<text.end, hasEscapes: text.hasEscapes)
  }
}
