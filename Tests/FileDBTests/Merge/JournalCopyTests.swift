import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Copies that a sync service has kept of the journal are merged into the tables for which commits wait in them.
@Suite struct JournalCopyTests {
  private static let copy = "/store/.filedb/journal.sync-conflict-20261101-120000-ABCDEFG"

  /// A store with three records, and a copy of the journal in which the commits of `theirs` wait. Neither the journal nor
  /// the files have them.
  private func withCopy(
    theirs: (RecordStore) throws -> Void, ours: (RecordStore) throws -> Void = { _ in },
    _ body: (RecordStore) throws -> Void
  ) throws {
    let disk = MemoryDisk()
    func open() throws -> RecordStore {
      try RecordStore(
        at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    }
    let store = try open()
    try store.table("todo").add(contentsOf: ["milk", "rent", "Ann"].map(Self.entry))
    try store.checkpoint()
    let journal = try disk.read("/store/.filedb/journal").bytes
    try theirs(store)
    _ = try disk.replace(Self.copy, with: disk.read("/store/.filedb/journal").bytes)
    _ = try disk.replace("/store/.filedb/journal", with: journal)
    let here = try open()
    try ours(here)
    try body(here)
    try here.checkInvariants()
  }

  private static func entry(_ title: String) -> Fields {
    ["title": .string(title), "note": .string("about \(title)"), "place": .string("the shelf of \(title)")]
  }

  private func titles(_ store: RecordStore, _ table: String = "todo") throws -> [String] {
    try store.table(table).snapshot().map { "\($0.id) \($0["title"]?.string ?? "")" }
  }

  private let changes: (RecordStore) throws -> Void = { store in
    try store.table("todo").add(Self.entry("bread"), at: .top)
    try store.table("todo").set(["title": "the rent"], of: 2)
    try store.table("todo").delete(3)
  }

  @Test func waitingCommitsAreMerged() throws {
    try withCopy(theirs: changes) { store in
      #expect(try titles(store) == ["1 milk", "2 rent", "3 Ann"])
      let copies = try store.conflictCopies
      #expect(copies.map(\.table) == ["todo"] && copies.map(\.url.path) == [Self.copy])
      #expect(copies.map(\.kind) == ["Syncthing's copy of a conflict"])
      let (merges, entry) = try store.undoLog.merge(copies)
      // Perhaps this machine has undone the edit or the deletion.
      #expect(try titles(store) == ["4 bread", "1 milk", "2 rent", "3 Ann"])
      let merge = try #require(merges.first)
      #expect(merge.added == [4] && merge.changed == [] && merge.removed == [])
      #expect(merge.conflicts.map(\.record) == [2])
      #expect(try store.conflictCopies.isEmpty)
      #expect(merge.backup?.path.hasPrefix("/store/.filedb/backups/") == true)
      try store.undoLog.undo(#require(entry).id)
      #expect(try titles(store) == ["1 milk", "2 rent", "3 Ann"])
    }
  }

  @Test func commitsOfBothMachinesAreKept() throws {
    try withCopy(theirs: changes) { store in
      try store.table("todo").add(Self.entry("tea"), at: .bottom)
      try store.table("todo").set(["title": "Anna"], of: 3)
    } _: { store in
      let merge = try #require(try store.merge(store.conflictCopies).first)
      #expect(try titles(store) == ["5 bread", "1 milk", "2 rent", "3 Anna", "4 tea"])
      #expect(merge.renumbered.map(\.oldID) == [4] && merge.renumbered.map(\.newID) == [5])
      #expect(merge.conflicts.map(\.record) == [2])
    }
  }

  /// The file has been saved since, so nobody can tell what it has of the commits.
  @Test func commitsThatDoNotFitTheFileAreMergedToo() throws {
    try withCopy(theirs: changes) { store in
      try store.table("todo").set(["title": "tall rent"], of: 2)
      try store.checkpoint()
    } _: { store in
      let merge = try #require(try store.merge(store.conflictCopies).first)
      #expect(try titles(store).sorted() == ["1 milk", "2 tall rent", "3 Ann", "4 bread"])
      #expect(merge.conflicts.map(\.record) == [2])
      #expect(try store.conflictCopies.isEmpty)
      try store.checkpoint()
    }
  }

  @Test func newTableIsMadeWithItsSchema() throws {
    try withCopy { store in
      try store.write { transaction in
        let more = try transaction["more"]
        try more.create()
        try more.declare(TableSchema(fields: [FieldSchema("title", type: .string, isRequired: true)]))
        try more.add(["title": "new"])
        try transaction["todo"].add(Self.entry("bread"))
      }
    } _: { store in
      #expect(try store.conflictCopies.map(\.table) == ["more", "todo"])
      let merges = try store.merge(store.conflictCopies)
      #expect(merges.count == 2 && merges[0].backup != nil && merges[0].backup == merges[1].backup)
      #expect(merges[0].otherKeys == [])
      #expect(try titles(store, "more") == ["1 new"])
      #expect(try store.table("more").snapshot().schema?.fields.map(\.name) == ["title"])
      #expect(try titles(store) == ["1 milk", "2 rent", "3 Ann", "4 bread"])
    }
  }

  @Test func copyStaysUntilAllItsTablesAreMerged() throws {
    try withCopy { store in
      try store.table("todo").add(Self.entry("bread"))
      try store.table("more").add(["title": "new"])
    } _: { store in
      let copies = try store.conflictCopies
      #expect(copies.map(\.table) == ["more", "todo"])
      let first = try #require(try store.merge([copies[0]]).first)
      #expect(first.hasBroughtChanges && first.backup == nil)
      #expect(try store.conflictCopies.count == 2)
      let both = try store.merge(store.conflictCopies)
      #expect(both.allSatisfy { $0.backup != nil })
      #expect(try titles(store).last == "4 bread")
      #expect(try titles(store, "more") == ["1 new"])
    }
  }

  @Test func mergingAgainAddsNothing() throws {
    try withCopy(theirs: changes) { store in
      try store.table("todo").add(Self.entry("tea"))
      try store.checkpoint()
    } _: { store in
      let bytes = try store.disk.read(Self.copy).bytes
      for _ in 0..<3 {
        try store.merge(store.conflictCopies)
        _ = try store.disk.replace(Self.copy, with: bytes)  // The service brings it back.
      }
      #expect(try titles(store).sorted() == ["1 milk", "2 rent", "3 Ann", "4 tea", "5 bread"])
    }
  }

  /// An order of a customer to whom both machines gave the same id as to another one.
  @Test func referencesFollow() throws {
    try withCopy { store in
      try store.write { transaction in
        let orders = try transaction["orders"]
        try orders.create()
        let rule = FieldSchema("of", type: .integer, references: ReferenceRule("todo"))
        try orders.declare(TableSchema(fields: [rule]))
        try transaction["todo"].add(Self.entry("Bob"))
        try orders.add(["of": 4])
      }
    } ours: { store in
      try store.table("todo").add(["title": "Local", "kind": "another"])
      try store.checkpoint()
    } _: { store in
      try store.merge(store.conflictCopies)
      #expect(try titles(store).sorted() == ["1 milk", "2 rent", "3 Ann", "4 Local", "5 Bob"])
      #expect(try store.table("orders").snapshot().map { $0["of"] } == [5])
    }
  }

  @Test(arguments: ["journal 2", "journal (1)", "journal (conflicted copy 2026-11-01 120000)"])
  func copiesOfOtherServicesAreFound(name: String) throws {
    try withCopy(theirs: changes) { store in
      let bytes = try store.disk.read(Self.copy).bytes
      try store.disk.remove(Self.copy)
      #expect(try store.conflictCopies.isEmpty)
      _ = try store.disk.replace("/store/.filedb/\(name)", with: bytes)
      #expect(try store.conflictCopies.map(\.url.lastPathComponent) == [name])
    }
  }

  @Test(arguments: [
    ("records-1abc", true), ("records-0000000a-1abc", true), ("records-/a-1", false),
    ("records-../a-1", false),
    ("records-0000000A-1", false), ("records-a-1", false), ("records-", false),
    ("records-0000000a-1-1", false),
  ])
  func nameOfAFileOfRecordsIsNoPath(name: String, isOne: Bool) {
    #expect(StoreFolder.isRecordsName(name) == isOne)
  }

  /// One of the tables has everything already.
  @Test func copyIsMovedIfOneTableHasNews() throws {
    try withCopy { store in
      try store.table("todo").add(Self.entry("bread"))
      try store.table("more").add(["title": "new"])
    } ours: { store in
      try store.table("more").add(["title": "new"])
      try store.checkpoint()
    } _: { store in
      try store.merge(store.conflictCopies)
      #expect(try store.conflictCopies.isEmpty)
      #expect(try titles(store).last == "4 bread")
      #expect(try titles(store, "more") == ["1 new"])
    }
  }

  @Test func copyWithoutNewsStays() throws {
    try withCopy { store in
      try store.table("todo").add(Self.entry("bread"))
    } ours: { store in
      try store.table("todo").add(Self.entry("bread"))
      try store.checkpoint()
    } _: { store in
      let merge = try #require(try store.merge(store.conflictCopies).first)
      #expect(!merge.hasBroughtChanges && merge.backup == nil)
      #expect(try store.conflictCopies.count == 1)
      #expect(try titles(store).count == 4)
    }
  }

  @Test func droppedTableStays() throws {
    try withCopy { store in
      try store.table("todo").drop()
    } _: { store in
      let error = storeError { _ = try store.merge(store.conflictCopies) }
      #expect(error?.code == .conflict && error?.file == Self.copy && error?.table == "todo")
      let titles = try titles(store)
      #expect(titles.count == 3)
    }
  }

  @Test func halfACopyIsAnError() throws {
    try withCopy(theirs: changes) { store in
      let bytes = try store.disk.read(Self.copy).bytes
      _ = try store.disk.replace(Self.copy, with: Array(bytes.prefix(bytes.count / 2)))
      #expect(try store.conflictCopies.isEmpty)
      let journal = try #require(try store.journalCopies.first)
      let fault = storeError { _ = try journal.tables }
      #expect(fault?.code == .damagedJournal)
      _ = try store.disk.replace(Self.copy, with: bytes)
      #expect(try store.conflictCopies.count == 1)
    }
  }

  // MARK: - Files of records

  private static func open(_ disk: MemoryDisk) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 300
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  private static func recordsFiles(_ disk: MemoryDisk) throws -> [String] {
    try disk.list("/store/.filedb").filter { $0.hasPrefix("records-") }
  }

  /// A disk with all files of another one.
  private static func synced(from other: MemoryDisk, machine: String) throws -> MemoryDisk {
    let disk = MemoryDisk(machine: machine)
    for (path, bytes) in other.image.files {
      try disk.createFolder(parentFolder(of: path))
      _ = try disk.replace(path, with: bytes)
    }
    return disk
  }

  @Test func recordsOfAnotherMachineGetASecondName() throws {
    let there = MemoryDisk(machine: "0000000a")
    let many = (1...9).map { ["title": .string("record \($0)")] as Fields }
    try Self.open(there).table("todo").add(contentsOf: many)
    let theirs = try Self.recordsFiles(there)
    #expect(theirs.count == 1 && theirs[0].hasPrefix("records-0000000a-"))
    let here = try Self.synced(from: there, machine: "0000000b")
    try Self.open(here).table("todo").add(["title": "x"])
    // The other machine has made a checkpoint, and the service removes what it has removed.
    try here.remove("/store/.filedb/\(theirs[0])")
    let store = try Self.open(here)
    #expect(try store.table("todo").snapshot().count == 10)
    try store.checkInvariants()
    try store.checkNothingIsLeftBehind()
  }

  @Test func recordsOfAnotherMachineAreNotRemoved() throws {
    let there = MemoryDisk(machine: "0000000a")
    try Self.open(there).table("todo").add(contentsOf: (1...9).map { ["title": .string("record \($0)")] })
    let here = MemoryDisk(machine: "0000000b")
    try Self.open(here).table("other").add(["title": "x"])
    // The file arrives, and the journal does not yet.
    let name = try Self.recordsFiles(there)[0]
    _ = try here.replace("/store/.filedb/\(name)", with: there.read("/store/.filedb/\(name)").bytes)
    try Self.open(here).checkpoint()
    #expect(try Self.recordsFiles(here) == [name])
  }

  /// A crash left the journal that the service brought under the name of a swap file. No machine is in the file's name.
  @Test func recordsOfAJournalInASwapFileAreKept() throws {
    let (here, other) = (MemoryDisk(machine: nil), MemoryDisk(machine: nil))
    try Self.open(here).table("other").add(["title": "x"])
    try Self.open(other).table("todo").add(contentsOf: (1...9).map { ["title": .string("record \($0)")] })
    let records = try Self.recordsFiles(other)[0]
    for (name, source) in [(records, records), (".journal.1.filedb-swap", "journal")] {
      _ = try here.replace("/store/.filedb/\(name)", with: other.read("/store/.filedb/\(source)").bytes)
    }
    let store = try Self.open(here)
    try store.checkpoint()
    #expect(try Self.recordsFiles(here).isEmpty)
    #expect(try here.list("/store/.filedb/backups") == [records])
    let copy = try #require(try store.journalCopies.first)
    #expect(try copy.tables.count == 1)
    try store.checkInvariants()
  }

  /// The service has replaced the journal, and the copy of it arrives later.
  @Test func recordsOfTheReplacedJournalAreKept() throws {
    let (here, there) = (MemoryDisk(machine: "0000000a"), MemoryDisk(machine: "0000000b"))
    try Self.open(here).table("todo").add(contentsOf: (1...9).map { ["title": .string("record \($0)")] })
    try Self.open(there).table("other").add(["title": "x"])
    let journal = try here.read("/store/.filedb/journal").bytes
    _ = try here.replace("/store/.filedb/journal", with: there.read("/store/.filedb/journal").bytes)
    let store = try Self.open(here)
    try store.table("other").add(["title": "y"])
    try store.checkpoint()
    _ = try here.replace(Self.copy, with: journal)
    try store.merge(store.conflictCopies)
    #expect(try store.table("todo").snapshot().count == 9)
    #expect(try store.table("other").snapshot().count == 2)
    try store.checkInvariants()
  }
}
