import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

extension StoreOptions {
  /// As a command opens a store, but for tables of any size.
  static var inPieces: StoreOptions {
    var options = StoreOptions()
    options.reading = .pieces { fatalError("\($0)") }
    options.leastUnread = 1
    options.largeFile = 1  // So that no automatic checkpoint reads all records.
    return options
  }
}

/// What changes many records of a table that is read in pieces. It must not search for each of them in the file again.
@Suite struct WholeTableReadsTests {
  enum Change: CaseIterable {
    case set, unset, updateAll, convertField, renameField, removeField
    case deleteHalf, moveHalf, moveToIndex, duplicateHalf, sort, truncate, drop, addAbove

    func make(in tx: inout StoreTransaction) throws {
      let table = try tx["goods"]
      let ids = try table.snapshot().ids
      let half = ids.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      switch self {
      case .set: try table.set(["number": -1], of: ids)
      case .unset: try table.unset(["number"], of: ids)
      case .updateAll: try table.updateAll { $0["number"] = 0 }
      case .deleteHalf: try table.delete(half)
      case .moveHalf: try table.move(half, to: .top)
      case .moveToIndex: try table.move(half, to: .index(100))
      case .duplicateHalf: try table.duplicate(half)
      case .sort: try table.sort(by: [.ascending("number")])
      case .renameField: try table.renameField("number", to: "count")
      case .removeField: try table.removeField("number")
      case .convertField:
        try table.convertField(declaring: FieldSchema("number", type: .string)) { .string("\($0)") }
      case .truncate: try table.truncate()
      case .drop: try table.drop()
      case .addAbove: try table.add(contentsOf: (0..<2_000).map { ["number": .integer($0)] }, at: .top)
      }
    }
  }

  @Test(arguments: Change.allCases)
  func changeItsUndoAndItsRedoReadTheFileAFewTimes(_ change: Change) throws {
    try withTemporaryFolder { folder in
      let made = try RecordStore(at: folder, options: .inPieces)
      try made.table("goods").add(contentsOf: (0..<10_000).map { ["number": .integer($0 * 7_919 % 10_007)] })
      try made.close()
      let file = folder.appendingPathComponent("goods.plist")
      let size = try #require(file.resourceValues(forKeys: [.fileSizeKey]).fileSize)
      let before = try contents(folder)

      func expectFewReads(_ body: (RecordStore) throws -> Void) throws {
        let wholeReads = Mutex(0)
        let disk = FaultyDisk(
          over: SystemDisk(),
          faults: .choose { verb, path in
            if verb == .read, path.hasSuffix("goods.plist") { wholeReads.withLock { $0 += 1 } }
            return nil
          })
        let store = try RecordStore(at: folder, disk: disk, options: .inPieces)
        try body(store)
        try store.close()
        let read = disk.bytesReadInPieces["goods.plist", default: 0] + wholeReads.withLock { $0 } * size
        #expect((read > 0 || change == .drop) && read < 5 * size, "\(Double(read) / Double(size)) times")
        try RecordStore(at: folder).checkpoint()
      }
      try expectFewReads { store in try store.undoLog.write { tx in try change.make(in: &tx) } }
      let after = try contents(folder)
      try expectFewReads { _ = try #require(try $0.undoLog.undo()) }
      #expect(try contents(folder) == before)
      try expectFewReads { _ = try #require(try $0.undoLog.redo()) }
      #expect(try contents(folder) == after)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func contents(_ folder: URL) throws -> TablesContent {
    try TablesContent(RecordStore(at: folder), ["goods"])
  }
}
