import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct UndoHistoryTests {
  private func write(_ store: RecordStore, _ history: UndoHistory, _ number: Int) throws {
    let (_, step) = try store.undoableWrite { tx in
      try tx.add(["n": .integer(Int64(number))], to: .records("t"))
    }
    #expect(try history.add(step))
  }

  @Test(arguments: StorePlace.allCases)
  func keptStepsUndoAndRedoExactContents(place: StorePlace) throws {
    try withStore(place) { store in
      let history = UndoHistory(store)
      var writer = RandomWriter(random: .fromEnvironment("undo history"))
      var contents = [try TablesContent(store, RandomWriter.tables)]
      for _ in 0..<40 {
        let (_, step) = try store.undoableWrite { tx in try writer.write(&tx) }
        if step.isEmpty { continue }
        #expect(try history.add(step))
        contents.append(try TablesContent(store, RandomWriter.tables))
      }
      for content in contents.dropLast().reversed() {
        #expect(try history.takeBack(.undo) != nil)
        #expect(try TablesContent(store, RandomWriter.tables) == content)
      }
      #expect(try history.takeBack(.undo) == nil)
      for content in contents.dropFirst() {
        #expect(try history.takeBack(.redo) != nil)
        #expect(try TablesContent(store, RandomWriter.tables) == content)
      }
    }
  }

  @Test func undoOfTruncateRestoresCounter() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store)
    let table = try store.table("t")
    try table.add(contentsOf: [["n": 1], ["n": 2]])
    try table.delete(2)
    #expect(try history.add(store.undoableWrite { tx in try tx.truncate(.records("t")) }.step))
    #expect(try history.takeBack(.undo) == ["t"])
    #expect(table.counter == 2)
  }

  @Test func newWriteClearsRedo() throws {
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

  @Test func historyForgetsOldestStepsBeyondLimit() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store)
    for number in 0..<UndoHistory.limit + 3 { try write(store, history, number) }
    while try history.takeBack(.undo) != nil {}
    #expect(try store.table("t").count == 3)
  }

  @Test func tooLongStepClearsHistory() throws {
    let store = RecordStore.inMemory()
    let history = UndoHistory(store, longestStep: 1_000)
    try write(store, history, 1)
    let (_, step) = try store.undoableWrite { tx in
      try tx.add(["text": .string(String(repeating: "x", count: 1_000))], to: .records("t"))
    }
    #expect(try !history.add(step))
    #expect(try history.takeBack(.undo) == nil)
  }

  @Test func conflictOrDamagedFileKeepsStep() throws {
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
