import FileDB
import Foundation
import TestSupport

/// Random commits whose records hold values of every type.
struct RandomStore {
  /// The names that the writer in Python knows, too.
  static let tables = ["notes", "to do", "\u{e9}t\u{e9}", "50%"]
  private static let texts = [
    "", "milk", "<&>\"'", "line\r\n\ttab", "\u{e9}", "e\u{301}", "\u{1f600}", "]]>", " x ",
  ]
  private static let reals = [0.1, -0.0, 1, 1e16, 1e15, 1.5e-5, 0.0001, .infinity, 123_456_789.123]

  var random: SeededRandom

  mutating func commit(to store: RecordStore) throws {
    try store.write { tx in
      for _ in 0..<number(1...3) { try change(tx[Self.tables.randomElement(using: &random)!]) }
    }
  }

  private mutating func change(_ table: RecordTable<Fields>) throws {
    guard try table.exists else { return try table.create() }
    let ids = try table.snapshot().ids
    guard let id = ids.randomElement(using: &random) else { return try add(to: table) }
    switch number(0...19) {
    case 0...5: try add(to: table)
    case 6: try table.duplicate(id, to: .before(ids.randomElement(using: &random)!))
    case 7...9: try table.set(fields(), of: id)
    case 10, 11: try table.move(id, to: .index(number(0...(ids.count - 1))))
    case 12: try table.sort(by: [.ascending("a"), .descending("b")])
    case 13, 14: try table.delete(ids.filter { _ in number(0...2) == 0 })
    case 15: try table.declare(schema())
    case 16: try table.declare(nil)
    case 17: try table.deleteAll()
    case 18: try table.truncate()
    default: try table.drop()
    }
  }

  private mutating func add(to table: RecordTable<Fields>) throws {
    try table.add(
      contentsOf: (0..<number(1...3)).map { _ in fields() }, at: number(0...1) == 0 ? .top : .bottom)
  }

  private mutating func schema() -> TableSchema {
    TableSchema(version: Int64(number(0...9)), fields: [FieldSchema("a", title: "A & B"), FieldSchema("b")])
  }

  private mutating func fields() -> Fields {
    var result = Fields()
    for name in ["a", "b", "\u{e9}", "fields<&"] where number(0...2) > 0 { result[name] = value(depth: 0) }
    return result
  }

  private mutating func value(depth: Int) -> PlistValue {
    switch number(0...(depth < 3 ? 7 : 5)) {
    case 0: .string(Self.texts.randomElement(using: &random)!)
    case 1: [.integer(-1), .integer(.min), .integer(.max), .unsigned(.max)].randomElement(using: &random)!
    case 2: .real(Self.reals.randomElement(using: &random)!)
    case 3: .bool(number(0...1) == 0)
    case 4: .date(Date(timeIntervalSince1970: Double(number(-62_135_596_800...253_402_300_799))))
    case 5:
      .data(Data((0..<[0, 1, 2, 3, 200].randomElement(using: &random)!).map { _ in UInt8(number(0...255)) }))
    // So deep that the lines of base64 have no more tabs.
    case 6 where depth == 0 && number(0...9) == 0:
      (0..<9).reduce(.data(Data(repeating: 7, count: 40))) { value, _ in .array([value]) }
    case 6: .array((0..<number(0...2)).map { _ in value(depth: depth + 1) })
    default: .dict(dictionary(depth: depth + 1))
    }
  }

  private mutating func dictionary(depth: Int) -> PlistDictionary {
    var result = PlistDictionary()
    for _ in 0..<number(0...2) { result[Self.texts.randomElement(using: &random)!] = value(depth: depth) }
    return result
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
}
