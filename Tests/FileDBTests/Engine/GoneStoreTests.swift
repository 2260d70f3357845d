import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Somebody moves or removes the folder of an open store.
@Suite struct GoneStoreTests {
  enum Loss: CaseIterable {
    case folder, ownFolder
  }

  @Test(arguments: Loss.allCases, [CheckpointPolicy.manual, .everyCommit])
  func nothingIsMadeAnewAndNothingKnownIsLost(_ loss: Loss, checkpoints: CheckpointPolicy) throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      let store = try RecordStore(at: url, options: StoreOptions(checkpoints: checkpoints))
      let table = try store.table("t")
      for n in Int64(1)...3 { try table.add(["n": .integer(n)]) }
      let lost = loss == .folder ? url : url.appendingPathComponent(".filedb")
      let away = folder.appendingPathComponent("away")
      try FileManager.default.moveItem(at: lost, to: away)

      for _ in 1...2 {
        #expect(storeError { try table.add(["n": 4]) }?.code == .storeGone)
        #expect(storeError { _ = try store.write { tx in try tx["u"].add(["n": 1]) } }?.code == .storeGone)
        #expect(storeError { try store.checkpoint() }?.code == .storeGone)
      }
      #expect(!FileManager.default.fileExists(atPath: lost.path))
      #expect(table.lastSnapshot.ids == [1, 2, 3])
      let saved = folder.appendingPathComponent("saved.plist")
      try table.lastSnapshot.write(to: saved)
      #expect(try TableSnapshot<Fields>(contentsOf: saved).ids == [1, 2, 3])

      // Once it is back, the store goes on.
      try FileManager.default.moveItem(at: away, to: lost)
      #expect(try table.add(["n": 4]) == 4)
      try store.refresh()
      try store.checkInvariants()
    }
  }

  @Test func folderThatWasOnlyReadIsNotMadeAnew() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      try TableSnapshot<Fields>(bytes: Array(Self.table.utf8), name: "t").write(
        to: url.appendingPathComponent("t.plist"))
      let store = try RecordStore(at: url)
      #expect(try store.table("t").count == 0)
      try FileManager.default.removeItem(at: url)
      #expect(storeError { try store.table("t").add(["n": 1]) }?.code == .storeGone)
      #expect(!FileManager.default.fileExists(atPath: url.path))
    }
  }

  private static let table = """
    <plist version="1.0"><dict><key>autoincrement</key><string>7</string><key>data</key><array/><key>index</key><dict/></dict></plist>
    """
}
