import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Adding a record to a large table does not rewrite its file.
@Suite struct LargeFileTests {
  private static let place = URL(fileURLWithPath: "/store")

  /// Files of 10 kB are large.
  private static func open(_ disk: any Disk, shortJournal: Int = 1 << 20) throws -> RecordStore {
    var options = StoreOptions()
    options.largeFile = 10_000
    options.shortJournal = shortJournal
    options.checkpointPause = .seconds(3_600)
    return try RecordStore(at: place, disk: disk, options: options)
  }

  private static func records(_ count: Int) -> [Fields] {
    (0..<count).map { ["n": .integer(Int64($0)), "text": "one of many records"] }
  }

  /// A store with a large table and a small one.
  private static func makeStore(on disk: any Disk) throws {
    let store = try open(disk)
    try store.table("large").add(contentsOf: records(200))
    try store.table("small").add(["n": 1])
    try store.checkpoint()
    try store.close()
  }

  /// What distinguishes a table's file from another one.
  private static func file(_ table: String, _ disk: MemoryDisk) -> FileVersion? {
    disk.image.files["/store/\(table).plist"].map { FileVersion($0) }
  }

  @Test func aFewCommitsLeaveALargeFileAlone() throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    let (large, small) = (Self.file("large", disk), Self.file("small", disk))
    var store = try Self.open(disk)
    try store.table("large").add(["n": 1_000])
    try store.table("small").add(["n": 2])
    try store.table("large").add(["n": 1_001])
    #expect(try store.table("large").commitsBehind == 2 && store.table("small").commitsBehind == 1)
    try store.close()
    #expect(Self.file("large", disk) == large && Self.file("small", disk) != small)
    store = try Self.open(disk)
    #expect(try store.table("large").count == 202 && store.table("small").count == 2)
    #expect(try store.table("large").commitsBehind == 2 && store.table("small").commitsBehind == 0)
    try store.checkpoint()
    #expect(Self.file("large", disk) != large)
    #expect(try store.table("large").commitsBehind == 0)
    try store.checkInvariants()
  }

  @Test func commitsOfAnEighthOfItsSizeAreWrittenIntoALargeFile() throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    let large = Self.file("large", disk)
    let store = try Self.open(disk)
    try store.table("large").add(contentsOf: Self.records(60))
    try store.close()
    #expect(Self.file("large", disk) != large)
    #expect(try store.table("large").commitsBehind == 0)
    try store.checkInvariants()
  }

  /// Otherwise each command would read the whole file to carry out the commit.
  @Test(arguments: ["sort", "delete", "move"])
  func commitThatConcernsManyRecordsIsWrittenIntoALargeFile(verb: String) throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    let large = Self.file("large", disk)
    let store = try Self.open(disk)
    let table = try store.table("large")
    switch verb {
    case "sort": try table.sort(by: [.descending("n")])
    case "delete": try table.delete(table.snapshot().ids.prefix(100))
    default: try table.move(table.snapshot().ids.suffix(100), to: .top)
    }
    try store.close()
    #expect(Self.file("large", disk) != large)
    #expect(try store.table("large").commitsBehind == 0)
    try store.checkInvariants()
  }

  @Test func aLargeTableThatIsDroppedLosesItsFile() throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    let store = try Self.open(disk)
    try store.table("large").drop()
    try store.close()
    #expect(Self.file("large", disk) == nil)
    try store.checkInvariants()
  }

  /// The journal stays, and with it the commits of the small table, which are in the file as well.
  @Test func aJournalWithManyWaitingCommitsIsNotCopied() throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    let large = Self.file("large", disk)
    for number in 2...4 {
      let store = try Self.open(disk, shortJournal: 0)
      let journal = try store.disk.status("/store/.filedb/journal")?.stamp.inode
      try store.table("large").add(contentsOf: Self.records(5))
      try store.table("small").add(["n": .integer(Int64(number))])
      try store.close()
      #expect(try store.disk.status("/store/.filedb/journal")?.stamp.inode == journal)
      let again = try Self.open(disk)
      #expect(try again.table("large").count == 195 + 5 * number && again.table("small").count == number)
      #expect(Self.file("large", disk) == large)
      #expect(try again.table("small").commitsBehind == 0)
      try again.checkInvariants()
    }
  }

  /// Fifty commands add a record each when the limit is reached. One of them writes the file for the others.
  @Test func commandsOverTheLimitWriteALargeFileOnce() throws {
    let memory = MemoryDisk()
    try Self.makeStore(on: memory)
    let size = try #require(memory.image.files["/store/large.plist"]).count
    try Self.open(memory).table("large").add(contentsOf: Self.records(20))
    let drafts = Atomic<Int>(0)
    let disk = FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        if verb == .create, path.hasPrefix("/store/.large.plist") { drafts.add(1, ordering: .relaxed) }
        return nil
      })
    let ends = (0..<50).map { number in
      startThread("command \(number)") {
        do {
          let store = try Self.open(disk)
          try store.table("large").add(["n": .integer(Int64(number))])
          try store.close()
        } catch { Issue.record(error) }
      }
    }
    for end in ends { try end.wait() }
    #expect((1...3).contains(drafts.load(ordering: .relaxed)))
    #expect(disk.written[.append, default: []].reduce(0, +) < 4 * size)
    let store = try Self.open(memory)
    #expect(try store.table("large").count == 270)
    try store.checkInvariants()
  }

  /// Commits of an editor's save and of the store wait together.
  @Test func anEditorMaySaveALargeFileThatWaits() throws {
    let disk = MemoryDisk()
    try Self.makeStore(on: disk)
    try Self.open(disk).table("large").set(["n": 1_000], of: 1)
    let text = String(decoding: try #require(disk.image.files["/store/large.plist"]), as: UTF8.self)
    let edited = text.replacing("<integer>77</integer>", with: "<integer>7777</integer>")
    _ = try disk.replace("/store/large.plist", with: Array(edited.utf8))
    let store = try Self.open(disk)
    let table = try store.table("large")
    #expect(try table.record(with: 1)["n"]?.integer == 1_000)
    #expect(try table.snapshot().contains { $0["n"]?.integer == 7_777 })
    try store.table("small").add(["n": 2])
    try store.close()
    #expect(try Self.open(disk).table("large").record(with: 1)["n"]?.integer == 1_000)
    try store.checkInvariants()
  }
}
