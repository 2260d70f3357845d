import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// If a user may not read one of the tables, `.filedb` is closed to that user.
@Suite struct StoreFolderModeTests {
  @Test(
    arguments: [
      ([0o644, 0o600], 0o700), ([0o664, 0o640], 0o750), ([0o664, 0o660], 0o770), ([0o644, 0o444], 0o755),
      ([0o666, 0o666], 0o775),
    ] as [([UInt32], UInt32)])
  func ownFolderHasTheModeThatTheTablesHaveInCommon(tables: [UInt32], common: UInt32) throws {
    try withTemporaryFolder { folder in
      try #require(chmod(folder.path, 0o775) == 0)
      try makeTables(tables, in: folder)
      let store = try open(folder)
      try store.table("t0").add(["n": 1])
      try store.repairJournal()
      try checkModes(common, in: folder)
      try store.checkpoint()
      try checkModes(common, in: folder)
      try store.checkInvariants()
    }
  }

  @Test func tableThatBecomesPrivateMakesTheJournalPrivate() throws {
    try withTemporaryFolder { folder in
      try #require(chmod(folder.path, 0o755) == 0)
      try makeTables([0o644, 0o644], in: folder)
      let store = try open(folder)
      try store.table("t0").add(["n": 1])
      try checkModes(0o755, in: folder)
      try #require(chmod(folder.appendingPathComponent("t1.plist").path, 0o600) == 0)
      try store.table("t1").add(["secret": 1])
      try store.table("t1").add(["secret": 2])
      try checkModes(0o700, in: folder)
      // Its records are still in the journal. So only the user opens the folder again.
      try #require(chmod(folder.appendingPathComponent("t1.plist").path, 0o644) == 0)
      try open(folder).table("t0").add(["n": 2])
      try checkModes(0o700, in: folder)
      try #require(chmod(folder.appendingPathComponent(".filedb").path, 0o755) == 0)
      try open(folder).table("t0").add(["n": 3])
      try checkModes(0o755, in: folder)
      try store.refresh()
      try store.checkInvariants()
    }
  }

  @Test func storeWithoutTablesKeepsTheModeOfNewFolders() throws {
    try withTemporaryFolder { folder in
      try #require(chmod(folder.path, 0o777) == 0)
      let store = try open(folder.appendingPathComponent("store"))
      try store.table("t").add(["n": 1])
      let own = folder.appendingPathComponent("store/.filedb").path
      let plain = folder.appendingPathComponent("plain").path
      try #require(mkdir(plain, 0o777) == 0)
      #expect(try mode(own) == mode(plain))
    }
  }

  @Test func errorOfAStoreThatATableClosesNamesTheTable() throws {
    try withTemporaryFolder { folder in
      try #require(chmod(folder.path, 0o770) == 0)
      try makeTables([0o660, 0o600], in: folder)
      let disk = FaultyDisk(over: SystemDisk(), faults: .refuse(.lock, errno: EACCES))
      let own = StoreFolder(path: folder.path, disk: StoreDisk(disk))
      let error = try #require(storeError { _ = try own.lock(timeout: .zero) })
      #expect(error.code == .permissionDenied)
      let file = folder.appendingPathComponent("t1.plist").path
      #expect(error.message.contains("chmod g+rwX '\(file)' '\(folder.path)/.filedb',"), "\(error)")
    }
  }

  private func makeTables(_ modes: [UInt32], in folder: URL) throws {
    for (number, mode) in modes.enumerated() {
      let file = folder.appendingPathComponent("t\(number).plist").path
      try Data(emptyTable.utf8).write(to: URL(fileURLWithPath: file))
      try #require(chmod(file, mode_t(mode)) == 0)
    }
  }

  private func checkModes(_ common: UInt32, in folder: URL) throws {
    let own = folder.appendingPathComponent(".filedb").path
    #expect(try mode(own) == common)
    for name in try SystemDisk().list(own) {
      let path = "\(own)/\(name)"
      let isFolder = try SystemDisk().status(path)?.kind == .folder
      #expect(try mode(path) == (isFolder ? common : common & 0o666), "\(name)")
    }
  }

  private func mode(_ path: String) throws -> UInt32 { try #require(SystemDisk().status(path)?.mode) & 0o777 }

  private func open(_ folder: URL) throws -> RecordStore {
    try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
  }

  private let emptyTable = """
    <plist version="1.0"><dict><key>autoincrement</key><string>0</string><key>data</key><array/><key>index</key><dict/></dict></plist>
    """
}
