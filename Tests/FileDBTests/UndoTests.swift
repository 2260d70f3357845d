import FileDB
import Foundation
import TestSupport
import Testing

/// Everything of a store that an undo has to bring back.
private struct Content: Equatable {
  var ids: [String: [RecordID]] = [:]
  var records: [String: [Fields]] = [:]

  init(_ store: RecordStore, _ names: [String]) throws {
    for name in names {
      let snapshot = try store.table(name).snapshot
      if !snapshot.exists { continue }
      ids[name] = snapshot.ids
      records[name] = snapshot.map(\.fields)
    }
  }
}

@Suite struct UndoTests {
  @Test(arguments: StorePlace.allCases)
  func whatIsUndoneAndRedoneIsAsBefore(place: StorePlace) throws {
    var options = StoreOptions()
    options.shape = OrderedRecords.Shape(chunk: 3, section: 3)
    try withStore(place, options: options) { store in
      var writer = RandomWriter(random: .fromEnvironment("undo"))
      let names = RandomWriter.tables
      var contents = [try Content(store, names)]
      var steps: [UndoStep] = []
      for _ in 0..<60 {
        steps.append(try store.undoableWrite { tx in try writer.write(&tx) }.step)
        contents.append(try Content(store, names))
      }
      var redos: [UndoStep] = []
      for number in steps.indices.reversed() {
        redos.append(try store.undo(steps[number]))
        #expect(try Content(store, names) == contents[number], "write \(number)")
      }
      for number in steps.indices {
        try store.undo(redos[redos.count - 1 - number])
        #expect(try Content(store, names) == contents[number + 1], "write \(number) again")
      }
      try store.checkInvariants()
    }
  }

  @Test func whatOthersDidSinceStays() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...6).map { ["n": .integer($0), "kept": "old"] })
    let (_, step) = try store.undoableWrite { tx in
      try tx.set(["n": 20, "more": "x"], of: ids[1], in: .records("t"))
      try tx.delete(ids[2], in: .records("t"))
      try tx.move(ids[4], in: .records("t"), to: .top)
      try tx.add(["n": 7], to: .records("t"))
    }
    try table.set(["kept": "new"], of: ids[1])
    let others = try table.add(["n": 100], at: .top)
    try table.delete(ids[0])
    try store.undo(step)
    #expect(table.snapshot.ids == [others, ids[1], ids[2], ids[3], ids[4], ids[5]])
    #expect(try table.value(of: ids[1]) == ["n": 2, "kept": "new"])
    try store.checkInvariants()
  }

  @Test func ofTwoThatChangedPlacesTheOneThatWasMovedGoesBack() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...3).map { ["n": .integer($0)] })
    for (moved, position) in [(ids[0], Position.index(1)), (ids[1], .index(0))] {
      let (_, step) = try store.undoableWrite { tx in try tx.move(moved, in: .records("t"), to: position) }
      let between = try table.add(["n": 4], at: .after(ids[1]))
      try store.undo(step)
      #expect(table.snapshot.ids.filter { $0 != between } == ids)
      #expect(table.snapshot.index(of: between) == (moved == ids[0] ? 2 : 0), "\(moved)")
      try table.delete(between)
    }
    try store.checkInvariants()
  }

  @Test func aRecordComesBackBehindTheNeighbourItHad() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: (1...4).map { ["n": .integer($0)] })
    let (_, step) = try store.undoableWrite { tx in try tx.delete(ids[2], in: .records("t")) }
    try table.move(ids[1], to: .bottom)
    try store.undo(step)
    #expect(table.snapshot.ids == [ids[0], ids[3], ids[1], ids[2]])
  }

  @Test func whatWasChangedSinceIsNotUndone() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let id = try table.add(["n": 1, "other": 1])
    let (_, step) = try store.undoableWrite { tx in try tx.set(["n": 2], of: id, in: .records("t")) }
    try table.set(["n": 3], of: id)
    let error = storeError { try store.undo(step) }
    #expect(error?.code == StoreError.undoConflict)
    #expect(error?.table == "t")
    #expect(error?.record == id)
    #expect(error?.message == "this cannot be undone: its field 'n' was changed since")
    #expect(try table.value(of: id) == ["n": 3, "other": 1])
    try table.delete(id)
    #expect(storeError { _ = try store.undo(step) }?.code == StoreError.undoConflict)
    let (added, adding) = try store.undoableWrite { tx in try tx.add(["n": 1], to: .records("t")) }
    try table.set(["n": 5], of: added)
    #expect(storeError { try store.undo(adding) }?.code == StoreError.undoConflict)
    #expect(try table.value(of: added) == ["n": 5])
    let (_, unsetting) = try store.undoableWrite { tx in try tx.unset(["n"], of: added, in: .records("t")) }
    try table.set(["n": 6], of: added)
    #expect(storeError { _ = try store.undo(unsetting) }?.code == StoreError.undoConflict)
  }

  @Test func whatIsGoneAlreadyNeedsNoUndoing() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    try table.add(["n": 1])
    let (added, step) = try store.undoableWrite { tx in try tx.add(["n": 2], to: .records("t")) }
    try table.delete(added)
    #expect(try store.undo(step).isEmpty)
    #expect(table.count == 1)
  }

  @Test func fieldsAreToldApartByTheirBytes() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let id = try table.add([composed: 1, decomposed: 1])
    let (_, step) = try store.undoableWrite { tx in try tx.set([composed: 2], of: id, in: .records("t")) }
    try table.set([decomposed: 2], of: id)
    try store.undo(step)
    #expect(try table.value(of: id) == [composed: 1, decomposed: 2])
  }

  @Test func idsAreNotGivenAgain() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let ids = try table.add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
    try table.delete(ids[2])
    for write in [{ try $0.truncate(.records("t")) }, { try $0.drop(.records("t")) }]
      as [(inout StoreTransaction) throws -> Void]
    {
      try store.undo(try store.undoableWrite(write).step)
      #expect(table.snapshot.ids == Array(ids[..<2]))
      #expect(table.counter == 3)
    }
    let (added, step) = try store.undoableWrite { tx in try tx.add(["n": 4], to: .records("t")) }
    try store.undo(step)
    #expect(try table.add(["n": 5]).rawValue == added.rawValue + 1)
  }

  @Test func aTableThatTheWriteMadeIsGoneUnlessOthersUseIt() throws {
    let store = RecordStore.inMemory()
    let (_, step) = try store.undoableWrite { tx in try tx.add(["n": 1], to: .records("t")) }
    let redo = try store.undo(step)
    #expect(try store.tableNames.isEmpty)
    let undo = try store.undo(redo)
    try store.table("t").add(["n": 2])
    try store.undo(undo)
    #expect(try store.table("t").snapshot.ids == [2])
  }

  @Test func aSortOfManyIsUndoneByOneOrder() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      var random = SeededRandom.fromEnvironment("undo of a sort")
      try table.add(
        contentsOf: (0..<500).map { _ in ["n": .integer(.random(in: 0..<100_000, using: &random))] })
      let ids = table.snapshot.ids
      let (_, step) = try store.undoableWrite { tx in
        try tx.sort(.records("t"), by: [.ascending("n")])
        try tx.delete(ids[7], in: .records("t"))
      }
      try store.undo(step)
      #expect(table.snapshot.ids == ids)
      #expect(try store.pendingCommits().last?.changes.map(\.change).last == "reorder")
      #expect(try store.pendingCommits().last?.changes.count == 2)
      try store.checkInvariants()
    }
  }

  @Test func aWriteInAWriteIsUndoneAlone() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    var inner: UndoStep?
    try store.write { tx in
      try tx.add(["n": 1], to: .records("t"))
      inner = try store.undoableWrite { tx in try tx.add(["n": 2], to: .records("t")) }.step
      try tx.add(["n": 3], to: .records("t"))
    }
    try store.undo(try #require(inner))
    #expect(table.snapshot.ids == [1, 3])
  }
}

@Suite struct UndoStackTests {
  @Test func writesAreTakenBackAndDoneAgainInOrder() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let stack = UndoStack(store: store)
    for number in 1...3 {
      try stack.write(named: "add \(number)") { tx in
        try tx.add(["n": .integer(Int64(number))], to: .records("t"))
      }
    }
    #expect(stack.undoName == "add 3")
    #expect(stack.redoName == nil)
    #expect(try stack.undo())
    #expect(try stack.undo())
    #expect(table.snapshot.ids == [1])
    #expect(stack.redoName == "add 2")
    #expect(try stack.redo())
    #expect(table.snapshot.ids == [1, 2])
    try stack.write { tx in try tx.delete(1, in: .records("t")) }
    #expect(try !stack.redo())
    while try stack.undo() {}
    #expect(try store.tableNames.isEmpty)
  }

  @Test func theOldestWritesGoFirst() throws {
    let store = RecordStore.inMemory()
    let stack = UndoStack(store: store, limit: 2)
    for _ in 0..<3 { try stack.write { tx in try tx.add(["n": 1], to: .records("t")) } }
    while try stack.undo() {}
    #expect(try store.table("t").snapshot.ids == [1])
  }

  @Test func aConflictKeepsTheWriteUntilAllAreForgotten() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let stack = UndoStack(store: store)
    let id = try stack.write(named: "add") { tx in try tx.add(["n": 1], to: .records("t")) }
    try table.set(["n": 2], of: id)
    #expect(storeError { _ = try stack.undo() }?.code == StoreError.undoConflict)
    #expect(stack.undoName == "add")
    try table.set(["n": 1], of: id)
    #expect(try stack.undo())
    stack.removeAll()
    #expect(stack.redoName == nil)
  }

  @Test func aWriteThatChangesNothingIsNone() throws {
    let store = RecordStore.inMemory()
    let stack = UndoStack(store: store)
    try stack.write(named: "look") { tx in _ = try tx.snapshot(of: .records("t")).count }
    #expect(stack.undoName == nil)
  }
}

/// Writes at random.
struct RandomWriter {
  static let tables = ["a", "b"]
  var random: SeededRandom

  mutating func write(_ tx: inout StoreTransaction) throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) { try verb(&tx) }
  }

  private mutating func verb(_ tx: inout StoreTransaction) throws {
    let table = TableName<Fields>.records(Self.tables.randomElement(using: &random) ?? "a")
    let snapshot = try tx.snapshot(of: table)
    let position: Position = .index(.random(in: 0...snapshot.count, using: &random))
    guard let id = snapshot.ids.randomElement(using: &random) else {
      try tx.add(contentsOf: (0..<12).map { _ in someFields() }, to: table)
      return
    }
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<6: try tx.add(contentsOf: (0...2).map { _ in someFields() }, to: table, at: position)
    case 6..<10: try tx.set(someFields(), of: id, in: table)
    case 10..<15:
      try tx.move(
        id, in: table, to: snapshot.count > 1 ? .index(.random(in: 0..<snapshot.count, using: &random)) : .top)
    case 15..<20: try tx.delete(id, in: table)
    case 20: try tx.sort(table, by: [.descending("n")])
    case 21: try tx.deleteAll(in: table)
    case 22: try tx.truncate(table)
    default: try tx.drop(table)
    }
  }

  private mutating func someFields() -> Fields {
    var record: Fields = ["n": .integer(.random(in: 0..<20, using: &random))]
    if Bool.random(using: &random) {
      record["text"] = .string("text \(Int.random(in: 0..<5, using: &random))")
    }
    return record
  }
}

@Suite struct UndoHistoryTests {
  private func write(_ store: RecordStore, _ history: UndoHistory, _ number: Int) throws {
    let (_, step) = try store.undoableWrite { tx in
      try tx.add(["n": .integer(Int64(number))], to: .records("t"))
    }
    #expect(try history.add(step))
  }

  @Test(arguments: StorePlace.allCases)
  func aStepIsKeptWhole(place: StorePlace) throws {
    try withStore(place) { store in
      let history = UndoHistory(store)
      var writer = RandomWriter(random: .fromEnvironment("undo history"))
      var contents = [try Content(store, RandomWriter.tables)]
      for _ in 0..<40 {
        let (_, step) = try store.undoableWrite { tx in try writer.write(&tx) }
        if step.isEmpty { continue }
        #expect(try history.add(step))
        contents.append(try Content(store, RandomWriter.tables))
      }
      for content in contents.dropLast().reversed() {
        #expect(try history.takeBack(.undo) != nil)
        #expect(try Content(store, RandomWriter.tables) == content)
      }
      #expect(try history.takeBack(.undo) == nil)
      for content in contents.dropFirst() {
        #expect(try history.takeBack(.redo) != nil)
        #expect(try Content(store, RandomWriter.tables) == content)
      }
    }
  }

  @Test func theCounterComesBackWithATable() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store)
    let table = try store.table("t")
    try table.add(contentsOf: [["n": 1], ["n": 2]])
    try table.delete(2)
    #expect(try history.add(store.undoableWrite { tx in try tx.truncate(.records("t")) }.step))
    #expect(try history.takeBack(.undo) == ["t"])
    #expect(table.counter == 2)
  }

  @Test func aNewWriteEndsRedoing() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store)
    try write(store, history, 1)
    try write(store, history, 2)
    #expect(try history.takeBack(.undo) == ["t"])
    #expect(try history.rehearse(.redo) == ["t"])
    try write(store, history, 3)
    #expect(try history.takeBack(.redo) == nil)
    #expect(try store.table("t").snapshot.ids == [1, 3])
  }

  @Test func theOldestStepsGoFirst() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store)
    for number in 0..<UndoHistory.limit + 3 { try write(store, history, number) }
    while try history.takeBack(.undo) != nil {}
    #expect(try store.table("t").count == 3)
  }

  @Test func whatIsTooLongIsNotKeptNorWhatCameBefore() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store, longestStep: 1_000)
    try write(store, history, 1)
    let (_, step) = try store.undoableWrite { tx in
      try tx.add(["text": .string(String(repeating: "x", count: 1_000))], to: .records("t"))
    }
    #expect(try !history.add(step))
    #expect(try history.takeBack(.undo) == nil)
  }

  @Test func aConflictAndADamagedFileLeaveTheStep() throws {
    try withStore(.disk) { store in
      let history = UndoHistory(store)
      try write(store, history, 1)
      try store.table("t").set(["n": 2], of: 1)
      #expect(storeError { _ = try history.takeBack(.undo) }?.code == StoreError.undoConflict)
      try store.table("t").set(["n": 1], of: 1)
      let file = store.url.appendingPathComponent(".filedb/undo/undo-1.plist")
      let bytes = try Data(contentsOf: file)
      for damaged in ["<plist><dict/></plist>", "<plist><dict"] {
        try Data(damaged.utf8).write(to: file)
        let error = storeError { _ = try history.takeBack(.undo) }
        #expect(error?.code == StoreError.damagedTable)
        #expect(error?.file == file.path)
      }
      try bytes.write(to: file)
      #expect(try history.takeBack(.undo) == ["t"])
    }
  }
}
