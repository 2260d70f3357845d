import FileDB
import Foundation
import TestSupport
import Testing

/// A write is undone as a whole or not at all.
@Suite struct UndoAsAWholeTests {
  // MARK: - Sorts

  private func sorted(
    _ count: Int64
  ) throws -> (store: RecordStore, ids: [RecordID<Fields>], step: UndoStep) {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    // Every other record is out of order, so the sort changes any table of more than two.
    let values = (0..<count).map { $0.isMultiple(of: 2) ? $0 : count - $0 }
    let ids = try table.add(contentsOf: values.map { ["n": .integer($0)] })
    let step = try store.undoableWrite { tx in try tx["t"].sort(by: [.descending("n")]) }.step
    try #require(table.lastSnapshot.ids != ids)
    return (store, ids, step)
  }

  @Test(arguments: [5, 20, 300] as [Int64]) func sortIsUndoneBesideAddedAndDeletedRecords(count: Int64)
    throws
  {
    let (store, ids, step) = try sorted(count)
    let table = try store.table("t")
    let added = try table.add(["n": 1_000], at: .after(ids[1]))
    try table.delete(ids[0])
    try store.undo(step)
    var expected = Array(ids.dropFirst())
    expected.insert(added, at: 1)
    #expect(table.lastSnapshot.ids == expected)
    try store.checkInvariants()
  }

  /// Another program moved one record, or sorted the table, or shuffled it.
  @Test(arguments: [5, 20, 300] as [Int64], ["move", "swap", "sort", "shuffle"])
  func sortIsNotUndoneIfTheOrderHasChanged(count: Int64, change: String) throws {
    var random = SeededRandom.fromEnvironment("undo of a sort beside others")
    let (store, ids, step) = try sorted(count)
    let table = try store.table("t")
    let sorted = table.lastSnapshot.ids
    repeat {
      switch change {
      case "move":
        try table.move(
          ids.randomElement(using: &random)!, to: .index(.random(in: 0..<ids.count, using: &random)))
      case "swap": try table.move(fromIndex: 0, toIndex: 1)
      case "sort": try table.sort(by: [.ascending("n")])
      default: try table.order(as: ids.map(\.plain).shuffled(using: &random))
      }
    } while table.lastSnapshot.ids == sorted || table.lastSnapshot.ids == ids
    let now = table.lastSnapshot.ids
    let error = storeError { try store.undo(step) }
    #expect(error?.code == .undoConflict)
    #expect(error?.message == "this cannot be undone: the order has been changed since")
    #expect(error?.table == "t")
    #expect(table.lastSnapshot.ids == now)
    try store.checkInvariants()
  }

  // MARK: - Moves

  @Test func moveIsNotUndoneIfAnotherMovedTheRecord() throws {
    var random = SeededRandom.fromEnvironment("undo of a move beside others")
    for _ in 0..<200 {
      let store = RecordStore.inMemory()
      let table = try store.table("t")
      let ids = try table.add(
        contentsOf: (0..<Int64.random(in: 4...9, using: &random)).map { ["n": .integer($0)] })
      let moved = ids.randomElement(using: &random)!
      func move() throws { try table.move(moved, to: .index(.random(in: 0..<ids.count, using: &random))) }
      let step = try store.undoableWrite { _ in try move() }.step
      if step.isEmpty { continue }
      let before = table.lastSnapshot.ids
      try move()
      let now = table.lastSnapshot.ids
      if now == before { continue }
      // Moved back by the other, it is where it was.
      let message = now == ids ? "nothing of it is left" : "it has been moved since"
      let error = storeError { try store.undo(step) }
      let place = error.map { "\($0.code) \($0.message)" } ?? "undone"
      try #require(error?.message == "this cannot be undone: \(message)", "\(ids) \(before) \(now): \(place)")
      try #require(table.lastSnapshot.ids == now)
    }
  }

  /// Others move another record, and not past the moved one.
  @Test func moveIsUndoneBesideOtherMoves() throws {
    var random = SeededRandom.fromEnvironment("undo of a move beside other moves")
    for _ in 0..<200 {
      let store = RecordStore.inMemory()
      let table = try store.table("t")
      let ids = try table.add(contentsOf: (0..<8).map { ["n": .integer($0)] })
      let step = try store.undoableWrite { tx in try tx["t"].move(ids[0], to: .index(4)) }.step
      // Now 1, 2, 3, 4, 0, 5, 6, 7.
      let upper = Bool.random(using: &random)
      let others = upper ? 0..<4 : 5..<8
      try table.move(
        fromIndex: .random(in: others, using: &random), toIndex: .random(in: others, using: &random))
      let expected = [ids[0]] + table.lastSnapshot.ids.filter { $0 != ids[0] }
      try store.undo(step)
      try #require(table.lastSnapshot.ids == expected)
    }
  }

  // MARK: - Nothing is left

  static let writes: [(name: String, write: @Sendable (inout StoreTransaction) throws -> Void)] = [
    ("add", { tx in try tx["t"].add(["n": 9]) }), ("set", { tx in try tx["t"].set(["n": 9], of: 1) }),
    ("unset", { tx in try tx["t"].unset(["n"], of: 1) }), ("delete", { tx in try tx["t"].delete(2) }),
    ("move", { tx in try tx["t"].move(3, to: .top) }),
    ("sort", { tx in try tx["t"].sort(by: [.descending("n")]) }),
    ("truncate", { tx in try tx["t"].truncate() }), ("drop", { tx in try tx["t"].drop() }),
    ("create", { tx in try tx["new"].create() }),
    ("schema", { tx in try tx["t"].declare(TableSchema(fields: [FieldSchema("n", type: .integer)])) }),
    (
      "several",
      { tx in
        try tx["t"].set(["n": 9], of: 1)
        try tx["u"].add(["n": 1])
      }
    ),
  ]

  /// As if somebody checked out an older commit of git: the files are as they were before the write.
  @Test(arguments: writes.indices) func writeOfWhichNothingIsLeftIsAConflict(number: Int) throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(contentsOf: (1...5).map { ["n": .integer($0)] })
      try store.checkpoint()
      let before = try TablesContent(store, ["t", "u", "new"])
      let files = try FileManager.default.contentsOfDirectory(at: store.url, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == "plist" }.map { ($0, try Data(contentsOf: $0)) }
      try store.undoLog.write(named: "first") { tx in try tx["other"].add(["n": 1]) }
      try store.undoLog.write(named: "last", Self.writes[number].write)
      try store.checkpoint()
      for name in ["t", "u", "new"] {
        try? FileManager.default.removeItem(at: store.url.appendingPathComponent("\(name).plist"))
      }
      for (file, bytes) in files { try bytes.write(to: file) }
      try #require(TablesContent(store, ["t", "u", "new"]) == before)
      for _ in 0..<2 {
        let error = storeError { _ = try store.undoLog.undo() }
        #expect(error?.code == .undoConflict)
        #expect(error?.message == "this cannot be undone: nothing of it is left")
      }
      #expect(try store.undoLog.contents().undo.map(\.name) == ["last", "first"])
      #expect(try store.undoLog.skip()?.name == "last")
      #expect(try !store.undoLog.canRedo, "there is nothing to redo")
      #expect(try store.undoLog.undo()?.name == "first")
      #expect(try TablesContent(store, ["t", "u", "new"]) == before)
      try store.checkInvariants()
    }
  }
}
