import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Files that editors, merge tools and sync services make beside a table's file.
@Suite struct StrayFileTests {
  private static let copies = [
    "todo.plist~", "todo.plist.~1~", "#todo.plist#", "todo.plist.bak", "todo.plist.orig", "todo.plist.rej",
    "todo.plist.tmp", "todo.plist.BACKUP.1234", "todo.plist 2", "todo~", "todo.bak", "todo.orig",
    "todo.sync-conflict-20261101-120000-ABCDEFG.plist", "todo.sync-conflict-20261101-120000-ABCDEFG",
    "todo (Ann's conflicted copy 2026-11-01).plist", "todo (conflicted copy 2026-11-01 120000).plist",
    "todo (SFConflict ann@example.com 2026-11-01-12-00-00).plist", "todo (Case Conflict 1).plist",
    "todo.plist (SFConflict 2026-11-01-12-00-00)",
  ]
  private static let tables = [
    "todo.plist", "todo", "todo 2.plist", "todo (1).plist", "todo~.plist", "todo.bak.plist",
    "todo.orig.plist", "#todo",
    "conflicted copy.plist", "(conflict).plist", "todo (conflict).plist", "~.plist", "to.plisten.plist", "~",
    // A mark makes it another character, but not another byte.
    "todo~\u{301}", "e\u{301}.plist",
  ]

  private static let text =
    "<?xml version=\"1.0\"?><plist><dict><key>autoincrement</key><string>0</string><key>data</key><array/><key>index</key><dict/></dict></plist>"

  @Test(arguments: copies) func copyIsNoTable(file: String) throws {
    let disk = MemoryDisk(.store(["other.plist": Self.text, file: Self.text]))
    let folder = StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk))
    #expect(try folder.tableNames() == ["other"])
    #expect(try folder.strayFiles().map(\.file) == [file])
  }

  @Test(arguments: tables) func otherNamesAreTables(file: String) throws {
    let disk = MemoryDisk(.store([file: Self.text]))
    let folder = StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk))
    let name = file.hasSuffix(".plist") ? String(file.dropLast(6)) : file
    #expect(try folder.tableNames().map { Array($0.utf8) } == [Array(name.utf8)])
    #expect(try folder.strayFiles().isEmpty)
  }

  @Test func fileThatIsNoPropertyListIsNotMentioned() throws {
    let disk = MemoryDisk(.store(["todo.plist": Self.text, "notes.txt~": "text", "todo.rej": "@@ -1 +1 @@"]))
    #expect(try StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk)).strayFiles().isEmpty)
  }

  @Test func tableWithTheNameOfACopyIsNotMade() throws {
    let store = RecordStore.inMemory()
    for file in Self.copies where file.hasSuffix(".plist") {
      let error = storeError { try store.table(String(file.dropLast(6))).add(["n": 1]) }
      #expect(error?.code == .invalidTableName && error?.message.contains("copy") == true, "\(file)")
    }
    for name in ["todo 2", "todo~", "todo (1)"] { try store.table(name).add(["n": 1]) }
    #expect(try store.tableNames == ["todo (1)", "todo 2", "todo~"])
    try store.checkInvariants()
  }

  /// A copy that somebody opened by its path comes back with an undo, and its counter is kept.
  @Test func whatIsDoneToACopyCanBeUndone() throws {
    let disk = MemoryDisk(.store(["todo.plist": Self.text, "todo (conflicted copy 2026).plist": Self.text]))
    let folder = URL(fileURLWithPath: CrashWorkload.storeFolder)
    let store = try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
    let name = "todo (conflicted copy 2026)"
    try store.undoLog.write { tx in try tx[name].add(["n": 1]) }
    try store.undoLog.write { tx in try tx[name].drop() }
    try store.undoLog.undo()
    #expect(try store.table(name).count == 1)
    try store.undoLog.redo()
    let copy = RecordStore.inMemory()
    try copy.write { tx in
      for (table, counter) in try store.droppedCounters { try tx.keepCounter(counter, ofDropped: table) }
    }
    try store.checkInvariants()
  }
}
