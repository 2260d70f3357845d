import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// A sync service brings another machine's journal at the worst moment: while this machine writes to its own.
@Suite struct ReplacedJournalTests {
  private static let journal = "/store/.filedb/journal"

  private static func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
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

  /// Another process of this machine began the next journal, and its own checkpoint wrote the commit into the file.
  @Test func nothingIsKeptAfterACheckpoint() throws {
    let (base, _) = try Self.machines()
    let disk = Self.disk(over: base, before: .syncData) {
      let other = try RecordStore(
        at: URL(fileURLWithPath: "/store"), disk: base,
        options: {
          var options = StoreOptions(checkpoints: .manual)
          options.keptJournal = 0
          return options
        }())
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
    var options = StoreOptions(checkpoints: .manual)
    options.keptJournal = 0
    let url = URL(fileURLWithPath: "/store")
    try RecordStore(at: url, disk: disk, options: options).table("todo").add(["title": "ours"])
    try RecordStore(at: url, disk: arriving, options: options).checkpoint()
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
  func journalLeftByACrashIsKeptIfItIsAnothers(machine: String, backups: Int) throws {
    let (base, theirs) = try Self.machines()
    let left = machine == "0000000a" ? try base.read(Self.journal).bytes : theirs
    _ = try base.replace("/store/.filedb/.journal.1.filedb-swap", with: left)
    let store = try Self.open(base)
    try store.table("todo").add(["title": "ours"])
    try store.checkpoint()
    #expect(try base.list("/store/.filedb").filter { $0.hasSuffix("-swap") } == [])
    let kept = (try? base.list("/store/.filedb/backups")) ?? []
    #expect(kept.count == backups)
  }
}
