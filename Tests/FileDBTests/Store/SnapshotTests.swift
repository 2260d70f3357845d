import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A snapshot shows what others did before it was taken, without a refresh.
@Suite struct SnapshotTests {
  private static let options = StoreOptions(checkpoints: .manual)
  private static let folder = URL(fileURLWithPath: "/store")

  private static func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(at: folder, disk: disk, options: options)
  }

  @Test func snapshotShowsCommitsOfAnotherStore() throws {
    let disk = MemoryDisk()
    let (mine, other) = (try Self.open(disk), try Self.open(disk))
    let table = try mine.table("t")
    #expect(try !table.exists)
    let id = try other.table("t").add(["n": 1])
    #expect(try table.snapshot().ids == [id])
    #expect(try table.count == 1 && table.exists && table.counter == 1)
    try other.table("t").set(["n": 2], of: id)
    #expect(try table.record(with: id)["n"]?.integer == 2)
    try other.table("t").set(["n": 3], of: id)
    #expect(try table.value(of: id)["n"]?.integer == 3)
    try other.checkpoint()
    try other.table("t").delete(id)
    #expect(try table.snapshot().isEmpty)
    try mine.checkInvariants()
  }

  @Test func openingATableShowsCommitsOfAnotherStore() throws {
    let disk = MemoryDisk()
    let (mine, other) = (try Self.open(disk), try Self.open(disk))
    #expect(try mine.table("t").lastSnapshot.isEmpty)
    try other.table("t").add(["n": 1])
    #expect(try mine.table("t").lastSnapshot.count == 1)
    try mine.checkInvariants()
  }

  @Test func lastSnapshotIsWhatThisStoreTookInLast() throws {
    let disk = MemoryDisk()
    let (mine, other) = (try Self.open(disk), try Self.open(disk))
    let table = try mine.table("t")
    try other.table("t").add(["n": 1])
    #expect(table.lastSnapshot.isEmpty)
    let before = try table.snapshot()
    #expect(table.lastSnapshot.ids == before.ids && before.count == 1)
    try table.add(["n": 2])
    #expect(table.lastSnapshot.count == 2 && before.count == 1)
    try mine.checkInvariants()
  }

  @Test func snapshotShowsWhatAnotherProgramSaved() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      try table.add(["n": 41])
      try store.checkpoint()
      let text = try String(contentsOf: file, encoding: .utf8)
      try text.replacing(">41<", with: ">42<").write(to: file, atomically: true, encoding: .utf8)
      #expect(try table.snapshot().map { $0["n"]?.integer } == [42])
      try "<plist><dict>".write(to: file, atomically: true, encoding: .utf8)
      #expect(storeError { _ = try table.snapshot() }?.code == .damagedTable)
      #expect(storeError { _ = try table.count }?.code == .damagedTable)
      #expect(table.lastSnapshot.map { $0["n"]?.integer } == [42])
      try text.write(to: file, atomically: true, encoding: .utf8)
      #expect(try table.snapshot().map { $0["n"]?.integer } == [41])
      try store.checkInvariants()
    }
  }

  @Test func secondFileOfATableIsAnErrorAtOnce() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: Self.options)
      let table = try store.table("t")
      try table.add(["n": 1])
      try store.checkpoint()
      try table.add(["n": 2])
      let second = folder.appendingPathComponent("t")
      try FileManager.default.copyItem(at: folder.appendingPathComponent("t.plist"), to: second)
      #expect(storeError { _ = try table.snapshot() }?.code == .ambiguousTable)
      #expect(storeError { try table.add(["n": 3]) }?.code == .ambiguousTable)
      #expect(table.lastSnapshot.count == 2)
      try FileManager.default.removeItem(at: second)
      #expect(try table.snapshot().count == 2)
      try store.checkInvariants()
    }
  }

  @Test func snapshotShowsTheAttachedStoreAsItIsNow() throws {
    let disk = MemoryDisk()
    let shipped = try RecordStore(at: URL(fileURLWithPath: "/shipped"), disk: disk, options: Self.options)
    try shipped.table("foods").add(["name": "Apple"])
    let view = AttachedTables(over: try AttachedStore(shipped.reopened(), as: "main"))
    let store = try RecordStore(at: Self.folder, disk: StoreDisk(disk), seen: view, options: Self.options)
    let (foods, main) = (try store.table("foods"), try store.table("main.foods"))
    try shipped.table("foods").add(["name": "Pear"])
    #expect(try foods.count == 2 && main.count == 2)
    try foods.delete(1)
    try shipped.table("foods").add(["name": "Plum"])
    #expect(try foods.snapshot().map { $0["name"]?.string } == ["Pear", "Plum"])
    try store.checkInvariants()
  }

  @Test func snapshotInsideAWriteIsTheTransactions() throws {
    let store = try Self.open(MemoryDisk())
    let table = try store.table("t")
    try store.write { tx in
      #expect(table.lastSnapshot.isEmpty)
      try tx[table.name].add(["n": 1])
      #expect(try table.count == 1)
      #expect(table.lastSnapshot.count == 1)
    }
    try store.checkInvariants()
  }

  /// If nothing has changed, only the journal's first line and that of a possible next frame are read. A snapshot looks at
  /// which file the journal is, and at the status of the table's two possible names.
  @Test func snapshotWithoutNewsReadsNoMoreThanTwoLines() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    let store = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    let table = try store.table("t")
    try table.add(contentsOf: [["n": 1], ["n": 2]])
    try store.checkpoint()
    let before = try table.snapshot()
    let earlier = disk.verbs.count
    #expect(try table.snapshot().ids == before.ids)
    #expect(disk.verbs.dropFirst(earlier) == [.extent, .readAt, .readAt, .status, .status])
    try store.checkInvariants()
  }

  /// The open journal no longer has its name, but is unchanged.
  @Test(arguments: [CheckpointPolicy.manual, .everyCommit])
  func snapshotShowsAStoreThatTookThePlace(checkpoints: CheckpointPolicy) throws {
    try withTemporaryFolder { folder in
      let (place, other) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      let options = StoreOptions(checkpoints: checkpoints)
      let store = try RecordStore(at: place, options: options)
      let table = try store.table("t")
      try table.add(["n": 1])
      try RecordStore(at: other, options: options).table("t").add(contentsOf: [["n": 2], ["n": 3]])
      if checkpoints == .everyCommit { _ = try settledStamp(of: table.url.path) }
      #expect(try table.count == 1)
      try FileManager.default.moveItem(at: place, to: folder.appendingPathComponent("c"))
      try FileManager.default.moveItem(at: other, to: place)
      #expect(try table.count == 2)
      try store.checkInvariants()
    }
  }
}
