import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct UndoLogTests {
  private func write(_ store: RecordStore, _ number: Int) throws {
    try store.undoLog.write(named: "number \(number)") { tx in
      try tx["t"].add(["n": .integer(Int64(number))])
    }
  }

  private func names(_ entries: [UndoLog.Entry]) -> [String] { entries.map(\.name) }

  @Test(arguments: StorePlace.allCases)
  func stepsUndoAndRedoExactContents(place: StorePlace) throws {
    try withStore(place) { store in
      var writer = RandomWriter(random: .fromEnvironment("undo log"))
      var contents = [try TablesContent(store, RandomWriter.tables)]
      while contents.count < 40 {
        try store.undoLog.write { tx in try writer.write(&tx) }
        let now = try TablesContent(store, RandomWriter.tables)
        // A write that changed nothing is not a step.
        if now != contents.last { contents.append(now) }
        if contents.count % 10 == 0 { try store.checkpoint() }
      }
      for expected in contents.dropLast().reversed() {
        #expect(try store.undoLog.undo() != nil)
        #expect(try TablesContent(store, RandomWriter.tables) == expected)
      }
      #expect(try store.undoLog.undo() == nil)
      for expected in contents.dropFirst() {
        #expect(try store.undoLog.redo() != nil)
        #expect(try TablesContent(store, RandomWriter.tables) == expected)
      }
      #expect(try store.undoLog.redo() == nil)
      try store.checkInvariants()
    }
  }

  /// A step is written in pieces of 1 MB.
  @Test(arguments: [false, true])
  func stepOfSeveralPiecesUndoesExactContents(isRemoval: Bool) throws {
    try withStore(options: StoreOptions(checkpoints: .manual)) { store in
      let text = String(repeating: "<text> ", count: 60)
      try store.table("t").add(
        contentsOf: (0..<6_000).map { ["n": .integer($0), "text": .string(text + "\($0)")] })
      let before = try TablesContent(store, ["t"])
      try store.undoLog.write { tx in
        let table = try tx["t"]
        let ids = try table.snapshot().ids
        if isRemoval {
          try table.delete(ids.dropLast(10))
        } else {
          try table.set(["text": .bool(true)], of: ids)
        }
      }
      let folder = store.url.path + "/.filedb/undo"
      let name = try #require(store.disk.list(folder).first { $0.hasSuffix(".changes") })
      #expect(try store.disk.read(folder + "/" + name).bytes.count > 2_000_000)
      let after = try TablesContent(store, ["t"])
      _ = try store.undoLog.undo()
      #expect(try TablesContent(store, ["t"]) == before)
      _ = try store.undoLog.redo()
      #expect(try TablesContent(store, ["t"]) == after)
      try store.checkInvariants()
    }
  }

  /// Any step can be undone and redone, whatever came before and after it.
  @Test(arguments: StorePlace.allCases)
  func stepsAreUndoneInAnyOrder(place: StorePlace) throws {
    try withStore(place) { store in
      var random = SeededRandom.fromEnvironment("undo in any order")
      let numbers = (0..<12).map(String.init)
      var entries: [String: UndoLog.Entry] = [:]
      for number in numbers {
        let (_, entry) = try store.undoLog.loggedWrite(named: number) { tx in
          try tx["t"].add(["n": .string(number)])
        }
        entries[number] = entry
      }
      #expect(try names(store.undoLog.contents().undo) == numbers.reversed())
      var undone: Set<String> = []
      for step in 0..<60 {
        let number = try #require(numbers.randomElement(using: &random))
        let id = try #require(entries[number]?.id)
        if undone.remove(number) != nil {
          entries[number] = try store.undoLog.redo(id)
        } else {
          entries[number] = try store.undoLog.undo(id)
          undone.insert(number)
        }
        let present = try store.table("t").snapshot().compactMap { $0.fields["n"]?.string }
        #expect(Set(present) == Set(numbers).subtracting(undone))
        let contents = try store.undoLog.contents()
        #expect(Set(names(contents.redo)) == undone && Set(contents.redo.map(\.id)).contains(id) == false)
        #expect(entries[number]?.name == number)
        if step % 20 == 0 { try store.checkpoint() }
      }
      try store.checkInvariants()
    }
  }

  @Test func stepThatIsGoneIsNotUndone() throws {
    try withStore { store in
      try write(store, 1)
      let (_, nothing) = try store.undoLog.loggedWrite { _ in }
      #expect(nothing == nil)
      let id = try #require(store.undoLog.contents().undo.first?.id)
      let redo = try store.undoLog.undo(id)
      for (isGone, takeBack) in [
        (id, store.undoLog.undo), (redo.id, store.undoLog.undo), (id, store.undoLog.redo),
      ]
        as [(String, (String) throws -> UndoLog.Entry)]
      {
        #expect(throws: StoreError.self) { _ = try takeBack(isGone) }
      }
      #expect(try store.undoLog.redo(redo.id).name == "number 1")
    }
  }

  @Test func contentsNameWhatCanBeUndoneAndRedone() throws {
    let store = RecordStore.inMemory()
    let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    for number in 1...3 { try write(store, number) }
    try store.undoLog.undo()
    let contents = try store.undoLog.contents()
    #expect(names(contents.undo) == ["number 2", "number 1"])
    #expect(names(contents.redo) == ["number 3"])
    #expect(contents.undo.allSatisfy { $0.tableNames == ["t"] && (start...Date()).contains($0.date) })
    #expect(!contents.isCutOff)
  }

  @Test func stepWithoutNameSaysWhatItDid() throws {
    let store = RecordStore.inMemory()
    try store.undoLog.write { tx in
      try tx["t"].add(contentsOf: (0..<1_234).map { ["n": .integer($0)] })
    }
    try store.undoLog.write { tx in
      try tx["t"].set(["n": 7], of: 1)
      try tx["t"].delete([2, 3])
    }
    try store.undoLog.write { tx in try tx["t"].sort(by: [.descending("n")]) }
    #expect(
      try names(store.undoLog.contents().undo) == [
        "new order of t", "deletion of 2 records from t, change of 1 record in t (n)",
        "addition of 1,234 records to the new table t",
      ])
  }

  @Test func logIsKeptByCheckpointsAndOtherProcesses() throws {
    try withStore(.disk) { store in
      try write(store, 1)
      try store.checkpoint()
      let other = try RecordStore(at: store.url)
      try write(other, 2)
      try other.close()
      #expect(try store.undoLog.undo()?.name == "number 2")
      #expect(try store.undoLog.undo()?.name == "number 1")
      #expect(try RecordStore(at: store.url).undoLog.redo()?.name == "number 1")
      try store.refresh()
      try store.checkInvariants()
    }
  }

  @Test func newWriteEndsRedo() throws {
    let store = RecordStore.inMemory()
    try write(store, 1)
    try write(store, 2)
    try store.undoLog.undo()
    try write(store, 3)
    #expect(try store.undoLog.redo() == nil)
    #expect(try store.table("t").lastSnapshot.ids == [1, 3])
  }

  @Test func writesOutsideTheLogAreNotTakenBack() throws {
    let store = RecordStore.inMemory()
    try write(store, 1)
    try store.table("t").add(["n": 2])
    #expect(try store.undoLog.undo()?.name == "number 1")
    #expect(try store.table("t").lastSnapshot.ids == [2])
    #expect(try store.undoLog.undo() == nil)
  }

  @Test func oldestStepsAreRemovedAtTheLimit() throws {
    try withStore(.disk) { store in
      for number in 0..<103 { try write(store, number) }
      #expect(try store.undoLog.contents().undo.count == 100)
      while try store.undoLog.undo() != nil {}
      #expect(try store.table("t").count == 3)
      #expect(try !store.undoLog.contents().isCutOff)
      #expect(try store.disk.list("\(store.url.path)/.filedb/undo").count <= 2 * 102)
    }
  }

  @Test func oldStepsAreRemovedWhenLogIsTwiceTheTables() throws {
    try withStore(.disk) { store in
      let text = PlistValue.string(String(repeating: "x", count: 300_000))
      for number in 1...8 {
        try store.undoLog.write(named: "\(number)") { tx in
          let id = try tx["t"].add(["n": .integer(Int64(number))])
          try tx["t"].set(["text": text], of: id)
        }
        // What was changed is in the step, before and after.
        try store.undoLog.write(named: "\(number)") { tx in
          try tx["t"].set(["text": "short"], of: RecordID<Fields>(rawValue: Int64(number))!)
        }
      }
      try store.checkpoint()
      let names = try store.disk.list("\(store.url.path)/.filedb/undo")
      let size = try names.reduce(0) {
        try $0 + (store.disk.status("\(store.url.path)/.filedb/undo/\($1)")?.stamp.size ?? 0)
      }
      #expect(size < 3 << 20)
      let kept = try store.undoLog.contents().undo.count
      #expect((1..<16).contains(kept))
      for _ in 0..<kept { #expect(try store.undoLog.undo() != nil) }
      #expect(try store.undoLog.undo() == nil)
      for _ in 0..<kept { #expect(try store.undoLog.redo() != nil) }
      try store.checkInvariants()
    }
  }

  @Test func failedCommitIsNoStep() throws {
    let memory = MemoryDisk(.emptyHome)
    func open(_ disk: any Disk) throws -> RecordStore {
      try RecordStore(
        at: URL(fileURLWithPath: "/home/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    }
    try write(open(memory), 1)
    let files = memory.image.files.keys.sorted()
    let failing = try open(FaultyDisk(over: memory, faults: .refuse(.writeAt, errno: ENOSPC)))
    #expect(storeError { try write(failing, 2) }?.code == .diskFull)
    #expect(
      memory.image.files.keys.sorted() == files, "the step's files take the room that a full disk lacks")
    let store = try open(memory)
    #expect(try names(store.undoLog.contents().undo) == ["number 1"])
    #expect(try store.undoLog.undo()?.name == "number 1")
    #expect(try store.table("t").count == 0)
    try store.checkInvariants()
  }

  @Test func powerCutMayEndTheLogAndTakesNothingElseBack() throws {
    let memory = MemoryDisk(.emptyHome)
    let url = URL(fileURLWithPath: "/home/store")
    let options = StoreOptions(checkpoints: .manual)
    try write(RecordStore(at: url, disk: memory, options: options), 1)
    try write(RecordStore(at: url, disk: memory, options: options), 2)
    let store = try RecordStore(at: url, disk: memory.surviving(.lost), options: options)
    #expect(try store.undoLog.contents().isCutOff)
    #expect(try store.undoLog.undo() == nil)
    #expect(try store.table("t").lastSnapshot.ids == [1, 2])
    try write(store, 3)
    #expect(try store.undoLog.undo()?.name == "number 3")
    #expect(try store.undoLog.undo() == nil)
    #expect(try store.table("t").lastSnapshot.ids == [1, 2])
    try store.checkInvariants()
  }

  @Test(arguments: [".step", ".changes"])
  func damagedFileTakesNothingElseBack(suffix: String) throws {
    try withStore(.disk) { store in
      try write(store, 1)
      try write(store, 2)
      let folder = store.url.appendingPathComponent(".filedb/undo")
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where name.hasSuffix(suffix) {
        let file = folder.appendingPathComponent(name)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
      }
      do {
        let entry = try store.undoLog.undo()
        #expect(entry == nil)
      } catch StoreError.Code.undoStepLost {}
      #expect(try store.table("t").count == 2)
      try store.checkInvariants()
    }
  }

  @Test func writeFailsIfStepCannotBeKeptUnlessCallerAllowsIt() throws {
    let memory = MemoryDisk(.emptyHome)
    let url = URL(fileURLWithPath: "/home/store")
    let options = StoreOptions(checkpoints: .manual)
    try write(RecordStore(at: url, disk: memory, options: options), 1)
    let full = try RecordStore(
      at: url, disk: FaultyDisk(over: memory, faults: .refuse(.append, errno: ENOSPC)), options: options)
    #expect(storeError { try write(full, 2) }?.code == .diskFull)
    #expect(try full.table("t").count == 1)
    var reason: (any Error)?
    try full.undoLog.write(
      named: { (_: RecordID<Fields>) in nil }, unlessKept: { reason = $0 },
      discarding: { _ in }, { tx in try tx["t"].add(["n": 3]) })
    #expect((reason as? StoreError)?.code == .diskFull)
    let store = try RecordStore(at: url, disk: memory, options: options)
    #expect(try store.table("t").count == 2)
    // No earlier step may be undone instead.
    #expect(try store.undoLog.undo() == nil)
    try store.checkInvariants()
  }

  @Test func logKnowsWhetherThereIsAStep() throws {
    let store = RecordStore.inMemory()
    let log = store.undoLog
    #expect(try !log.canUndo && !log.canRedo)
    try write(store, 1)
    #expect(try log.canUndo && !log.canRedo)
    try log.undo()
    #expect(try !log.canUndo && log.canRedo)
    try store.checkInvariants()
  }

  @Test func conflictCanBeSkipped() throws {
    let store = RecordStore.inMemory()
    try write(store, 1)
    try write(store, 2)
    try store.table("t").set(["n": 20], of: 2)
    let error = storeError { _ = try store.undoLog.undo() }
    #expect(error?.code == .undoConflict)
    #expect(error?.record == 2)
    #expect(try store.undoLog.skip()?.name == "number 2")
    #expect(try store.undoLog.undo()?.name == "number 1")
    #expect(try store.table("t").lastSnapshot.ids == [2])
    #expect(try store.undoLog.skip() == nil)
  }

  @Test func logCannotBeUsedInsideAnotherWrite() throws {
    let store = RecordStore.inMemory()
    try write(store, 1)
    try store.write { tx in
      #expect(storeError { try write(store, 2) }?.code == .insideWrite)
      #expect(storeError { _ = try store.undoLog.undo() }?.code == .insideWrite)
    }
    #expect(try store.undoLog.undo()?.name == "number 1")
  }

  /// By a hard link, so that a large table is not copied.
  @Test(arguments: ["drop", "truncate", "delete"]) func largeDeletionKeepsTheOldFile(verb: String) throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(
        contentsOf: (0..<2_000).map { ["text": .string(String(repeating: "x", count: 1_000) + "\($0)")] })
      try store.checkpoint()
      try table.move(7, to: .top)  // Which is not in the file yet.
      let before = try TablesContent(store, ["t"])
      try store.undoLog.write { tx in
        switch verb {
        case "drop": try tx["t"].drop()
        case "truncate": try tx["t"].truncate()
        default: try tx["t"].delete(table.lastSnapshot.ids.dropFirst(10))
        }
      }
      try store.checkpoint()
      let folder = "\(store.url.path)/.filedb/undo"
      let names = try store.disk.list(folder)
      #expect(names.filter { $0.hasSuffix(".table") }.count == 1)
      for name in names where name.hasSuffix(".changes") {
        #expect(try store.disk.status("\(folder)/\(name)")?.stamp.size ?? 0 < 100_000)
      }
      let after = try TablesContent(store, ["t"])
      try store.undoLog.undo()
      #expect(try TablesContent(store, ["t"]) == before)
      try store.undoLog.redo()
      #expect(try TablesContent(store, ["t"]) == after)
      try store.undoLog.undo()
      #expect(try TablesContent(store, ["t"]) == before)
      try store.checkInvariants()
    }
  }
}
