import FileDBEssentials
import FileDBPlist
import FileDBTables

/// The values of one field in the records of a chunk, each as one number. A query of the field then need not read the
/// records again.
struct ChunkColumn: Sendable {
  enum Kind: UInt8, Sendable {
    case missing, `false`, `true`, integer, real, date
    /// A string without escapes.
    case text
    /// A value that must be read from the record: text with escapes, an integer above `Int64.max`, data, an array or a
    /// dictionary.
    case other
  }

  /// The kind of all values; `nil` if they differ.
  let commonKind: Kind?
  /// The kind of each value; empty if all have the same kind.
  private let kinds: [Kind]
  /// For an integer, its value. For a real or a date, its bits. For a string, its beginning in the record and, in the
  /// lower half, its length. Empty if no kind needs a word.
  let words: [UInt64]
  let count: Int

  /// - Parameter finder: the finder for the field.
  init(_ records: [EncodedRecord], _ finder: FieldFinder) {
    self = withExtendedLifetime(records) {
      ChunkColumn(count: records.count) { Self.entry(in: records[$0].retainedBytes, finder) }
    }
  }

  /// A column of the ids.
  init(idsOf records: [EncodedRecord]) {
    self.init(count: records.count) { (.integer, UInt64(bitPattern: records[$0].id.rawValue)) }
  }

  private init(count: Int, _ entry: (Int) -> (kind: Kind, word: UInt64)) {
    var (kinds, words) = ([Kind](), [UInt64]())
    kinds.reserveCapacity(count)
    words.reserveCapacity(count)
    var (isOneKind, needsWords) = (true, false)
    for index in 0..<count {
      let (kind, word) = entry(index)
      if index > 0, kind != kinds[0] { isOneKind = false }
      if kind.hasWord { needsWords = true }
      kinds.append(kind)
      words.append(word)
    }
    self.count = count
    commonKind = isOneKind ? kinds.first : nil
    self.kinds = isOneKind ? [] : kinds
    self.words = needsWords ? words : []
  }

  /// Approximately how much memory it takes.
  var byteCount: Int { 96 + kinds.count + 8 * words.count }

  var hasValues: Bool { commonKind != .missing && count > 0 }

  func kind(_ index: Int) -> Kind { commonKind ?? kinds[index] }
  func integer(_ index: Int) -> Int64 { Int64(bitPattern: words[index]) }
  func real(_ index: Int) -> Double { Double(bitPattern: words[index]) }
  func date(_ index: Int) -> Date { Date(timeIntervalSinceReferenceDate: real(index)) }

  /// The range of a string in its record's bytes.
  func text(_ index: Int) -> Range<Int> {
    let start = Int(words[index] >> 32)
    return start..<start + Int(words[index] & 0xFFFF_FFFF)
  }
}

extension ChunkColumn {
  /// The value of the field in a record of the chunk.
  /// - Parameter name: the field's name; `nil` for the id.
  func value(_ index: Int, of name: FieldName?, in record: EncodedRecord) -> PlistValue? {
    switch kind(index) {
    case .missing: nil
    case .false: false
    case .true: true
    case .integer: .integer(integer(index))
    case .real: .real(real(index))
    case .date: .date(date(index))
    case .text: .string(record.withBytes(text(index)) { String(decoding: $0, as: UTF8.self) })
    case .other: name.flatMap { record.field($0.text) }
    }
  }
}

extension ChunkColumn.Kind {
  fileprivate var hasWord: Bool {
    switch self {
    case .missing, .false, .true, .other: false
    case .integer, .real, .date, .text: true
    }
  }
}

extension ChunkColumn {
  private static func entry(
    in record: UnsafeRawBufferPointer, _ finder: FieldFinder
  ) -> (kind: Kind, word: UInt64) {
    guard let element = finder.element(in: record) else { return (.missing, 0) }
    let reader = CanonicalReader(record)
    switch element.kind {
    case .false: return (.false, 0)
    case .true: return (.true, 0)
    case .integer: return reader.integer(element).map { (.integer, UInt64(bitPattern: $0)) } ?? (.other, 0)
    case .real: return reader.real(element).map { (.real, $0.bitPattern) } ?? (.other, 0)
    case .date:
      return reader.date(element).map { (.date, $0.timeIntervalSinceReferenceDate.bitPattern) } ?? (.other, 0)
    case .string:
      let text = element.content
      guard text.upperBound <= UInt32.max, !reader.hasEscapes(text) else { return (.other, 0) }
      return (.text, UInt64(text.lowerBound) << 32 | UInt64(text.count))
    case .data, .array, .dict: return (.other, 0)
    }
  }
}

extension EncodedRecord {
  /// Calls `body` with a part of the record's bytes.
  func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }
}
