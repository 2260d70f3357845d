import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables

/// A frame has bytes that this library does not understand, although they are as they were written.
package struct PayloadFault: Error {
  package let message: String
}

/// Writes the lines of a frame: words with spaces between.
struct LineWriter {
  private(set) var bytes: [UInt8] = []

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  mutating func beginLine(_ word: StaticString) {
    word.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  mutating func writeLine(_ word: StaticString, _ other: StaticString) {
    beginLine(word)
    add(other)
    endLine()
  }

  mutating func add(_ word: StaticString) {
    bytes.append(UInt8(ascii: " "))
    word.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  mutating func add(_ word: String) {
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: word.utf8)
  }

  mutating func add(_ number: UInt64) {
    bytes.append(UInt8(ascii: " "))
    append(number)
  }

  mutating func add(_ number: Int) { add(UInt64(number)) }

  mutating func add(_ id: AnyRecordID) { add(UInt64(id.rawValue)) }

  /// Adds an id, or `-` for `nil`.
  mutating func add(_ id: AnyRecordID?) {
    if let id { add(id) } else { add("-" as StaticString) }
  }

  mutating func add(_ date: Date) {
    bytes.append(UInt8(ascii: " "))
    PlistDate.append(date, to: &bytes)
  }

  /// Adds a checksum and the id of the record above, separated by a colon.
  mutating func add(_ former: LoggedChange.FoundRecord) {
    bytes.append(UInt8(ascii: " "))
    append(former)
  }

  mutating func add(_ id: AnyRecordID, _ former: LoggedChange.FoundRecord) {
    add(id)
    bytes.append(UInt8(ascii: ":"))
    append(former)
  }

  /// Adds a table's name. Bytes that would end the word or the line, and `%`, become `%` and two hexadecimal digits.
  mutating func add(_ table: TableKey) {
    bytes.append(UInt8(ascii: " "))
    for byte in table.text.utf8 {
      if byte > 0x20, byte != UInt8(ascii: "%"), byte != 0x7F {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hexadecimal: byte, width: 2)
      }
    }
  }

  mutating func add(_ token: CommitToken) {
    bytes.append(UInt8(ascii: " "))
    bytes.append(hexadecimal: token.high, width: 16)
    bytes.append(hexadecimal: token.low, width: 16)
  }

  mutating func add(checksum: UInt32) {
    bytes.append(UInt8(ascii: " "))
    bytes.append(hexadecimal: checksum, width: 8)
  }

  mutating func add(_ version: FileVersion) {
    switch version {
    case .absent: add("absent" as StaticString)
    case .file(let size, let checksum):
      add(size)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(hexadecimal: checksum, width: 8)
    }
  }

  mutating func append(_ record: EncodedRecord) { bytes.append(contentsOf: record.bytes) }

  /// Appends the lines of a value in the root of a table's file.
  mutating func append(_ value: PlistValue) {
    var writer = PlistWriter()
    writer.append(value, indentation: 1)
    bytes += writer.bytes
  }

  private mutating func append(_ former: LoggedChange.FoundRecord) {
    bytes.append(hexadecimal: former.checksum, width: 8)
    bytes.append(UInt8(ascii: ":"))
    if let above = former.above { append(UInt64(above.rawValue)) } else { bytes.append(UInt8(ascii: "-")) }
  }

  private mutating func append(_ number: UInt64) {
    guard number >= 10 else { return bytes.append(UInt8(ascii: "0") + UInt8(number)) }
    let start = bytes.count
    var rest = number
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }
}

/// Reads the lines of a frame, word by word. The bytes must outlive the reader.
struct LineReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Runs `body` with the lines of a payload.
  static func read<Result>(
    _ payload: ArraySlice<UInt8>, _ body: (inout LineReader) throws(PayloadFault) -> Result
  ) throws(PayloadFault) -> Result {
    var result: Swift.Result<Result, PayloadFault>?
    payload.withUnsafeBytes { bytes in
      var lines = LineReader(bytes)
      do throws(PayloadFault) { result = .success(try body(&lines)) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("the body was not run") }
    return try result.get()
  }

  /// Reads a payload that consists only of lines.
  static func readLines(
    _ payload: ArraySlice<UInt8>, _ line: (inout LineReader) throws(PayloadFault) -> Void
  ) throws(PayloadFault) {
    try read(payload) { lines throws(PayloadFault) in while !lines.isAtEnd { try line(&lines) } }
  }

  mutating func move(to position: Int) { self.position = position }

  /// Begins the next line and returns its first word.
  mutating func beginLine() throws(PayloadFault) -> String {
    let word = nextWord()
    guard !word.isEmpty else { throw fault("a line is empty") }
    return String(decoding: word, as: UTF8.self)
  }

  mutating func endLine() throws(PayloadFault) {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\n") else {
      throw fault("a line does not end")
    }
    position += 1
  }

  /// Whether the line has more words.
  var hasWord: Bool { position < bytes.count && bytes[position] == UInt8(ascii: " ") }

  mutating func expect(_ text: StaticString) throws(PayloadFault) {
    let word = try word()
    guard text.withUTF8Buffer({ $0.elementsEqual(word) }) else { throw fault("'\(text)' is missing") }
  }

  /// Skips `text` if it is the next word.
  mutating func skip(_ text: StaticString) -> Bool {
    let start = position
    if hasWord {
      position += 1
      let word = nextWord()
      if text.withUTF8Buffer({ $0.elementsEqual(word) }) { return true }
    }
    position = start
    return false
  }

  mutating func text() throws(PayloadFault) -> String { String(decoding: try word(), as: UTF8.self) }

  mutating func number() throws(PayloadFault) -> Int64 { try number(in: try word()) }

  mutating func count() throws(PayloadFault) -> Int { Int(try number()) }

  mutating func id() throws(PayloadFault) -> AnyRecordID { try id(in: try word()) }

  mutating func optionalID() throws(PayloadFault) -> AnyRecordID? { try optionalID(in: try word()) }

  mutating func date() throws(PayloadFault) -> Date {
    let word = try word()
    guard let date = word.withMemoryRebound(to: UInt8.self, PlistDate.parse) else {
      throw fault("a date is missing")
    }
    return date
  }

  mutating func foundRecord() throws(PayloadFault) -> LoggedChange.FoundRecord {
    let parts = try parts(of: try word(), 2)
    return LoggedChange.FoundRecord(checksum: try checksum(in: parts[0]), above: try optionalID(in: parts[1]))
  }

  mutating func idAndFoundRecord() throws(PayloadFault) -> (AnyRecordID, LoggedChange.FoundRecord) {
    let parts = try parts(of: try word(), 3)
    let former = LoggedChange.FoundRecord(
      checksum: try checksum(in: parts[1]), above: try optionalID(in: parts[2]))
    return (try id(in: parts[0]), former)
  }

  /// `nil` for `-`.
  mutating func optionalChecksum() throws(PayloadFault) -> UInt32? { skip("-") ? nil : try checksum() }

  /// Reads the lines of a value in the root of a table's file.
  mutating func value(_ limits: PlistLimits) throws(PayloadFault) -> PlistValue {
    var scanner = CanonicalScanner(bytes, limits: limits).moved(to: position)
    guard let element = scanner.scanValue(indentation: 1) else { throw fault("a value is missing") }
    position = scanner.position
    return CanonicalReader(bytes).value(of: element)
  }

  mutating func checksum() throws(PayloadFault) -> UInt32 { try checksum(in: try word()) }

  mutating func token() throws(PayloadFault) -> CommitToken {
    let word = try word()
    guard word.count == 32 else { throw fault("a token has 32 digits") }
    return CommitToken(
      high: try hexadecimal(in: UnsafeRawBufferPointer(rebasing: word.prefix(16))),
      low: try hexadecimal(in: UnsafeRawBufferPointer(rebasing: word.suffix(16))))
  }

  mutating func version() throws(PayloadFault) -> FileVersion {
    if skip("absent") { return .absent }
    let parts = try parts(of: try word(), 2)
    return .file(size: Int(try number(in: parts[0])), checksum: try checksum(in: parts[1]))
  }

  mutating func table() throws(PayloadFault) -> TableKey {
    let word = try word()
    var name: [UInt8] = []
    var place = 0
    while place < word.count {
      guard word[place] == UInt8(ascii: "%") else {
        name.append(word[place])
        place += 1
        continue
      }
      guard place + 2 < word.count else { throw fault("a table's name ends too early") }
      let digits = UnsafeRawBufferPointer(rebasing: word[place + 1..<place + 3])
      name.append(UInt8(try hexadecimal(in: digits)))
      place += 3
    }
    guard let text = String(validating: name, as: UTF8.self) else {
      throw fault("a table's name is not UTF-8")
    }
    return TableKey(text)
  }

  // MARK: - Words

  private mutating func word() throws(PayloadFault) -> UnsafeRawBufferPointer {
    guard hasWord else { throw fault("a line ends too early") }
    position += 1
    return nextWord()
  }

  private mutating func nextWord() -> UnsafeRawBufferPointer {
    let start = position
    while position < bytes.count, bytes[position] > 0x20 { position += 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }

  private func parts(of word: UnsafeRawBufferPointer, _ count: Int) throws(PayloadFault)
    -> [UnsafeRawBufferPointer]
  {
    let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == count else {
      throw fault("'\(String(decoding: word, as: UTF8.self))' does not have \(count) parts")
    }
    return parts.map(UnsafeRawBufferPointer.init(rebasing:))
  }

  private func number(in word: UnsafeRawBufferPointer) throws(PayloadFault) -> Int64 {
    var number: Int64 = 0
    guard (1...19).contains(word.count), word.count == 1 || word[0] != UInt8(ascii: "0") else {
      throw fault("a number is missing")
    }
    for byte in word {
      let digit = Int64(byte) - Int64(UInt8(ascii: "0"))
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      guard (0...9).contains(digit), !isTooLarge else { throw fault("a number is missing") }
      let (sum, overflows) = tens.addingReportingOverflow(digit)
      guard !overflows else { throw fault("a number is too large") }
      number = sum
    }
    return number
  }

  private func hexadecimal(in word: UnsafeRawBufferPointer) throws(PayloadFault) -> UInt64 {
    guard let number = UInt64(hexadecimal: word) else { throw fault("a hexadecimal digit is missing") }
    return number
  }

  private func checksum(in word: UnsafeRawBufferPointer) throws(PayloadFault) -> UInt32 {
    guard word.count == 8 else { throw fault("a checksum has 8 digits") }
    return UInt32(try hexadecimal(in: word))
  }

  private func id(in word: UnsafeRawBufferPointer) throws(PayloadFault) -> AnyRecordID {
    guard let id = AnyRecordID(rawValue: try number(in: word)) else { throw fault("an id is missing") }
    return id
  }

  private func optionalID(in word: UnsafeRawBufferPointer) throws(PayloadFault) -> AnyRecordID? {
    word.count == 1 && word[0] == UInt8(ascii: "-") ? nil : try id(in: word)
  }

  func fault(_ message: String) -> PayloadFault { PayloadFault(message: "byte \(position): \(message)") }
}
