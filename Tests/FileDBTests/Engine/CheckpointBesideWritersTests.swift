import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Writers go on while a checkpoint writes the tables' files.
@Suite struct CheckpointBesideWritersTests {
  static let place = URL(fileURLWithPath: "/store")
  private static let lock = "/store/.filedb/lock"
  private static let turn = "/store/.filedb/checkpoint"
  static let file = "/store/t.plist"

  static func open(
    _ disk: any Disk, keptJournal: Int = 60 << 10, checkpoints: CheckpointPolicy = .manual
  ) throws -> RecordStore {
    var options = StoreOptions(lockTimeout: .zero, checkpoints: checkpoints)
    options.keptJournal = keptJournal
    options.checkpointPause = .seconds(3_600)
    return try RecordStore(at: place, disk: disk, options: options)
  }

  /// Two tables with a file, and two commits that wait.
  static func prepared(recordCount: Int = 5) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(
      contentsOf: (0..<recordCount).map { ["n": .integer(Int64($0)), "text": "a record"] })
    try store.table("u").add(["n": 0])
    try store.checkpoint()
    try store.table("t").add(["n": 100])
    try store.table("t").delete(1)
    return disk
  }

  static func contents(_ store: RecordStore) throws -> [String] {
    try store.tableNames.map { name in
      let table = try store.table(name).lastSnapshot
      return "\(name) \(table.counter) \(table.map { "\($0.id):\($0.fields.dictionary)" })"
    }
  }

  /// How many records the table's file has.
  static func countInFile(_ disk: MemoryDisk) throws -> Int {
    try TableFile.decode(disk.read(file).bytes, file: file, table: "t", limits: PlistLimits()).records.count
  }

  /// A disk that runs `body` once, while the table's draft is being written.
  static func disk(
    over base: any Disk, whileWriting body: @escaping @Sendable () throws -> Void
  ) -> FaultyDisk {
    let isDone = Atomic<Bool>(false)
    return FaultyDisk(
      over: base,
      faults: .choose { verb, path in
        guard verb == .append, path.contains("t.plist"), !isDone.exchange(true, ordering: .relaxed) else {
          return nil
        }
        do { try body() } catch { Issue.record(error) }
        return nil
      })
  }

  // MARK: Others that write

  private static let deeds: [(name: String, run: @Sendable (RecordStore) throws -> Void)] = [
    ("adds a record", { try $0.table("t").add(["n": 200]) }),
    ("changes a record", { try $0.table("t").set(["n": 300], of: 2) }),
    ("drops the table", { try $0.table("t").drop() }),
    ("truncates the table", { try $0.table("t").truncate() }),
    (
      "makes it anew",
      {
        try $0.write { tx in
          try tx["t"].drop()
          try tx["t"].add(["n": 400])
        }
      }
    ),
    ("makes another table", { try $0.table("v").add(["n": 500]) }),
    (
      "starts over",
      { store in
        let log = try store.fileLog
        try log.whileLocked(timeout: .zero) {
          try log.startOver { take throws(StoreError) in
            try take(TableKey("u"), TableState(counter: 9, records: [], foreignKeys: [:]))
            return (100, nil)
          }
        }
      }
    ),
    (
      "changes two tables",
      { try $0.write { tx in for name in ["t", "u"] { try tx[name].add(["n": 600]) } } }
    ),
  ]

  /// Before each call of the checkpoint in turn.
  @Test(arguments: deeds.indices, [0, 60 << 10]) func nothingIsLostOfWhatOthersWrite(
    deed: Int, keptJournal: Int
  ) throws {
    let deed = Self.deeds[deed]
    var passed = 0
    for number in 0... {
      let memory = try Self.prepared()
      let model = try Self.open(MemoryDisk(memory.image))
      let writer = try Self.open(memory, keptJournal: keptJournal)
      let isDone = Mutex(false)
      let disk = FaultyDisk(over: memory) { verb, _ in
        guard verb == number else { return }
        // The checkpoint holds the lock now and then.
        do { try deed.run(writer) } catch StoreError.Code.locked { return } catch { Issue.record(error) }
        isDone.withLock { $0 = true }
      }
      let store = try Self.open(disk, keptJournal: keptJournal)
      try store.checkpoint()
      if disk.verbs.count <= number { break }
      if isDone.withLock({ $0 }) {
        passed += 1
        try deed.run(model)
      }
      let expected = try Self.contents(model)
      let fresh = try Self.open(memory, keptJournal: keptJournal)
      for store in [store, writer, fresh] {
        try store.refresh()
        #expect(
          try Self.contents(store) == expected, "\(deed.name) before call \(number) (\(disk.verbs[number]))")
        try store.checkInvariants()
      }
      try fresh.checkNothingIsLeftBehind()
      try store.refresh()
      #expect(
        try Self.contents(store) == expected, "\(deed.name) before call \(number), after another checkpoint")
    }
    #expect(passed > 10)
  }

  /// The commit that comes while the file is written waits for the next checkpoint.
  @Test func fileIncludesTheCommitsUpToADraft() throws {
    let memory = try Self.prepared()
    let writer = try Self.open(memory)
    let disk = Self.disk(over: memory) { try writer.table("t").add(["n": 200]) }
    try Self.open(disk).checkpoint()
    let fresh = try Self.open(memory)
    #expect(try fresh.table("t").commitsBehind == 1 && fresh.table("t").count == 6)
    #expect(try fresh.pendingCommits().map(\.number) == [5])
    #expect(try Self.countInFile(memory) == 5)
    // An editor may save meanwhile: the commit is carried out on that.
    let text = String(decoding: try memory.read(Self.file).bytes, as: UTF8.self)
    _ = try memory.replace(Self.file, with: Array(text.replacing("<integer>3<", with: "<integer>33<").utf8))
    #expect(
      try Self.open(memory).table("t").lastSnapshot.map { $0["n"]?.integer } == [1, 2, 33, 4, 100, 200])
    try fresh.refresh()
    try fresh.checkNothingIsLeftBehind()
  }

  // MARK: The lock

  private static func isLocked(_ disk: MemoryDisk) -> Bool {
    do {
      if let lock = try disk.tryLock(lock) {
        withExtendedLifetime(lock) {}
        return false
      }
    } catch { Issue.record(error) }
    return true
  }

  /// What a checkpoint does with the store's lock is the same for a table of any size.
  @Test func workWithTheLockDoesNotDependOnTheTable() throws {
    func work(_ recordCount: Int) throws -> (verbs: [FaultyDisk.Verb], bytes: Int) {
      let memory = try Self.prepared(recordCount: recordCount)
      let verbs = Mutex<[FaultyDisk.Verb]>([])
      let disk = FaultyDisk(over: memory) { _, verb in
        if Self.isLocked(memory) { verbs.withLock { $0.append(verb) } }
      }
      try Self.open(disk).checkpoint()
      return (verbs.withLock { $0 }, disk.written[.writeAt, default: []].reduce(0, +))
    }
    let (small, large) = (try work(5), try work(5_000))
    #expect(small.verbs == large.verbs)
    #expect(!large.verbs.contains(.append) && !large.verbs.contains(.sync) && !large.verbs.contains(.read))
    // The numbers of the file's size have more digits.
    #expect(abs(small.bytes - large.bytes) < 256)
  }

  /// Freeing bytes takes time. So the former file is open until the lock is given up, whether it is replaced or removed.
  @Test(arguments: [false, true]) func bytesOfTheFormerFileAreFreedWithoutTheLock(isDropped: Bool) throws {
    let memory = try Self.prepared()
    if isDropped { try Self.open(memory).table("t").drop() }
    let former = try memory.extent(Self.file)?.inode
    let closed = Mutex<[Bool]>([])
    let disk = FaultyDisk(
      over: memory,
      closing: { path in
        guard path == Self.file, (try? memory.extent(path))?.inode != former else { return }
        closed.withLock { $0.append(Self.isLocked(memory)) }
      })
    try Self.open(disk).checkpoint()
    let lockedWhenClosed = closed.withLock { $0 }
    #expect(lockedWhenClosed == [false])
  }

  // MARK: Other readers

  /// Another store follows before each call, and does not read the file again.
  @Test func readersTakeOverTheNewFileUnread() throws {
    for number in 0... {
      let memory = try Self.prepared()
      let reads = Atomic<Int>(0)
      let counting = FaultyDisk(
        over: memory,
        faults: .choose { verb, path in
          if [.read, .open].contains(verb), path == Self.file { reads.add(1, ordering: .relaxed) }
          return nil
        })
      let reader = try Self.open(counting)
      let table = try reader.table("t")
      #expect(reads.load(ordering: .relaxed) == 1)
      let disk = FaultyDisk(over: memory) { verb, _ in
        if verb == number { do { try reader.refresh() } catch { Issue.record(error) } }
      }
      let store = try Self.open(disk)
      try store.checkpoint()
      if disk.verbs.count <= number { break }
      try store.table("t").add(["n": 200])
      try reader.refresh()
      #expect(table.lastSnapshot.last?["n"]?.integer == 200)
      try table.add(["n": 201])
      try reader.refresh()
      #expect(reads.load(ordering: .relaxed) == 1, "looked before call \(number) (\(disk.verbs[number]))")
      #expect(try table.count == 7)
      try store.refresh()
      for store in [store, reader] { try store.checkInvariants() }
    }
  }

  /// A store has read the journal on, but not applied its commits, and then that journal is gone.
  @Test(arguments: [0, 1, 2]) func commitsThatWereNeverAppliedAreRead(deed: Int) throws {
    let memory = try Self.prepared()
    try Self.open(memory).checkpoint()
    let reader = try Self.open(memory)
    let table = try reader.table("t")
    let writer = try Self.open(memory)
    switch deed {
    case 0: for number in 6...10 { try writer.table("t").add(["n": .integer(Int64(number))]) }
    case 1: try writer.table("t").drop()
    default:
      try writer.table("t").set(["n": 99], of: 3)
      try writer.table("t").set(["n": 2], of: 3)  // The file is as it was.
    }
    try writer.checkpoint()
    _ = try reader.tableNames
    for round in 1...3 {
      let other = try Self.open(memory, keptJournal: 0)
      try other.table("u").add(["n": .integer(Int64(round))])
      try other.checkpoint()
    }
    let expected = try Self.contents(Self.open(memory))
    #expect(try Self.contents(reader) == expected)
    try reader.table("t").add(["n": 1_000])
    try reader.checkpoint()
    #expect(table.lastSnapshot.last?["n"]?.integer == 1_000)
    try writer.refresh()
    #expect(try Self.contents(writer) == Self.contents(reader))
    for store in [reader, writer] { try store.checkInvariants() }
  }

  /// A table that waits keeps the commits of one that was dropped.
  @Test(arguments: [false, true]) func droppedTableIsGoneInTheNextJournal(isMadeAgain: Bool) throws {
    let memory = try Self.prepared(recordCount: 40)
    var options = StoreOptions(lockTimeout: .zero, checkpoints: .manual)
    (options.largeFile, options.keptJournal) = (1_000, 0)
    for name in ["u", "v", "w"] {
      let store = try RecordStore(at: Self.place, disk: memory, options: options)
      try store.table(name).add(["n": 1])
      if name == "v" { try store.checkpointTablesThatAreDue() }
      try store.table(name).drop()
      if isMadeAgain { try store.table(name).add(["n": 2]) }
      try store.checkpointTablesThatAreDue()
      let fresh = try RecordStore(at: Self.place, disk: memory, options: options)
      #expect(try fresh.table("t").count == 40 && fresh.table("t").commitsBehind == 2)
      #expect(try fresh.table(name).count == (isMadeAgain ? 1 : 0) && fresh.table(name).exists == isMadeAgain)
      try store.refresh()
      for store in [store, fresh] { try store.checkInvariants() }
    }
    let fresh = try Self.open(memory)
    try fresh.table("u").add(["n": 3])
    try fresh.checkNothingIsLeftBehind()
  }

  // MARK: Who makes it

  @Test func closingStoreLeavesACheckpointToWhoeverMakesOne() throws {
    let memory = try Self.prepared()
    let before = try memory.read(Self.file).bytes
    let store = try Self.open(memory, checkpoints: .automatic)
    do {
      let turn = try memory.lock(Self.turn, timeout: .zero)
      defer { withExtendedLifetime(turn) {} }
      try store.table("t").add(["n": 200])
      #expect(storeError { try store.checkpoint() }?.message.contains("files") == true)
      try store.close()
      #expect(try memory.read(Self.file).bytes == before)
    }
    try Self.open(memory).checkpoint()
    #expect(try Self.countInFile(memory) == 6)
    try store.checkInvariants()
  }

  /// Whoever has made a checkpoint looks again, for the commit of a store that was closed meanwhile.
  @Test(arguments: [false, true]) func commitOfAStoreThatWasClosedMeanwhileIsWritten(closes: Bool) throws {
    let memory = try Self.prepared()
    let disk = Self.disk(over: memory) {
      let other = try Self.open(memory, checkpoints: .automatic)
      try other.table("u").add(["n": 200])
      try other.close()
    }
    let store = try Self.open(disk, checkpoints: .automatic)
    try store.table("t").add(["n": 201])
    if closes { try store.close() } else { try store.checkpoint() }
    #expect(try Self.open(memory).pendingCommits().isEmpty)
    try store.checkInvariants()
  }

  // MARK: The next journal

  /// A table in conflict does not make the journal grow, whatever is written to the others.
  @Test func conflictKeepsNoOtherCommits() throws {
    let memory = try Self.prepared()
    let store = try Self.open(memory, keptJournal: 4_000)
    try store.table("t").set(["n": 7], of: 3)
    let text = String(decoding: try memory.read(Self.file).bytes, as: UTF8.self)
    _ = try memory.replace(Self.file, with: Array(text.replacing("<integer>2<", with: "<integer>22<").utf8))
    let waiting = try store.pendingCommits().map(\.number)
    let atOnce = try Self.open(MemoryDisk(memory.image))
    try atOnce.repair("t", keeping: .both)
    let other = try Self.open(memory, keptJournal: 4_000)
    let count = 4 * TestLength.commits
    for number in 1...count {
      try (number % 7 == 0 ? other : store).table("u").set(["n": .integer(Int64(number))], of: 1)
      guard number % 20 == 0 else { continue }
      #expect(storeError { try (number % 40 == 0 ? store : other).checkpoint() }?.code == .conflict)
      let scan = JournalScan(try memory.read("/store/.filedb/journal").bytes, at: 0, after: nil)
      #expect(scan.end < 16_000 && scan.frames.last?.frame.sequence == UInt64(5 + number))
    }
    let fresh = try Self.open(memory)
    #expect(try fresh.pendingCommits().map(\.number) == waiting)
    #expect(try fresh.table("u").record(with: 1)["n"]?.integer == Int64(count))
    try fresh.repair("t", keeping: .both)
    #expect(try Self.contents(fresh)[0] == Self.contents(atOnce)[0])
    for store in [fresh, store, other] {
      try store.refresh()
      #expect(try Self.contents(store) == Self.contents(fresh))
      try store.checkInvariants()
    }
    try fresh.checkNothingIsLeftBehind()
  }

  /// A checkpoint of a large table dies before each call, and small tables begin other journals. An editor may have saved
  /// the file before.
  @Test(arguments: [false, true]) func unfinishedCheckpointIsKnownToTheNextJournals(isEdited: Bool) throws {
    func open(_ disk: any Disk) throws -> RecordStore {
      var options = StoreOptions(lockTimeout: .zero, checkpoints: .manual)
      (options.largeFile, options.keptJournal) = (1_000, 0)
      return try RecordStore(at: Self.place, disk: disk, options: options)
    }
    var isLeftInConflict = false
    for number in 0... {
      let memory = try Self.prepared(recordCount: 40)
      if isEdited {
        let text = String(decoding: try memory.read(Self.file).bytes, as: UTF8.self)
        _ = try memory.replace(
          Self.file, with: Array(text.replacing("<integer>33<", with: "<integer>333<").utf8))
        try Self.open(memory).table("t").add(["n": 101])
      }
      let expected = try Self.contents(Self.open(memory))[0]
      let disk = FaultyDisk(over: memory, faults: .fail(at: number, lasting: true))
      try? open(disk).checkpoint()
      if disk.verbs.count <= number { break }
      for round in 1...3 {
        let store = try open(memory)
        try store.table("u").add(["n": .integer(Int64(round))])
        try store.checkpointTablesThatAreDue()
        do {
          #expect(try Self.contents(open(memory))[0] == expected, "call \(number), round \(round)")
        } catch StoreError.Code.conflict { isLeftInConflict = true }
      }
      let store = try open(memory)
      try store.table("t").add(["n": 102])
      try store.checkpoint()
      #expect(try Self.open(memory).table("t").count == (isEdited ? 42 : 41))
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
    #expect(!isLeftInConflict)
  }
}
