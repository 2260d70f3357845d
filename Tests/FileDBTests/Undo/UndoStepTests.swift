import FileDB
import TestSupport
import Testing

@Suite struct UndoStepTests {
  @Test(arguments: StorePlace.allCases)
  func undoAndRedoRestoreExactContents(place: StorePlace) throws {
    var options = StoreOptions()
    options.shape = OrderedRecords.Shape(chunk: 3, section: 3)
    try withStore(place, options: options) { store in
      var writer = RandomWriter(random: .fromEnvironment("undo"))
      let names = RandomWriter.tables
      var contents = [try TablesContent(store, names)]
      var steps: [UndoStep] = []
      for _ in 0..<60 {
        steps.append(try store.undoableWrite { tx in try writer.write(&tx) }.step)
        contents.append(try TablesContent(store, names))
      }
      var redos: [UndoStep] = []
      for number in steps.indices.reversed() {
        redos.append(try store.undo(steps[number]))
        #expect(try TablesContent(store, names) == contents[number], "write \(number)")
      }
      for number in steps.indices {
        try store.undo(redos[redos.count - 1 - number])
        #expect(try TablesContent(store, names) == contents[number + 1], "write \(number) again")
      }
      try store.checkInvariants()
    }
  }

  @Test func undoKeepsLaterChangesOfOthers() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...6).map { ["n": .integer($0), "kept": "old"] })
    let step = try store.undoableWrite { tx in
      try tx["t"].set(["n": 20, "more": "x"], of: ids[1])
      try tx["t"].delete(ids[2])
      try tx["t"].move(ids[4], to: .top)
      try tx["t"].add(["n": 7])
    }.step
    try table.set(["kept": "new"], of: ids[1])
    let others = try table.add(["n": 100], at: .top)
    try table.delete(ids[0])
    try store.undo(step)
    #expect(table.lastSnapshot.ids == [others, ids[1], ids[2], ids[3], ids[4], ids[5]])
    #expect(try table.value(of: ids[1]) == ["n": 2, "kept": "new"])
    try store.checkInvariants()
  }

  @Test func undoOfSwapMovesBackTheMovedRecord() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...3).map { ["n": .integer($0)] })
    for (moved, position) in [(ids[0], Position<Fields>.index(1)), (ids[1], .index(0))] {
      let step = try store.undoableWrite { tx in try tx["t"].move(moved, to: position) }.step
      let between = try table.add(["n": 4], at: .after(ids[1]))
      try store.undo(step)
      #expect(table.lastSnapshot.ids.filter { $0 != between } == ids)
      #expect(table.lastSnapshot.index(of: between) == (moved == ids[0] ? 2 : 0), "\(moved)")
      try table.delete(between)
    }
    try store.checkInvariants()
  }

  @Test func deletedRecordReturnsBehindItsFormerNeighbour() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...4).map { ["n": .integer($0)] })
    let step = try store.undoableWrite { tx in try tx["t"].delete(ids[2]) }.step
    try table.move(ids[1], to: .bottom)
    try store.undo(step)
    #expect(table.lastSnapshot.ids == [ids[0], ids[3], ids[1], ids[2]])
  }

  @Test func undoConflictsWithLaterChanges() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let id = try table.add(["n": 1, "other": 1])
    let step = try store.undoableWrite { tx in try tx["t"].set(["n": 2], of: id) }.step
    try table.set(["n": 3], of: id)
    let error = storeError { try store.undo(step) }
    #expect(error?.code == .undoConflict)
    #expect(error?.table == "t")
    #expect(error?.record == AnyRecordID(id))
    #expect(error?.message == "this cannot be undone: its field 'n' has been changed since")
    #expect(try table.value(of: id) == ["n": 3, "other": 1])
    try table.delete(id)
    #expect(storeError { _ = try store.undo(step) }?.code == .undoConflict)
    let addingWrite = try store.undoableWrite { tx in try tx["t"].add(["n": 1]) }
    let (added, adding) = (addingWrite.result, addingWrite.step)
    try table.set(["n": 5], of: added)
    #expect(storeError { try store.undo(adding) }?.code == .undoConflict)
    #expect(try table.value(of: added) == ["n": 5])
    let unsetting = try store.undoableWrite { tx in try tx["t"].unset(["n"], of: added) }.step
    try table.set(["n": 6], of: added)
    #expect(storeError { _ = try store.undo(unsetting) }?.code == .undoConflict)
  }

  @Test func fieldsWithLookalikeNamesAreUndoneSeparately() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let id = try table.add([composed: 1, decomposed: 1])
    let step = try store.undoableWrite { tx in try tx["t"].set([composed: 2], of: id) }.step
    try table.set([decomposed: 2], of: id)
    try store.undo(step)
    #expect(try table.value(of: id) == [composed: 1, decomposed: 2])
  }

  @Test func undoNeverReusesIDs() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
    try table.delete(ids[2])
    for write in [{ try $0["t"].truncate() }, { try $0["t"].drop() }]
      as [(inout StoreTransaction) throws -> Void]
    {
      try store.undo(try store.undoableWrite(write).step)
      #expect(table.lastSnapshot.ids == Array(ids[..<2]))
      #expect(try table.counter == 3)
    }
    let stepWrite = try store.undoableWrite { tx in try tx["t"].add(["n": 4]) }
    let (added, step) = (stepWrite.result, stepWrite.step)
    try store.undo(step)
    #expect(try table.add(["n": 5]).rawValue == added.rawValue + 1)
  }

  @Test func undoDropsCreatedTableUnlessOthersUseIt() throws {
    let store = RecordStore.inMemory()
    let step = try store.undoableWrite { tx in try tx["t"].add(["n": 1]) }.step
    let redo = try store.undo(step)
    #expect(try store.tableNames.isEmpty)
    let undo = try store.undo(redo)
    try store.table("t").add(["n": 2])
    try store.undo(undo)
    #expect(try store.table("t").lastSnapshot.ids == [2])
    let creation = try store.undoableWrite { tx in try tx["new"].create() }.step
    try store.table("new").add(["n": 1])
    let error = storeError { try store.undo(creation) }
    #expect(error?.code == .undoConflict)
    #expect(error?.message == "this cannot be undone: the table has records by now")
  }

  @Test func undoOfSortIsOneReorder() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      var random = SeededRandom.fromEnvironment("undo of a sort")
      try table.add(
        contentsOf: (0..<500).map { _ in ["n": .integer(.random(in: 0..<100_000, using: &random))] })
      let ids = table.lastSnapshot.ids
      let step = try store.undoableWrite { tx in
        try tx["t"].sort(by: [.ascending("n")])
        try tx["t"].delete(ids[7])
      }.step
      try store.undo(step)
      #expect(table.lastSnapshot.ids == ids)
      #expect(try store.pendingCommits().last?.changes.map(\.change).last == "reorder")
      #expect(try store.pendingCommits().last?.changes.count == 2)
      try store.checkInvariants()
    }
  }

  @Test func nestedWriteCanBeUndoneAlone() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    var inner: UndoStep?
    try store.write { tx in
      try tx["t"].add(["n": 1])
      inner = try store.undoableWrite { tx in try tx["t"].add(["n": 2]) }.step
      try tx["t"].add(["n": 3])
    }
    try store.undo(try #require(inner))
    #expect(table.lastSnapshot.ids == [1, 3])
  }
}
