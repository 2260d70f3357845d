import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A constant of a predicate, prepared for comparison with columns. It compares in the same way as ``PredicateTerm``.
struct ColumnConstant: Sendable {
  private(set) var isNull = false
  private var number: PlistValue?
  private var date: Date?
  private var text: [UInt8]?
  private let folding: TextFolding

  /// - Returns: `nil` for a value that is not a scalar.
  init?(_ term: PredicateTerm, _ folding: TextFolding) {
    self.folding = folding
    switch term {
    case .null: isNull = true
    case .list: return nil
    case .value(let value):
      switch value.value {
      case .bool(let isTrue): number = .integer(isTrue ? 1 : 0)
      case .integer, .unsigned, .real: number = value.value
      case .date(let date): self.date = date
      case .string:
        text = value.text(folding).map { Array($0.utf8) }
        date = value.date
      case .data, .array, .dict: return nil
      }
    }
  }

  /// -1, 0 or 1, if the record's value in the column is before the constant, equal, or after it; `nil` if they have no
  /// order.
  func order(_ column: ChunkColumn, _ index: Int, _ record: EncodedRecord) -> Int? {
    switch column.kind(index) {
    case .missing: isNull ? 0 : nil
    case .false: number.map { ValueOrder.compare(.integer(0), $0, text: .bytes) }
    case .true: number.map { ValueOrder.compare(.integer(1), $0, text: .bytes) }
    case .integer: number.map { ValueOrder.compare(.integer(column.integer(index)), $0, text: .bytes) }
    case .real: number.map { ValueOrder.compare(.real(column.real(index)), $0, text: .bytes) }
    case .date: date.map { ValueOrder.compare(.date(column.date(index)), .date($0), text: .bytes) }
    case .text:
      text.map { text in
        record.withFolded(column.text(index), folding) { left in
          text.withUnsafeBufferPointer { left.order($0) }
        }
      }
    case .other: nil
    }
  }

  /// The constant's integer, if it is compared with integers as such.
  var integer: Int64? { number?.integer }

  /// The constant's number, if it is compared with reals as such.
  var real: Double? { number?.real.flatMap { $0.isNaN ? nil : $0 } }

  /// The length of a string that equals it; `nil` if strings of several lengths may.
  var textLength: Int? { folding.isEmpty ? text?.count : nil }
}

/// For each possible order of two values, whether the comparison is true.
struct Verdict: Sendable {
  let less: Bool
  let equal: Bool
  let greater: Bool
  /// For values that have no order.
  let unordered: Bool

  init(_ relation: PredicateComparison.Relation) {
    less = [.less, .lessOrEqual, .notEqual].contains(relation)
    equal = [.equal, .lessOrEqual, .greaterOrEqual].contains(relation)
    greater = [.greater, .greaterOrEqual, .notEqual].contains(relation)
    unordered = relation == .notEqual
  }

  func callAsFunction(_ order: Int?) -> Bool {
    guard let order else { return unordered }
    return order < 0 ? less : order == 0 ? equal : greater
  }
}

/// The test of a string in a predicate.
enum TextTest: Sendable {
  case contains([UInt8])
  case beginsWith([UInt8])
  case endsWith([UInt8])
  case like(LikePattern)

  func isTrue(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch self {
    case .contains(let part): part.withUnsafeBufferPointer { findBytes($0, in: text) != nil }
    case .beginsWith(let part): text.starts(with: part)
    case .endsWith(let part): text.count >= part.count && text.suffix(part.count).elementsEqual(part)
    case .like(let pattern): pattern.matches(folded: text)
    }
  }
}

extension EncodedRecord {
  /// Calls `body` with the folded text of the record.
  func withFolded<Result>(
    _ range: Range<Int>, _ folding: TextFolding, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    withBytes(range) { text in
      if folding.isEmpty { return body(text) }
      guard text.allSatisfy({ $0 < 0x80 }) else {
        var folded = folding.fold(String(decoding: text, as: UTF8.self))
        return folded.withUTF8(body)
      }
      guard folding.contains(.letterCase) else { return body(text) }
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { lowercased in
        for (place, byte) in text.enumerated() {
          lowercased[place] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return body(UnsafeBufferPointer(lowercased))
      }
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// -1, 0 or 1: the order by bytes.
  func order(_ other: UnsafeBufferPointer<UInt8>) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let mine = baseAddress, let theirs = other.baseAddress {
      let order = memcmp(mine, theirs, common)
      if order != 0 { return order < 0 ? -1 : 1 }
    }
    return (count - other.count).signum()
  }
}
