import FileDB
import TestSupport
import Testing

@Suite struct UndoStackTests {
  @Test func writesAreUndoneAndRedoneInOrder() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let stack = UndoStack(store: store)
    for number in 1...3 {
      try stack.write(named: "add \(number)") { tx in
        try tx["t"].add(["n": .integer(Int64(number))])
      }
    }
    #expect(stack.undoName == "add 3" && stack.canUndo && !stack.canRedo)
    #expect(stack.redoName == nil)
    #expect(try stack.undo())
    #expect(try stack.undo())
    #expect(table.lastSnapshot.ids == [1])
    #expect(stack.redoName == "add 2")
    #expect(try stack.redo())
    #expect(table.lastSnapshot.ids == [1, 2])
    try stack.write { tx in try tx["t"].delete(1) }
    #expect(try !stack.redo())
    while try stack.undo() {}
    #expect(try store.tableNames.isEmpty)
  }

  @Test func stackForgetsOldestWritesBeyondLimit() throws {
    let store = RecordStore.inMemory()
    let stack = UndoStack(store: store, limit: 2)
    for _ in 0..<3 { try stack.write { tx in try tx["t"].add(["n": 1]) } }
    while try stack.undo() {}
    #expect(try store.table("t").lastSnapshot.ids == [1])
  }

  @Test func conflictKeepsWriteOnStack() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let stack = UndoStack(store: store)
    let id = try stack.write(named: "add") { tx in try tx["t"].add(["n": 1]) }
    try table.set(["n": 2], of: id)
    #expect(storeError { _ = try stack.undo() }?.code == .undoConflict)
    #expect(stack.undoName == "add")
    try table.set(["n": 1], of: id)
    #expect(try stack.undo())
    stack.removeAll()
    #expect(stack.redoName == nil)
  }

  @Test func writeWithoutChangesIsNotStacked() throws {
    let store = RecordStore.inMemory()
    let stack = UndoStack(store: store)
    try stack.write(named: "look") { tx in _ = try tx["t"].snapshot().count }
    #expect(stack.undoName == nil && !stack.canUndo)
  }

  @Test func writeWithinAWriteThatThrowsIsNoStep() throws {
    struct Regret: Error {}
    try withStore { store in
      let edits = UndoStack(store: store)
      try store.table("t").add(["n": 1])
      #expect(throws: Regret.self) {
        try store.write { _ in
          try edits.write(named: "Add") { tx in try tx["t"].add(["n": 2]) }
          throw Regret()
        }
      }
      #expect(edits.undoName == nil)
      try store.write { _ in
        try? store.write { _ in
          try edits.write(named: "Undone") { tx in try tx["t"].add(["n": 2]) }
          throw Regret()
        }
        try edits.write(named: "Kept") { tx in try tx["t"].add(["n": 3]) }
      }
      #expect(edits.undoName == "Kept")
      try edits.undo()
      #expect(edits.undoName == nil)
      #expect(try store.table("t").lastSnapshot.map { $0["n"] } == [1])
    }
  }
}

extension UndoStackTests {
  @Test func conflictCanBeSkipped() throws {
    let store = RecordStore.inMemory()
    let edits = UndoStack(store: store)
    for number in 1...2 {
      try edits.write { tx in try tx["t"].add(["n": .integer(Int64(number))]) }
    }
    try store.table("t").set(["n": 20], of: 2)
    #expect(storeError { try edits.undo() }?.code == .undoConflict)
    #expect(edits.skipUndo())
    #expect(try edits.undo())
    #expect(try store.table("t").lastSnapshot.ids == [2])
    #expect(!edits.skipUndo())
    #expect(edits.skipRedo())
    #expect(try !edits.redo())
  }

  /// An undo and a redo within a write that throws later have not happened.
  @Test func undoWithinAWriteThatThrowsLeavesTheStackAsItWas() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let stack = UndoStack(store: store)
    for number in 1...3 {
      try stack.write(named: "add \(number)") { tx in try tx["t"].add(["n": .integer(Int64(number))]) }
    }
    #expect(try stack.undo())
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { _ in
        #expect(try stack.undo())
        #expect(stack.undoName == "add 1" && stack.redoName == "add 2")
        #expect(try stack.redo())
        #expect(try stack.redo())
        #expect(try stack.undo())
        throw Stop()
      }
    }
    #expect(stack.undoName == "add 2" && stack.redoName == "add 3")
    #expect(table.lastSnapshot.ids == [1, 2])
    try store.write { _ in
      try stack.undo()
      #expect(throws: Stop.self) {
        try store.write { _ in
          try stack.undo()
          throw Stop()
        }
      }
    }
    #expect(stack.undoName == "add 1" && stack.redoName == "add 2")
    #expect(table.lastSnapshot.ids == [1])
  }
}
