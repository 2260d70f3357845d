import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Files that editors, merge tools and sync services make beside a table's file.
@Suite struct TableCopyTests {
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
    #expect(try folder.copies().map(\.file) == [file])
  }

  @Test(arguments: tables) func otherNamesAreTables(file: String) throws {
    let disk = MemoryDisk(.store([file: Self.text]))
    let folder = StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk))
    let name = file.hasSuffix(".plist") ? String(file.dropLast(6)) : file
    #expect(try folder.tableNames().map { Array($0.utf8) } == [Array(name.utf8)])
    #expect(try folder.copies().isEmpty)
  }

  @Test func fileThatIsNoPropertyListIsNotMentioned() throws {
    let disk = MemoryDisk(.store(["todo.plist": Self.text, "notes.txt~": "text", "todo.rej": "@@ -1 +1 @@"]))
    #expect(try StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk)).copies().isEmpty)
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

  /// iCloud Drive keeps a small file with another name until somebody opens the table's file.
  @Test func nothingIsMadeInPlaceOfAFileThatIsNotDownloaded() throws {
    let disk = MemoryDisk(.store(["there.plist": Self.text, ".todo.plist.icloud": "bplist00"]))
    let store = try RecordStore(
      at: URL(fileURLWithPath: CrashWorkload.storeFolder), disk: disk,
      options: StoreOptions(checkpoints: .manual))
    #expect(try store.tableNames == ["there", "todo"])
    let errors = [
      storeError { _ = try store.table("todo").snapshot() },
      storeError { try store.table("todo").add(["n": 1]) },
    ]
    #expect(errors.allSatisfy { $0?.code == .notDownloaded && $0?.message.contains("iCloud Drive") == true })
    try store.table("there").add(["n": 1])
    try store.checkpoint()
    _ = try disk.replace("\(CrashWorkload.storeFolder)/todo.plist", with: Array(Self.text.utf8))
    try disk.remove("\(CrashWorkload.storeFolder)/.todo.plist.icloud")
    try store.table("todo").add(["n": 1])
    try store.checkInvariants()
  }
}
