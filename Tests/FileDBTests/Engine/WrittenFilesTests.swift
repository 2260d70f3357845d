import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// What a checkpoint notes in the journal, and how the next process uses it.
@Suite struct WrittenFilesTests {
  private static let journal = "/store/.filedb/journal"
  private static let file = "/store/t.plist"

  private func open(_ disk: any Disk, keptJournal: Int? = nil) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    if let keptJournal { options.keptJournal = keptJournal }
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  /// What `filedb add` does.
  private func add(_ number: Int64, on disk: any Disk, keptJournal: Int? = nil) throws {
    let store = try open(disk, keptJournal: keptJournal)
    try store.table("t").add(["n": .integer(number)])
    try store.checkpoint()
  }

  /// The syncs that a process makes.
  private func syncs(on memory: MemoryDisk, _ body: (any Disk) throws -> Void) throws -> Int {
    let disk = FaultyDisk(over: memory)
    try body(disk)
    return disk.verbs.count { [.sync, .syncData, .syncFolder].contains($0) }
  }

  private func kinds(on disk: MemoryDisk) throws -> [JournalFrame.Kind] {
    JournalScan(try disk.read(Self.journal).bytes, at: 0, after: nil).frames.map(\.frame.kind)
  }

  @Test func aProcessThatAddsARecordMakesFiveSyncs() throws {
    let disk = MemoryDisk()
    try add(1, on: disk)
    for number in 2...20 { #expect(try syncs(on: disk) { try add(Int64(number), on: $0) } == 5) }
    #expect(try open(disk).table("t").count == 20)
    // Replacing the journal takes two more.
    #expect(try syncs(on: disk) { try add(21, on: $0, keptJournal: 0) } == 7)
    #expect(try syncs(on: disk) { try add(22, on: $0) } == 5)
    try open(disk).checkInvariants()
  }

  @Test func theJournalGoesOnUntilItIsLong() throws {
    let disk = MemoryDisk()
    try add(1, on: disk)
    let inode = try disk.status(Self.journal)?.stamp.inode
    #expect(try kinds(on: disk) == [.start, .commit, .checkpoint, .written])
    try add(2, on: disk)
    #expect(
      try kinds(on: disk) == [.start] + Array(repeating: [.commit, .checkpoint, .written], count: 2).joined())
    #expect(try disk.status(Self.journal)?.stamp.inode == inode)
    let store = try open(disk)
    try store.table("t").add(["text": .string(String(repeating: "long ", count: 15_000))])
    try store.checkpoint()
    #expect(try disk.status(Self.journal)?.stamp.inode != inode)
    #expect(try kinds(on: disk) == [.start, .written, .written])
    #expect(try store.pendingCommits().isEmpty)
    try store.checkInvariants()
  }

  /// Another program may have left a file that is not on the medium, though it is the very bytes that a checkpoint
  /// wrote.
  @Test(arguments: [file, journal]) func aCopyIsSynced(path: String) throws {
    let disk = MemoryDisk()
    try add(1, on: disk)
    try disk.rename(path, to: path + "~")
    let copy = try disk.create(path, as: .usual)
    try copy.append(disk.read(path + "~").bytes)
    // The folder's name, and for a table the file's bytes.
    #expect(try syncs(on: disk) { try add(2, on: $0) } == (path == Self.file ? 7 : 6))
    #expect(try syncs(on: disk) { try add(3, on: $0) } == 5)
    try open(disk).checkInvariants()
  }

  @Test func whatIsSavedAfterACheckpointMeetsNoCommits() throws {
    let disk = MemoryDisk()
    try add(1, on: disk)
    let old = try disk.read(Self.file).bytes
    try add(2, on: disk)
    let other = try open(disk)
    #expect(try other.table("t").count == 2)
    // An editor that restored the first version.
    _ = try disk.replace(Self.file, with: old)
    #expect(try open(disk).table("t").count == 1)
    try other.refresh()
    #expect(try other.table("t").count == 1)
    try add(3, on: disk)
    try other.refresh()
    #expect(try other.table("t").count == 2)
    try other.checkInvariants()
  }

  @Test func readersFollowOverCheckpointsOfOthers() throws {
    let disk = MemoryDisk()
    let (store, reader) = (try open(disk), try open(disk))
    for number in 1...30 {
      try store.write { tx in
        if number % 7 == 0 { try tx["t"].drop() }
        try tx["t"].add(["n": .integer(Int64(number))], at: .top)
        if number % 5 == 0 { try tx["u"].add([:]) }
      }
      if number % 3 == 0 { try store.checkpoint() }
      if number % 4 == 0 { try reader.refresh() }
      if number % 11 == 0 { try reader.table("t").delete(#require(reader.table("t").lastSnapshot.ids.last)) }
      try store.refresh()
    }
    try reader.refresh()
    #expect(try reader.table("t").lastSnapshot.ids == store.table("t").lastSnapshot.ids)
    #expect(try reader.table("t").lastSnapshot.counter == store.table("t").lastSnapshot.counter)
    for store in [store, reader] { try store.checkInvariants() }
  }

  @Test func commitsOfATableThatWaitsAreCarriedFromItsLastCheckpoint() throws {
    let disk = MemoryDisk()
    var options = StoreOptions(checkpoints: .manual)
    (options.largeFile, options.keptJournal) = (10_000, 1 << 20)
    let place = URL(fileURLWithPath: "/store")
    var store = try RecordStore(at: place, disk: disk, options: options)
    try store.table("large").add(contentsOf: (0..<200).map { ["n": .integer($0), "text": "one of many"] })
    try store.checkpoint()
    try store.table("large").add(["n": 200])
    options.keptJournal = 0
    store = try RecordStore(at: place, disk: disk, options: options)
    try store.table("t").add(["n": 1])
    try store.checkpointTablesThatAreDue()
    #expect(try kinds(on: disk) == [.start, .written, .commit, .commit, .written])
    let again = try open(disk)
    #expect(try again.table("large").count == 201 && again.table("large").commitsBehind == 1)
    #expect(try again.table("t").count == 1 && again.table("t").commitsBehind == 0)
    try again.checkInvariants()
  }

  /// A file cannot include commits that are not there, nor fewer than before.
  @Test(arguments: ["file t 5:00000000 through 9", "file t 5:00000000 through 1"])
  func impossibleNumbersAreDamage(line: String) throws {
    let disk = MemoryDisk()
    for number in 1...2 { try add(Int64(number), on: disk) }
    let log = FileLog(StoreFolder(path: "/store", disk: StoreDisk(disk)), options: StoreOptions())
    let journal = try log.whileLocked(timeout: .zero) {
      try log.writeFrame(.written, Array("\(line)\n".utf8))
    }
    #expect(journal.sequence == 2)
    let error = storeError { _ = try open(disk).table("t") }
    #expect(error?.code == .damagedJournal && error?.message.contains("includes") == true)
    #expect(error?.file == Self.journal)
    #expect(try open(disk).checkJournal()?.error.code == .damagedJournal)
  }

  @Test func payloadIsReadAsItWasWritten() throws {
    let files: [TableKey: WrittenFiles.File] = [
      TableKey("a table"): .init(
        known: .init(
          version: .file(size: 12, checksum: 0xAB), through: 4,
          identity: .init(inode: 7, modified: 1_700_000_000_000_000_000))),
      TableKey("gone"): .init(known: .init(version: .absent, through: 5), isSaved: true),
    ]
    for written in [
      WrittenFiles(files: files, journal: 9), WrittenFiles(files: files), WrittenFiles(journal: 9),
    ] {
      #expect(try WrittenFiles(payload: written.payload[...], sequence: 9) == written)
    }
    let text = String(decoding: WrittenFiles(files: files, journal: 9).payload, as: UTF8.self)
    #expect(
      text == """
        journal 9
        file a%20table 12:000000ab through 4 inode 7 modified 1700000000000000000
        file gone absent through 5 saved

        """)
    for length in 1..<text.utf8.count where Array(text.utf8)[length - 1] != UInt8(ascii: "\n") {
      #expect(throws: PayloadFault.self) {
        try WrittenFiles(payload: Array(text.utf8)[..<length], sequence: 9)
      }
    }
  }
}
