import FileDBEssentials
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// A sync service brings another machine's journal at the worst moment: while this machine writes to its own.
@Suite struct ReplacedJournalTests {
  private static let journal = "/store/.filedb/journal"

  private static func open(_ disk: any Disk, keptJournal: Int? = nil) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    if let keptJournal { options.keptJournal = keptJournal }
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  /// Two machines with the same table and journal. In the other machine's journal, one commit more waits.
  private static func machines() throws -> (disk: MemoryDisk, othersJournal: [UInt8]) {
    let (disk, other) = (MemoryDisk(machine: "0000000a"), MemoryDisk(machine: "0000000b"))
    for disk in [disk, other] {
      let store = try open(disk)
      try store.table("todo").add(["title": "milk"])
      try store.checkpoint()
    }
    let file = try disk.read("/store/todo.plist").bytes
    _ = try other.replace("/store/todo.plist", with: file)
    try open(other).table("todo").add(["title": "theirs"])
    return (disk, try other.read(journal).bytes)
  }

  /// Runs `action` right before the call of the given kind with this number.
  private static func disk(
    over base: MemoryDisk, before verb: FaultyDisk.Verb, number: Int = 1,
    _ action: @escaping @Sendable () throws -> Void
  ) -> FaultyDisk {
    let rest = Mutex(number)
    return FaultyDisk(over: base) { _, next in
      guard next == verb else { return }
      let isTime = rest.withLock { rest in
        rest -= 1
        return rest == 0
      }
      if isTime { #expect(throws: Never.self) { try action() } }
    }
  }

  private static func titles(_ store: RecordStore) throws -> [String] {
    try store.table("todo").snapshot().compactMap { $0["title"]?.string }
  }

  /// Whenever the journal comes, the commit is in the store or in a copy of the journal.
  @Test(arguments: [FaultyDisk.Verb.writeAt, .syncData])
  func commitIsKept(verb: FaultyDisk.Verb) throws {
    let (base, theirs) = try Self.machines()
    let disk = Self.disk(over: base, before: verb) {
      _ = try base.replace(Self.journal, with: theirs)
    }
    try Self.open(disk).table("todo").add(["title": "ours"])
    let store = try Self.open(base)
    try store.merge(store.conflictCopies)
    #expect(try Self.titles(store).sorted() == ["milk", "ours", "theirs"])
    try store.checkInvariants()
  }

  @Test func commitIsKeptIfTheJournalHasNotArrivedAsAWhole() throws {
    let (base, theirs) = try Self.machines()
    let disk = Self.disk(over: base, before: .syncData) {
      _ = try base.replace(Self.journal, with: Array(theirs.prefix(100)))
    }
    try Self.open(disk).table("todo").add(["title": "ours"])
    _ = try base.replace(Self.journal, with: theirs)
    let store = try Self.open(base)
    #expect(try store.conflictCopies.count == 1)
    try store.merge(store.conflictCopies)
    #expect(try Self.titles(store).sorted() == ["milk", "ours", "theirs"])
  }

  /// The other machine's journal has later commits, so this machine's next one looks as after a checkpoint.
  @Test func commitIsKeptIfTheOtherJournalIsTakenOverAtOnce() throws {
    let (base, _) = try Self.machines()
    let other = MemoryDisk(machine: "0000000b")
    for (path, bytes) in base.image.files {
      try other.createFolder(parentFolder(of: path))
      _ = try other.replace(path, with: bytes)
    }
    let theirs = try Self.open(other, keptJournal: 0)
    try theirs.table("todo").add(["title": "theirs"])
    try theirs.table("todo").add(["title": "theirs, too"])
    try theirs.checkpoint()
    let writer = Mutex<RecordStore?>(nil)
    let disk = Self.disk(over: base, before: .syncData) {
      for path in [Self.journal, "/store/todo.plist"] {
        _ = try base.replace(path, with: other.read(path).bytes)
      }
      _ = try writer.withLock(\.self)?.table("todo").count
      try Self.open(base).table("todo").add(["title": "of another process"])
    }
    let store = try Self.open(disk)
    writer.withLock { $0 = store }
    try store.table("todo").add(["title": "ours"])
    let anew = try Self.open(base)
    try anew.merge(anew.conflictCopies)
    #expect(
      try Self.titles(anew).sorted() == ["milk", "of another process", "ours", "theirs", "theirs, too"])
    try anew.checkInvariants()
  }

  /// A service with versions moves the file away before it renames another one.
  @Test func commitIsKeptIfTheJournalIsMovedAway() throws {
    let (base, theirs) = try Self.machines()
    let disk = Self.disk(over: base, before: .syncData) {
      try base.makeFolder("/store/.versions")
      try base.rename(Self.journal, to: "/store/.versions/journal")
      _ = try base.replace(Self.journal, with: theirs)
    }
    try Self.open(disk).table("todo").add(["title": "ours"])
    let store = try Self.open(base)
    try store.merge(store.conflictCopies)
    #expect(try Self.titles(store).sorted() == ["milk", "ours", "theirs"])
  }

  /// The service itself has kept the file under another name.
  @Test func journalIsKeptOnce() throws {
    let (base, theirs) = try Self.machines()
    let disk = Self.disk(over: base, before: .syncData) {
      try base.rename(Self.journal, to: "\(Self.journal).sync-conflict-20261101-120000-ABCDEFG")
      _ = try base.replace(Self.journal, with: theirs)
    }
    try Self.open(disk).table("todo").add(["title": "ours"])
    #expect(try Self.open(base).conflictCopies.count == 1)
  }

  /// Another process of this machine began the next journal, and its own checkpoint wrote the commit into the file.
  @Test func nothingIsKeptAfterACheckpoint() throws {
    let (base, _) = try Self.machines()
    let disk = Self.disk(over: base, before: .syncData) {
      let other = try Self.open(base, keptJournal: 0)
      try other.table("todo").add(["title": "of another process"])
      try other.checkpoint()
    }
    try Self.open(disk).table("todo").add(["title": "ours"])
    let store = try Self.open(base)
    #expect(try base.list("/store/.filedb").filter { $0.hasPrefix("journal") } == ["journal"])
    #expect(try Self.titles(store).sorted() == ["milk", "of another process", "ours"])
  }

  /// A checkpoint begins another journal, but does not put it over one that has just come.
  @Test(arguments: 1...2) func journalThatComesStays(number: Int) throws {
    let (base, theirs) = try Self.machines()
    let disk = FaultyDisk(over: base)
    let arriving = Self.disk(over: base, before: .exchange, number: number) {
      _ = try base.replace(Self.journal, with: theirs)
    }
    try Self.open(disk, keptJournal: 0).table("todo").add(["title": "ours"])
    try Self.open(arriving, keptJournal: 0).checkpoint()
    let store = try Self.open(base)
    do { try store.checkpoint() } catch StoreError.Code.conflict { try store.repair("todo", keeping: .both) }
    #expect(try Self.titles(store).sorted() == ["milk", "ours", "theirs"])
    try store.checkInvariants()
  }

  @Test func journalThatIsWrittenInPlaceIsNoticed() throws {
    let (base, theirs) = try Self.machines()
    let store = try Self.open(base)
    #expect(try Self.titles(store) == ["milk"])
    try base.open(Self.journal).write(theirs, at: 0)
    #expect(try Self.titles(store).sorted() == ["milk", "theirs"])
    try store.table("todo").add(["title": "ours"])
    #expect(try Self.titles(Self.open(base)).sorted() == ["milk", "ours", "theirs"])
    try store.checkInvariants()
  }

  /// A crash came between the exchange of the names and the look at the journal that was replaced.
  @Test(arguments: [("0000000a", 0), ("0000000b", 1)])
  func journalLeftByACrashIsKeptIfItIsAnothers(machine: String, copies: Int) throws {
    let (base, theirs) = try Self.machines()
    let left = machine == "0000000a" ? try base.read(Self.journal).bytes : theirs
    _ = try base.replace("/store/.filedb/.journal.1.filedb-swap", with: left)
    let store = try Self.open(base)
    try store.table("todo").add(["title": "ours"])
    try store.checkpoint()
    #expect(try base.list("/store/.filedb").filter { $0.hasSuffix("-swap") } == [])
    #expect(try store.conflictCopies.count == copies)
  }
}
