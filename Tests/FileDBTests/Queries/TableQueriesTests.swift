import FileDB
import Foundation
import TestSupport
import Testing

private struct Binder: Codable, Sendable { var name: String }

private struct Memo: Codable, Sendable, Equatable {
  var title: String
  var size: Int
  var folder: RecordID<Binder>?
}

extension TableName<Memo> {
  fileprivate static var memos: Self { "memos" }
}

/// What a table answers itself, without a snapshot in the caller's hand.
@Suite struct TableQueriesTests {
  /// Each question, asked of a table and of its newest snapshot, by a predicate that is text and by one of Swift.
  @Test func tableAnswersAsItsNewestSnapshotDoes() throws {
    try withStore { store in
      let notes = try store.table(.memos)
      try notes.add(contentsOf: (0..<100).map { Memo(title: "\($0)", size: $0 % 7) })
      try store.table("memos").set(["size": "large"], of: 4)
      try check(notes)
      try store.write { tx in
        try tx[.memos].delete(10)
        try tx[.memos].add(Memo(title: "new", size: 3))
        try check(tx[.memos])
      }
    }
  }

  private func check(_ notes: RecordTable<Memo>) throws {
    let snapshot = try notes.snapshot()
    let text = try RecordPredicate("size == 3")
    let found = snapshot.filter { $0["size"] == 3 }
    #expect(found.count >= 13)
    #expect(try notes.records(where: text) == found)
    #expect(try notes.count(where: text) == found.count)
    #expect(try notes.first(where: text) == found.first)
    #expect(try notes.values(where: text).get() == found.map { try $0.value })
    let swift = #Predicate<Memo> { $0.title == "11" }
    #expect(try notes.records(where: swift).map(\.id) == [12])
    #expect(try notes.count(where: swift) == 1)
    #expect(try notes.values(where: swift).get().map(\.title) == ["11"])
    #expect(try notes.contains(12) && !notes.contains(999))
    #expect(try notes.values().ids == snapshot.values().ids && notes.values().faults.map(\.record) == [4])
    // Only records that match can be faults.
    #expect(try notes.values(where: RecordPredicate("title == '3'")).faults.map(\.record) == [4])
    #expect(try notes.values(where: text).faults.isEmpty)
  }

  @Test func firstRecordOfATableIsFoundByAClosureAndByAPredicateOfSwift() throws {
    try withStore { store in
      let notes = try store.table(.memos)
      try notes.add(contentsOf: (0..<9).map { Memo(title: "\($0)", size: $0 % 3) })
      #expect(try notes.first(where: #Predicate { $0.size == 2 })?.id == 3)
      #expect(try notes.records.first { $0.size == 2 }?.id == 3)
      #expect(try notes.records.filter { $0.size == 1 }.map(\.id) == [2, 5, 8])
      #expect(try notes.first(where: RecordPredicate("size > 5")) == nil)
    }
  }

  /// The children of a record: those whose field refers to it.
  @Test(arguments: [false, true]) func recordsThatReferToARecordAreFound(hasLookup: Bool) throws {
    try withStore { store in
      let home = try store.table(TableName<Binder>("folders")).add(Binder(name: "home"))
      let work = try store.table(TableName<Binder>("folders")).add(Binder(name: "work"))
      var notes = try store.table(.memos)
      if hasLookup { notes = notes.withLookup(by: \.folder) }
      let folders = [home, nil, work, home]
      try notes.add(contentsOf: folders.map { Memo(title: "", size: 0, folder: $0) })
      #expect(try notes.records(where: \.folder, equals: home).map(\.id) == [1, 4])
      try store.write { tx in
        try tx[.memos].set(\.folder, to: home, of: 2)
        #expect(try tx[.memos].records(where: \.folder, equals: home).map(\.id) == [1, 2, 4])
      }
    }
  }
}
