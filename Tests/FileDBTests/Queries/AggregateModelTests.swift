import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Sums, averages, extremes and groups are what one record after the other gives, while the table changes.
@Suite struct AggregateModelTests {

  /// Which values are one group.
  private static func key(_ value: PlistValue?) -> String {
    switch value {
    case nil: "-"
    case .real(let number)? where number.rounded() == number && number.magnitude < 1e18:
      "number \(Int(number))"
    case .real(let number)?: "number \(number)"
    case .integer(let number)?: "number \(number)"
    case .unsigned(let number)?: "number \(number)"
    case .string(let text)?: "text \(Array(text.utf8))"
    case .data(let data)?: "data \(Array(data))"
    case let other?: "\(other.typeName) \(other)"
    }
  }

  private func check(_ records: [Fields], _ field: String, _ summary: FieldSummary) throws {
    let values = records.compactMap { $0[field] }
    #expect(summary.count == values.count)
    let numbers = values.filter { $0.isNumber }
    #expect(summary.numberCount == numbers.count)
    let ordered = values.filter { value in
      value.array == nil && value.dict == nil && value.real?.isNaN != true
    }
    let least = ordered.min { ValueOrder.compare($0, $1) < 0 }
    let greatest = ordered.max { ValueOrder.compare($0, $1) < 0 }
    #expect(least.map { ValueOrder.compare($0, summary.minimum ?? []) } ?? 0 == 0)
    #expect(greatest.map { ValueOrder.compare($0, summary.maximum ?? []) } ?? 0 == 0)
    #expect((least == nil) == (summary.minimum == nil) && (greatest == nil) == (summary.maximum == nil))
    let reals = numbers.compactMap(\.real)
    let integers = numbers.map { value in
      switch value {
      case .integer(let number): Int128(number)
      case .unsigned(let number): Int128(number)
      default: Int128(0)
      }
    }.reduce(0, +)
    if reals.isEmpty {
      let expected =
        UInt64(exactly: integers).map(PlistValue.init) ?? Int64(exactly: integers).map(PlistValue.integer)
      #expect((try? summary.sum()) == expected)
    } else {
      let expected = reals.reduce(Double(integers), +)
      let sum = try #require(try summary.sum().real)
      #expect(
        sum.isNaN == expected.isNaN
          && (expected.isNaN || sum == expected
            || (sum - expected).magnitude <= 1e-9 * max(1, expected.magnitude))
      )
    }
  }

  @Test(arguments: [StoreOptions().columnBytes, 0])
  func agreesWithEachRecord(columnBytes: Int) throws {
    var random = SeededRandom.fromEnvironment("aggregates of \(columnBytes) bytes")
    var options = StoreOptions(columnBytes: columnBytes)
    options.shape = OrderedRecords.Shape(chunk: 8, section: 4)
    try withStore(options: options) { store in
      let table = try store.table("t")
      for round in 0..<15 {
        try table.add(
          contentsOf: (0..<Int.random(in: 1...20, using: &random)).map { _ in
            MixedRecords.record(round % 3 == 2, &random)
          },
          at: Bool.random(using: &random) ? .top : .bottom)
        if let id = try table.snapshot().ids.randomElement(using: &random) { try table.delete(id) }
        let snapshot = try table.snapshot()
        try check(snapshot)
        let predicate = try RecordPredicate(
          ["a > 0", "text CONTAINS 'b'", "b == b"].randomElement(using: &random)!)
        let matches = try snapshot.matches(where: predicate)
        for field in MixedRecords.fields {
          try check(matches.records.map(\.fields), field, matches.summary(of: field))
        }
      }
    }
  }

  private func check(_ snapshot: TableSnapshot<Fields>) throws {
    for field in MixedRecords.fields { try check(snapshot.map(\.fields), field, snapshot.summary(of: field)) }
    for names in [["a"], ["text"], ["b", "a"], ["a", "text", "b"]] {
      var expected: [String: [Fields]] = [:]
      var order: [String] = []
      for record in snapshot {
        let key = names.map { Self.key(record[$0]) }.joined(separator: "|")
        if expected[key] == nil { order.append(key) }
        expected[key, default: []].append(record.fields)
      }
      let groups = try snapshot.grouped(by: names)
      #expect(groups.map { $0.key.map(Self.key).joined(separator: "|") } == order)
      for (group, key) in zip(groups, order) {
        let records = expected[key] ?? []
        #expect(group.count == records.count && group.records.map(\.fields) == records)
        for field in MixedRecords.fields { try check(records, field, group.summary(of: field)) }
      }
    }
  }
}

extension PlistValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .unsigned, .real: true
    default: false
    }
  }
}
