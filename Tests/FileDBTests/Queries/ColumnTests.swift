import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Predicates and sort keys that use columns give the same results as reading each record.
@Suite struct ColumnTests {

  private static let predicates = [
    "a == 1", "a != 1", "a < 1.5", "a >= 0", "a BETWEEN {0, 2}", "a IN {1, 'x', NULL}", "a == NULL",
    "a != NULL", "a == TRUE", "a < '1970-01-02'", "a > 9007199254740992", "a == 18446744073709551615",
    "text == 'b'", "text < 'b'", "text CONTAINS 'b'", "text BEGINSWITH 'B'", "text ENDSWITH[c] 'B'",
    "text LIKE[cd] '*E?'", "text IN[c] {'B', 'é'}", "text >=[cd] 'E'", "text CONTAINS '&'",
    "text CONTAINS ''",
    "a > 0 AND b > 0", "a > 0 OR b > 0", "NOT (a > 0 AND NOT b == 'x')", "id > 3", "id BETWEEN {2, 4}",
    "TRUEPREDICATE", "FALSEPREDICATE", "missing == 1", "missing != 1", "a == b", "a IN b", "b[0] == 1",
    "ANY b == 1", "text MATCHES 'b.*'", "b CONTAINS 1", "a <= NULL",
  ]

  /// By one record after the other.
  private func expected(_ predicate: RecordPredicate, _ snapshot: TableSnapshot<Fields>) throws -> [RecordID<
    Fields
  >] {
    try snapshot.filter { try predicate.matches($0) }.map(\.id)
  }

  @Test(arguments: [StoreOptions().columnBytes, 3_000, 0])
  func predicatesAgreeWithEachRecordWhileTheTableChanges(columnBytes: Int) throws {
    var random = SeededRandom.fromEnvironment("columns of \(columnBytes) bytes")
    var options = StoreOptions(columnBytes: columnBytes)
    options.shape = OrderedRecords.Shape(chunk: 8, section: 4)
    try withStore(options: options) { store in
      let table = try store.table("t")
      var snapshots: [TableSnapshot<Fields>] = []
      for round in 0..<40 {
        change(try table.snapshot(), table, isMixed: round % 4 == 3, &random)
        snapshots.append(try table.snapshot())
        // Now and then, an old one is asked again.
        let snapshot = round % 5 == 4 ? snapshots.randomElement(using: &random)! : snapshots[round]
        for text in Self.predicates {
          let predicate = try RecordPredicate(text)
          let matches = try snapshot.matches(where: predicate)
          #expect(try matches.ids == expected(predicate, snapshot), "round \(round): \(text)")
          #expect(matches.unknownFields == predicate.unknownFields(in: snapshot), "round \(round): \(text)")
        }
        #expect(table.source.columns.byteCount <= columnBytes)
      }
    }
  }

  private func change(
    _ snapshot: TableSnapshot<Fields>, _ table: RecordTable<Fields>, isMixed: Bool,
    _ random: inout SeededRandom
  ) {
    let id = snapshot.ids.randomElement(using: &random)
    let record = MixedRecords.record(isMixed, &random)
    #expect(throws: Never.self) {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: if let id { try table.delete(id) }
      case 1: if let id { try table.move(id, to: .top) }
      case 2: if let id { try table.set(record.dictionary.isEmpty ? ["a": 1] : record, of: id) }
      default:
        let records = (0..<12).map { _ in MixedRecords.record(isMixed, &random) }
        try table.add(contentsOf: records + [record], at: Bool.random(using: &random) ? .top : .bottom)
      }
    }
  }

  @Test func secondQuestionFindsColumns() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: (0..<1_000).map { ["n": .integer($0)] })
      let cache = table.source.columns
      #expect(cache.byteCount == 0)
      let predicate = try RecordPredicate("n >= 990")
      #expect(try table.snapshot().count(where: predicate) == 10)
      let field = FieldName("n")
      let column = try #require(cache.column(of: field, in: TableKey("t")))
      #expect(cache.byteCount == column.byteCount && column.byteCount > 8_000)
      #expect(try table.snapshot().count(where: predicate) == 10)
      #expect(cache.column(of: field, in: TableKey("t")) === column)
      // Everything that the change did not touch is kept.
      try table.set(["n": 2_000], of: 1)
      #expect(try table.snapshot().count(where: predicate) == 11)
      let newer = try #require(cache.column(of: field, in: TableKey("t")))
      let kept = zip(column.parts, newer.parts).filter { $0.version === $1.version }
      #expect(kept.count == column.parts.count - 1 && newer.parts.count == column.parts.count)
    }
  }

  @Test func leastRecentlyUsedColumnGoesFirst() throws {
    try withStore(options: StoreOptions(columnBytes: 25_000)) { store in
      let table = try store.table("t")
      try table.add(
        contentsOf: (0..<1_000).map { ["a": .integer($0), "b": .integer($0), "c": .integer($0)] })
      func ask(_ field: String) throws {
        #expect(try table.snapshot().count(where: RecordPredicate("%K < 0", field)) == 0)
      }
      func isKept(_ field: String) -> Bool {
        table.source.columns.column(of: FieldName(field), in: TableKey("t")) != nil
      }
      for field in ["a", "b", "a", "c"] { try ask(field) }
      #expect(isKept("a") && !isKept("b") && isKept("c"))
    }
  }

  @Test(arguments: [false, true]) func sortKeysAgreeWithComparisonOfValues(isMixed: Bool) throws {
    var random = SeededRandom.fromEnvironment("sorted columns, mixed: \(isMixed)")
    try withStore { store in
      let table = try store.table("t")
      // Enough to be sorted by digits.
      try table.add(
        contentsOf: (0..<1_500).map { number in
          var record = MixedRecords.record(isMixed, &random)
          if number % 7 == 0 { record["b"] = nil }
          return record
        })
      let snapshot = try table.snapshot()
      let records = snapshot.map { (id: $0.id, fields: $0.fields) }
      for keys in [
        [.ascending("a")], [.descending("b")], [.ascending("a"), .descending("b")],
        [.descending("a"), .ascending("b"), .ascending("text")], [.descending("text"), .ascending("a")],
        [.ascending("text", text: .localized)], [.ascending("missing")], [],
        [SortKey(.id, order: .reverse, text: .bytes)],
      ] as [[SortKey]] {
        let expected = records.indices.sorted { left, right in
          for key in keys {
            let order = key.compare(
              key.reference.value(in: records[left].fields, of: records[left].id.plain),
              key.reference.value(in: records[right].fields, of: records[right].id.plain))
            if order != 0 { return order < 0 }
          }
          return left < right
        }
        #expect(try snapshot.sorted(by: keys).map(\.id) == expected.map { records[$0].id }, "\(keys)")
      }
    }
  }

  /// Columns hold the records as they are stored, so a type that reads them in another way does not use them.
  @Test func defaultsCountInPredicatesAndSortKeys() throws {
    struct Item: DefaultedValue, Equatable {
      var n = 5
      static var defaults: Item { Item() }
    }
    try withStore { store in
      let plain = try store.table("t")
      try plain.add(contentsOf: [["n": 7], ["x": 1], ["n": 3]])
      let predicate = try RecordPredicate("n == 5")
      #expect(try plain.snapshot().count(where: predicate) == 0)
      let typed = try store.table(TableName<Item>("t"))
      #expect(try typed.snapshot().records(where: predicate).map(\.id) == [2])
      #expect(try typed.snapshot().sorted(by: [.ascending("n")]).map(\.id) == [3, 2, 1])
      #expect(try plain.snapshot().sorted(by: [.ascending("n")]).map(\.id) == [3, 1, 2])
    }
  }
}
