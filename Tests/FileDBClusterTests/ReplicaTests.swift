import FileDB
import FileDBCluster
import Foundation
import Synchronization
import TestSupport
import Testing

/// A store in the folders of several machines. Each open store is on its own machine, unless the test says otherwise.
@Suite struct ReplicaTests {
  /// Runs `body` with a function that opens the store in a folder of this name.
  private func withStore(
    _ log: SharedLog = SharedLog(MemoryLog()), options: StoreOptions = StoreOptions(checkpoints: .manual),
    _ body: (_ open: (String) throws -> RecordStore) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      try body { name in
        try RecordStore(at: folder.appendingPathComponent(name), sharedBy: log, options: options)
      }
    }
  }

  private func titles(_ store: RecordStore) throws -> [String] {
    try store.catchUp()
    return try store.table("t").snapshot().map { $0["title"]?.string ?? "" }
  }

  /// The text of a table's file, as people see it.
  private func text(_ store: RecordStore) throws -> String {
    try String(contentsOf: store.url(of: "t"), encoding: .utf8)
  }

  private func edit(_ store: RecordStore, _ change: (String) -> String) throws {
    try change(text(store)).write(to: store.url(of: "t"), atomically: true, encoding: .utf8)
  }

  @Test func otherMachinesReadTheSameRecordsInTheSameOrder() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      let first = try a.table("t").add(["title": "one"])
      try b.table("t").add(["title": "two"], at: .top)
      try a.write { tx in
        try tx["t"].add(["title": "three"])
        try tx["u"].add(["title": "other"])
      }
      try b.table("t").move(first, to: .bottom)
      for store in [a, b, try open("c")] { #expect(try titles(store) == ["two", "three", "one"]) }
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  @Test func filesAreInTheFolderAndSurviveReopening() throws {
    try withStore { open in
      let a = try open("a")
      try a.table("t").add(["title": "one"])
      try a.checkpoint()
      #expect(try text(a).contains("<string>one</string>"))
      #expect(try a.url(of: "t").path == a.url.appendingPathComponent("t.plist").path)
      try a.table("t").add(["title": "two"])
      try a.close()
      let again = try open("a")
      #expect(try again.table("t").count == 2)
      try again.checkpoint()
      #expect(try text(again).contains("two"))
      try again.table("t").drop()
      try again.checkpoint()
      #expect(!FileManager.default.fileExists(atPath: try again.url(of: "t").path))
    }
  }

  @Test func twoStoresOnOneFolderAreOneMachine() throws {
    try withStore { open in
      let (a, same) = (try open("a"), try open("a"))
      try a.table("t").add(["title": "one"])
      try same.table("t").add(["title": "two"])
      #expect(try a.table("t").count == 2, "the folder has it, so the log is not asked")
      try a.checkInvariants()
    }
  }

  @Test func undoRevertsOnlyChangesOfThisMachine() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      try a.undoLog.write { tx in try tx["t"].add(["title": "mine"]) }
      try b.undoLog.write { tx in try tx["t"].add(["title": "theirs"]) }
      try a.undoLog.undo()
      #expect(try titles(a) == ["theirs"] && titles(b) == ["theirs"])
      try a.undoLog.redo()
      #expect(try titles(b) == ["mine", "theirs"])
    }
  }

  @Test func endOfOneMachinesUndoLogIsNotTheEndOfAnothers() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      try a.undoLog.write { tx in try tx["t"].add(["title": "mine"]) }
      try b.undoLog.write { tx in try tx["t"].add(["title": "theirs"]) }
      try a.undoLog.end()
      #expect(try titles(b) == ["mine", "theirs"] && b.undoLog.contents().undo.count == 1)
      try b.undoLog.undo()
      #expect(try titles(a) == ["mine"] && a.undoLog.contents().undo.isEmpty)
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  // MARK: Edits by hand

  @Test func editOfAFileBecomesACommit() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      try a.table("t").add(contentsOf: [["title": "one"], ["title": "two"]])
      try a.checkpoint()
      try b.catchUp()
      try edit(a) { $0.replacing("one", with: "edited") }
      try b.table("t").add(["title": "three"])
      #expect(try titles(a) == ["edited", "two", "three"] && titles(b) == ["edited", "two", "three"])
      try a.checkpoint()
      #expect(try text(a).contains("edited") && text(a).contains("three"))
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  @Test func editWhileTheStoreWasClosedBecomesACommit() throws {
    try withStore { open in
      var a = try open("a")
      let b = try open("b")
      try a.table("t").add(["title": "one"])
      try a.checkpoint()
      try a.close()
      try edit(a) { $0.replacing("one", with: "edited") }
      try b.table("t").add(["title": "two"])
      a = try open("a")
      #expect(try titles(a) == ["edited", "two"] && titles(b) == ["edited", "two"])
    }
  }

  @Test func fieldThatOthersAlsoChangedKeepsTheirValueAndIsAConflict() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      let id = try a.table("t").add(["title": "one", "note": "old"])
      try a.checkpoint()
      try b.catchUp()
      try b.table("t").set(["title": "theirs"], of: id)
      try edit(a) { $0.replacing("one", with: "mine").replacing("old", with: "new") }
      #expect(try titles(a) == ["theirs"] && titles(b) == ["theirs"])
      #expect(try b.table("t").snapshot()[0]["note"] == "new")
      let conflicts = try #require(try a.openConflicts(of: "t")).conflicts
      #expect(conflicts.count == 1 && conflicts[0].record == id.plain)
      let backups = a.url.appendingPathComponent(".filedb/backups").path
      #expect(try FileManager.default.contentsOfDirectory(atPath: backups).count == 1)
      try a.checkpoint()
      #expect(try text(a).contains("theirs") && !text(a).contains("mine"))
    }
  }

  @Test func fileThatIsNotATableIsLeftAloneUntilItIsOne() throws {
    try withStore { open in
      let a = try open("a")
      try a.table("t").add(["title": "one"])
      try a.checkpoint()
      let sound = try text(a)
      try edit(a) { String($0.prefix(200)) }
      #expect(storeError { try a.catchUp() }?.code == .damagedTable)
      try a.table("t").add(["title": "two"])
      #expect(storeError { try a.checkpoint() }?.code == .conflict)
      #expect(try text(a) == String(sound.prefix(200)) && a.table("t").count == 2)
      try edit(a) { _ in sound.replacing("one", with: "edited") }
      #expect(try titles(a) == ["edited", "two"])
      try a.checkpoint()
      #expect(try text(a).contains("two"))
    }
  }

  @Test func newFileIsANewTableAndARemovedFileComesBack() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      try a.table("t").add(["title": "one"])
      try a.checkpoint()
      let copy = a.url.appendingPathComponent("copy.plist")
      try FileManager.default.copyItem(at: a.url(of: "t"), to: copy)
      try FileManager.default.removeItem(at: a.url(of: "t"))
      try a.catchUp()
      try b.catchUp()
      #expect(try b.tableNames == ["copy", "t"] && b.table("copy").snapshot()[0]["title"] == "one")
      try a.checkpoint()
      #expect(try text(a).contains("one"))
    }
  }

  // MARK: New folders

  /// Under load, a checkpoint's file never has the very last commit.
  @Test func fileWithoutTheLastCommitsOfOthersIsShownButNotWithoutAnEdit() throws {
    try withStore { open in
      let (a, b) = (try open("a"), try open("b"))
      try b.table("t").add(["title": "one"])
      try a.catchUp()
      try a.checkpoint()
      try b.table("t").add(["title": "two"])
      try a.catchUp()
      let (file, shown) = (try a.url(of: "t"), try #require(a.shownFiles))
      try FileManager.default.removeItem(at: file)
      try shown.update()
      #expect(try text(a).contains("one") && !text(a).contains("two"))
      // An edit becomes the third commit. The replica's file has only the first.
      try edit(a) { $0.replacing("one", with: "edited") }
      try a.catchUp()
      try shown.update()
      #expect(try text(a).contains("edited"))
      try b.table("t").add(["title": "three"])
      #expect(try titles(a) == ["edited", "two", "three"])
      try a.checkpoint()
      #expect(try text(a).contains("edited") && text(a).contains("three"))
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  @Test func folderWithItsOwnTablesIsRefused() throws {
    try withStore { open in
      let url = try open("a").url.deletingLastPathComponent().appendingPathComponent("b")
      let own = try RecordStore(at: url)
      try own.table("t").add(["title": "mine"])
      try own.close()
      #expect(storeError { _ = try open("b") }?.code == .tableExists)
      #expect(try RecordStore(at: url).table("t").count == 1)
    }
  }

  /// Another process uses the folder while this one asks the log for its identity.
  @Test(arguments: [true, false]) func folderThatWasUsedMeanwhileIsRefused(isShared: Bool) throws {
    try withTemporaryFolder { folder in
      let failures = Failures()
      let log = UnreliableLog(MemoryLog()) {
        failures.note {
          let other =
            try isShared
            ? RecordStore(at: folder, sharedBy: SharedLog(MemoryLog())) : RecordStore(at: folder)
          if try !other.table("t").exists { try other.table("t").add(["title": "theirs"]) }
          try other.close()
        }
      }
      let error = storeError {
        try RecordStore(at: folder, sharedBy: SharedLog(log)).table("t").add(["title": "ours"])
      }
      #expect(error?.code == (isShared ? .conflict : .tableExists))
      #expect(failures.all.isEmpty)
      let table = try RecordStore(at: folder).table("t")
      #expect(try table.snapshot().map { $0["title"] } == ["theirs"])
    }
  }

  @Test func folderOfAnotherLogIsRefused() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("a")
      let store = try RecordStore(at: url, sharedBy: SharedLog(MemoryLog()))
      try store.table("t").add(["title": "one"])
      try store.close()
      let other = try RecordStore(at: url, sharedBy: SharedLog(MemoryLog()))
      #expect(storeError { try other.table("t").add(["title": "two"]) }?.code == .conflict)
      #expect(try other.table("t").count == 1, "reading does not ask the log")
    }
  }

  /// The folder has to start from the tables. But when it has its lock and wants to read them, there is no connection.
  @Test func newFolderThatLostItsConnectionIsStillNew() throws {
    let memory = MemoryLog()
    try withStore(SharedLog(memory)) { open in
      let a = try open("a")
      try a.table("t").add(["title": "one"])
      try memory.forget()
      for title in ["two", "three", "four"] { try a.table("t").add(["title": .string(title)]) }
      let new = a.url.deletingLastPathComponent().appendingPathComponent("new")
      let log = SharedLog(UnreliableLog(memory))
      #expect(storeError { _ = try RecordStore(at: new, sharedBy: log) }?.code == .unreachable)
      #expect(try titles(RecordStore(at: new, sharedBy: log)) == ["one", "two", "three", "four"])
    }
  }

  @Test func folderThatWasAwayForTooLongStartsOver() throws {
    let log = MemoryLog()
    try withStore(SharedLog(log)) { open in
      let (a, b) = (try open("a"), try open("b"))
      try a.table("t").add(["title": "one"])
      try a.table("gone").add(["title": "gone"])
      try b.catchUp()
      try b.close()
      try a.table("gone").drop()
      try a.table("t").add(["title": "two"])
      try log.forget()
      try a.table("t").add(["title": "three"])
      let again = try open("b")
      #expect(try titles(again) == ["one", "two", "three"] && again.tableNames == ["t"])
      #expect(try titles(open("new")) == ["one", "two", "three"])
      try again.table("t").add(["title": "four"])
      #expect(try titles(a) == ["one", "two", "three", "four"])
      for store in [a, again] { try store.checkInvariants() }
    }
  }

  @Test func editInAFolderThatStartsOverBecomesACommit() throws {
    let log = MemoryLog()
    try withStore(SharedLog(log)) { open in
      let a = try open("a")
      var b = try open("b")
      #expect(try b.lastStartOver() == nil)
      let id = try a.table("t").add(["title": "one", "note": "old"])
      try b.catchUp()
      try b.checkpoint()
      try b.close()
      try edit(b) { $0.replacing("old", with: "edited") }
      try a.table("t").set(["title": "changed"], of: id)
      try log.forget()
      try a.table("t").add(["title": "two"])
      b = try open("b")
      #expect(try titles(b) == ["changed", "two"] && titles(a) == ["changed", "two"])
      #expect(try a.table("t").snapshot()[0]["note"] == "edited")
      let start = try #require(try b.lastStartOver())
      #expect(start.lastCommitBefore == 1 && start.commitAfter == 2)
      #expect(try a.lastStartOver() == nil)
      try b.checkpoint()
      #expect(try text(b).contains("edited") && text(b).contains("changed"))
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  /// The log does not answer a write. Meanwhile, this store and another one on the same folder are read.
  @Test func readingDoesNotWaitForAWriteThatHangs() throws {
    let pause = Pause()
    let log = SharedLog(MemoryLog(interlude: { pause.pass() }))
    try withStore(log) { open in
      let (a, same) = (try open("a"), try open("a"))
      try a.table("t").add(["title": "one"])
      pause.arm()
      let failures = Failures()
      let writing = startThread("a write") {
        failures.note { _ = try a.table("t").add(["title": "two"]) }
      }
      try pause.waitUntilReached()
      for store in [a, same] {
        #expect(try store.table("t").snapshot().map { $0["title"] } == ["one"])
        #expect(try store.table("t").record(with: 1)["title"] == "one")
        #expect(try store.snapshot().tableNames == ["t"])
        try store.refresh()
      }
      pause.end()
      try writing.wait()
      #expect(failures.all.isEmpty)
      #expect(try same.table("t").count == 2)
      try a.checkInvariants()
    }
  }

  /// The store follows the log automatically, and informs its observers.
  @Test func storeFollowsTheLogInTheBackground() async throws {
    let log = SharedLog(MemoryLog())
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    func open(_ name: String) throws -> RecordStore {
      try RecordStore(at: folder.appendingPathComponent(name), sharedBy: log)
    }
    let (a, b) = (try open("a"), try open("b"))
    let seen = try await b.table("t")
    var changes = try seen.changes(since: seen.snapshot()).makeAsyncIterator()
    try await a.table("t").add(["title": "one"])
    #expect(try await changes.nextInTime().after.count == 1)
    #expect(seen.lastSnapshot.count == 1)
    let file = try b.url(of: "t")
    try await wait(for: "the table's file") { FileManager.default.fileExists(atPath: file.path) }
    #expect(try String(contentsOf: file, encoding: .utf8).contains("one"))
  }

  /// Nobody calls a method that could throw the error.
  @Test func observersHearThatTheLogDoesNotAnswer() async throws {
    let memory = MemoryLog()
    let log = UnreliableLog(memory)
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let other = try RecordStore(at: folder.appendingPathComponent("other"), sharedBy: SharedLog(memory))
    try await other.table("t").add(["title": "one"])
    try memory.forget()
    func open() throws -> RecordStore {
      try RecordStore(at: folder.appendingPathComponent("new"), sharedBy: SharedLog(log))
    }
    #expect(storeError { _ = try open() }?.code == .unreachable, "it cannot be reached at first")
    let store = try open()
    #expect(store.observationError == nil)
    log.isAway.store(true, ordering: .relaxed)
    var errors = store.observationErrors().makeAsyncIterator()
    #expect(try await errors.nextInTime()?.code == .unreachable)
    log.isAway.store(false, ordering: .relaxed)
    #expect(try await errors.nextInTime() == nil && store.observationError == nil)
    try store.checkInvariants()
  }

  /// The thread that follows the log may be waiting for the log's answer when the store is closed.
  @Test func closedStoreTakesNothingOver() throws {
    let pause = Pause()
    let log = SharedLog(MemoryLog(willRead: { pause.pass() }))
    try withTemporaryFolder { folder in
      let a = try RecordStore(
        at: folder.appendingPathComponent("a"), sharedBy: log, following: .whenAsked, options: StoreOptions())
      try a.table("t").add(["title": "one"])
      let url = folder.appendingPathComponent("b")
      var b: RecordStore? = try RecordStore(at: url, sharedBy: log)
      let replica = try #require((b?.log as? ReplicaLog)?.folder)
      pause.arm()
      try pause.waitUntilReached()
      try b?.close()
      try a.table("t").add(["title": "two"])
      // The thread has the store only until it has seen the answer.
      weak let closed = b
      b = nil
      pause.end()
      try wait(for: "the end of the thread") { closed == nil }
      try replica.readOn()
      #expect(replica.end == 1)
      let again = try RecordStore(at: url, sharedBy: log)
      #expect(try titles(again) == ["one", "two"])
      try again.checkInvariants()
    }
  }
}

/// A place where a thread waits until the test lets it go on.
private final class Pause: Sendable {
  private let isArmed = Atomic<Bool>(false)
  private let isReached = Event("a thread at its pause")
  private let mayGoOn = Event("the end of a pause")

  /// The next thread that comes here waits.
  func arm() { isArmed.store(true, ordering: .relaxed) }

  func pass() {
    guard isArmed.exchange(false, ordering: .relaxed) else { return }
    isReached.report()
    try? mayGoOn.wait()
  }

  func waitUntilReached() throws { try isReached.wait() }

  func end() { mayGoOn.report() }
}
