import FileDBPlist
import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Tables whose files are read in pieces.
@Suite struct TableReadingTests {
  private static var inPieces: StoreOptions {
    var options = StoreOptions()
    options.reading = .pieces { fatalError("\($0)") }
    options.leastUnread = 1
    return options
  }

  private final class Count: Sendable {
    let number = Mutex(0)
  }

  /// Counts how often the table's file is read as a whole.
  private func disk(countingReads count: Count) -> FaultyDisk {
    FaultyDisk(
      over: SystemDisk(),
      faults: .choose { verb, path in
        if verb == .read, path.hasSuffix("/t.plist") { count.number.withLock { $0 += 1 } }
        return nil
      })
  }

  @Test(arguments: [0, 1, 191, 192, 193, 1_000])
  func offsetsOfWriterAndScannerAreTheSame(count: Int64) throws {
    let records = (0..<count).map {
      EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: ["n": .integer($0)])
    }
    let state = TableState(
      counter: 2_000, records: records.shuffled(), foreignKeys: ["a": 1, "data2": ["x"], "z": "last"])
    var bytes: [UInt8] = []
    let written = TableFile.encode(state) { bytes += $0 }
    let scanned = try #require(CanonicalTable.decode(bytes)?.offsets)
    #expect(written == scanned)
    let stamp = FileStamp(device: 1, inode: 2, size: bytes.count, modified: -3, changed: 4, isSettled: true)
    let known = KnownOffsets(stamp: stamp, version: FileVersion(bytes), offsets: written)
    #expect(known.bytes.flatMap { KnownOffsets($0, for: stamp) } == (count == 0 ? nil : known))
    let pieces = count == 0 ? [] : written.rest(fileSize: bytes.count).map { Array(bytes[$0]) }
    let rest = CanonicalTable.decode(rest: pieces, limits: PlistLimits())
    #expect(rest?.counter == (count == 0 ? nil : 2_000))
    #expect(rest?.foreignKeys == (count == 0 ? nil : state.foreignKeys))
  }

  @Test func damagedOffsetsAreNone() throws {
    let state = TableState(counter: 1, records: [EncodedRecord(id: 1, fields: [:])], foreignKeys: [:])
    let offsets = TableFile.encode(state) { _ in }
    let stamp = FileStamp(device: 1, inode: 2, size: 999, modified: 4, changed: 5, isSettled: true)
    let known = KnownOffsets(stamp: stamp, version: .file(size: 999, checksum: 9), offsets: offsets)
    let bytes = try #require(known.bytes)
    #expect(KnownOffsets(bytes, for: stamp) == known)
    for count in 0..<bytes.count { #expect(KnownOffsets(Array(bytes.prefix(count)), for: stamp) == nil) }
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x40
      #expect(KnownOffsets(changed, for: stamp) == nil)
    }
  }

  /// Otherwise a command might give the id of a record again.
  @Test func fileWhoseCounterIsTooLowHasNoOffsets() throws {
    let records = (1...3).map { EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: [:]) }
    let text = String(
      decoding: TableFile.encode(TableState(counter: 3, records: records, foreignKeys: [:])), as: UTF8.self)
    let low = text.replacing("autoincrement</key>\n\t<string>3<", with: "autoincrement</key>\n\t<string>2<")
    #expect(low != text)
    let read = try #require(CanonicalTable.decode(Array(low.utf8)))
    #expect(read.offsets == nil && read.state.counter == 3)
  }

  @Test func recordsAreFoundInPiecesOfTheFile() throws {
    try withTemporaryFolder { folder in
      let writer = try RecordStore(at: folder)
      let ids = try writer.table("t").add(contentsOf: (0..<5_000).map { ["n": .integer($0)] })
      try writer.table("t").move(ids[4_000], to: .top)
      try writer.close()
      // As if another program had written the file.
      let offsets = folder.appendingPathComponent(".filedb/offsets")
      try FileManager.default.removeItem(at: offsets)
      // A reader notes where the records are, once the file's time is in the past.
      while !FileManager.default.fileExists(atPath: offsets.path) {
        try expectRecords(of: RecordStore(at: folder, options: Self.inPieces), moved: ids[4_000])
      }
      let whole = Count()
      let reader = try RecordStore(at: folder, disk: disk(countingReads: whole), options: Self.inPieces)
      try expectRecords(of: reader, moved: ids[4_000])
      #expect(whole.number.withLock { $0 } == 0)
      try reader.checkInvariants()
    }
  }

  private func expectRecords(of store: RecordStore, moved: RecordID<Fields>) throws {
    let snapshot = try store.table("t").snapshot()
    #expect(snapshot.count == 5_000 && snapshot.counter == 5_000 && snapshot[0].id == moved)
    #expect(try snapshot.record(with: 2_501).fields == ["n": 2_500])
    #expect(snapshot.index(of: moved) == 0 && snapshot.index(of: 5_001) == nil)
    #expect(snapshot.index(of: 5_000) == 4_999)
  }

  @Test func checkpointNotesOffsets() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: Self.inPieces)
      try store.table("t").add(contentsOf: (0..<1_000).map { ["n": .integer($0)] })
      try store.close()
      let whole = Count()
      let reader = try RecordStore(at: folder, disk: disk(countingReads: whole), options: Self.inPieces)
      #expect(try reader.table("t").value(of: 700) == ["n": 699])
      #expect(whole.number.withLock { $0 } == 0)
      try reader.checkInvariants()
    }
  }

  @Test func fileThatAnEditorSavedIsReadAnew() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: Self.inPieces)
      try store.table("t").add(contentsOf: (0..<1_000).map { ["n": .integer($0)] })
      try store.close()
      let file = try store.url(of: "t")
      let text = try String(contentsOf: file, encoding: .utf8)
      let edited = text.replacing("<integer>699<", with: "<integer>-99<")
      try FileHandle(forWritingTo: file).write(contentsOf: Data(edited.utf8))  // In place.
      let reader = try RecordStore(at: folder, options: Self.inPieces)
      #expect(try reader.table("t").value(of: 700) == ["n": -99])
      try reader.checkInvariants()
    }
  }

  @Test func unreadSnapshotStaysWhenFileDBReplacesTheFile() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: Self.inPieces)
      try store.table("t").add(contentsOf: (0..<5_000).map { ["n": .integer($0)] })
      try store.close()
      let reader = try RecordStore(at: folder, options: Self.inPieces)
      let before = try reader.table("t").snapshot()
      let writer = try RecordStore(at: folder)
      try writer.table("t").updateAll { $0["n"] = -1 }
      try writer.close()
      #expect(before.map { $0.fields["n"] } == (0..<5_000).map { .integer($0) })
      #expect(try reader.table("t").snapshot().allSatisfy { $0.fields["n"] == -1 })
      try reader.checkInvariants()
    }
  }

  /// In a separate process, which ends.
  @Test func fileThatIsWrittenIntoWhileItIsReadEndsTheProgram() async throws {
    await #expect(processExitsWith: .exitCode(75)) {
      try withTemporaryFolder { folder in
        var options = StoreOptions()
        options.reading = .pieces { error in
          exit(error.code == .locked && error.message.contains("try again") ? 75 : 1)
        }
        options.leastUnread = 1
        let store = try RecordStore(at: folder, options: options)
        try store.table("t").add(contentsOf: (0..<5_000).map { ["n": .integer($0)] })
        try store.close()
        let snapshot = try RecordStore(at: folder, options: options).table("t").snapshot()
        _ = snapshot[0].fields
        try FileHandle(forWritingTo: store.url(of: "t")).write(contentsOf: Data("<?xml".utf8))
        _ = snapshot[4_000].fields
      }
    }
  }
}
