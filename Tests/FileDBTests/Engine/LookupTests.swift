import FileDBPlist
import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Lookups that are kept next to the offsets of tables that are read in pieces.
@Suite struct LookupTests {
  private static let inPieces = StoreOptions.inPieces

  /// Nothing but a journal may be read as a whole.
  private func disk() -> FaultyDisk {
    FaultyDisk(
      over: SystemDisk(),
      faults: .choose { verb, path in
        if verb == .read, path.hasSuffix(".plist") { Issue.record("\(path) is read as a whole") }
        return nil
      })
  }

  private func openStore(in folder: URL) throws -> RecordStore {
    try RecordStore(at: folder, disk: SystemDisk(), options: Self.inPieces)
  }

  /// 53 chunks of goods, a hundred of each kind.
  private func makeTables(in folder: URL) throws {
    let store = try openStore(in: folder)
    try store.table("kinds").declare(
      TableSchema(fields: [FieldSchema("code", isRequired: true, isUnique: true)]))
    try store.table("kinds").add(contentsOf: (0..<10_000).map { ["code": .string("k\($0)")] })
    try store.table("goods").declare(
      TableSchema(
        fields: [
          FieldSchema("number", type: .integer, isUnique: true),
          FieldSchema("kind", references: ReferenceRule("kinds", field: "code")), FieldSchema("place"),
        ], unique: [["kind", "place"]]))
    try store.table("goods").add(
      contentsOf: (0..<10_000).map {
        ["number": .integer($0), "kind": .string("k\($0 / 100)"), "place": .integer($0)]
      })
    try store.close()
  }

  @Test func writesReadTheRecordsThatTheyNeedAlone() throws {
    try withTemporaryFolder { folder in
      try makeTables(in: folder)
      func expectFewReads(_ body: (RecordStore) throws -> Void) throws {
        let disk = disk()
        try body(RecordStore(at: folder, disk: disk, options: Self.inPieces))
        let read = disk.bytesReadInPieces
        for table in ["kinds", "goods"] {
          let file = folder.appendingPathComponent("\(table).plist")
          let size = try #require(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize)
          #expect(read["\(table).plist", default: 0] < size / 3, "\(table), \(size): \(read)")
        }
      }
      try expectFewReads { try $0.table("goods").add(["number": -1, "kind": "k5", "place": -1]) }
      // The commits in the journal count, too.
      try expectFewReads { store in
        let goods = try store.table("goods")
        #expect(storeError { try goods.add(["number": -1]) }?.code == .notUnique)
        #expect(storeError { try goods.add(["number": 7_000]) }?.message.contains("record 7001") == true)
        #expect(storeError { try goods.add(["kind": "k5", "place": 505]) }?.code == .notUnique)
        #expect(storeError { try goods.add(["kind": "k10000"]) }?.code == .missingReference)
        try goods.set(["number": -2], of: 7_001)
        try goods.add(["number": 7_000])
        try goods.delete(7_001)
      }
      try expectFewReads { store in
        let goods = try store.table("goods")
        #expect(storeError { try goods.add(["number": 7_000]) }?.message.contains("record 10002") == true)
        try goods.add(["number": -2, "kind": "k9999"])
        let kinds = try store.table("kinds")
        #expect(storeError { try kinds.delete(51) }?.code == .stillReferenced)
        #expect(storeError { try kinds.delete(10_000) }?.code == .stillReferenced)
        try kinds.delete(9_999)
      }
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func lookupIsMadeWhereThereIsNone() throws {
    try withTemporaryFolder { folder in
      try makeTables(in: folder)
      let offsets = folder.appendingPathComponent(".filedb/offsets")
      func lookups() throws -> Set<String> {
        Set(
          try FileManager.default.contentsOfDirectory(atPath: offsets.path).filter { $0.hasSuffix(".lookup") }
        )
      }
      let all = try lookups()
      #expect(all.count == 4)
      for name in all { try FileManager.default.removeItem(at: offsets.appendingPathComponent(name)) }
      #expect(storeError { try openStore(in: folder).table("goods").add(["number": 3]) }?.code == .notUnique)
      #expect(try lookups().count == 1)
      let disk = disk()
      let again = try RecordStore(at: folder, disk: disk, options: Self.inPieces)
      #expect(storeError { try again.table("goods").add(["number": 3]) }?.code == .notUnique)
      #expect(disk.bytesReadInPieces["goods.plist", default: 0] < 200_000)
      // They are removed together with their table's file.
      let store = try openStore(in: folder)
      try store.table("goods").drop()
      try store.checkpoint()
      #expect(try lookups().allSatisfy { $0.hasPrefix("kinds.") })
      try store.checkInvariants()
    }
  }

  @Test func lookupOfAnotherFileDoesNotCount() throws {
    try withTemporaryFolder { folder in
      try makeTables(in: folder)
      let offsets = folder.appendingPathComponent(".filedb/offsets")
      let former = folder.appendingPathComponent("former")
      try FileManager.default.copyItem(at: offsets, to: former)
      do {
        let store = try openStore(in: folder)
        try store.table("goods").set(["number": -3], of: 5_000)
        try store.checkpoint()
      }
      for name in try FileManager.default.contentsOfDirectory(atPath: former.path)
      where name.hasSuffix(".lookup") {
        try FileManager.default.removeItem(at: offsets.appendingPathComponent(name))
        try FileManager.default.copyItem(
          at: former.appendingPathComponent(name), to: offsets.appendingPathComponent(name))
      }
      #expect(storeError { try openStore(in: folder).table("goods").add(["number": -3]) }?.code == .notUnique)
      // An editor saves another file.
      let file = try openStore(in: folder).url(of: "goods")
      let edited = try String(contentsOf: file, encoding: .utf8).replacing(
        "<integer>-3<", with: "<integer>-4<")
      try edited.write(to: file, atomically: true, encoding: .utf8)
      for _ in 0..<2 {
        #expect(
          storeError { try openStore(in: folder).table("goods").add(["number": -4]) }?.code == .notUnique)
        _ = try settledStamp(of: file.path)
      }
      try openStore(in: folder).table("goods").add(["number": -3])
      try openStore(in: folder).checkInvariants()
    }
  }

  @Test func damagedLookupLetsNoDuplicatePass() throws {
    try withTemporaryFolder { folder in
      do {
        let store = try openStore(in: folder)
        try store.table("t").declare(TableSchema(fields: [FieldSchema("n", isUnique: true)]))
        try store.table("t").add(contentsOf: (0..<4).map { ["n": .integer($0)] })
        try store.close()
      }
      let offsets = folder.appendingPathComponent(".filedb/offsets")
      let names = try FileManager.default.contentsOfDirectory(atPath: offsets.path)
      let file = offsets.appendingPathComponent(try #require(names.first { $0.hasSuffix(".lookup") }))
      let sound = [UInt8](try Data(contentsOf: file))
      func check(_ bytes: [UInt8], _ comment: Comment) throws {
        try Data(bytes).write(to: file)
        for number: Int64 in 0..<4 {
          let error = storeError { try openStore(in: folder).table("t").add(["n": .integer(number)]) }
          #expect(error?.code == .notUnique, comment)
        }
        // A damaged lookup is made again.
        #expect([UInt8](try Data(contentsOf: file)).count == sound.count, comment)
      }
      for index in sound.indices {
        var bytes = sound
        bytes[index] ^= 0x10
        try check(bytes, "byte \(index)")
      }
      for count in [0, 8, 15, 16, 17, sound.count / 2, sound.count - 53, sound.count - 1] {
        try check(Array(sound.prefix(count)), "\(count) bytes")
      }
      try openStore(in: folder).checkInvariants()
    }
  }

  /// The record itself decides.
  @Test func recordsWithOneHashAreToldApart() throws {
    try withTemporaryFolder { folder in
      do {
        let store = try openStore(in: folder)
        try store.table("t").declare(TableSchema(fields: [FieldSchema("n", isUnique: true)]))
        try store.table("t").add(contentsOf: (0..<2_000).map { ["n": .integer($0)] })
        try store.close()
      }
      let offsets = StoreFolder(path: folder.path, disk: .system)
      let table = TableKey("t")
      let stamp = try #require(try offsets.file(of: "t").status).stamp
      let known = try #require(offsets.offsets(of: table, for: stamp))
      // More than fit into a block, and others before and after them.
      let hash = ValueHash([.integer(1_990)]).number
      let entries = (0..<2_000).map { index in
        LookupDraft.Entry(hash: index < 5 ? 0 : index < 10 ? .max : hash, index: UInt32(index))
      }
      let lookup = LookupDraft(by: ["n"], entries).bytes(for: known)
      offsets.writeLookup(lookup, of: table, by: ["n"], for: known)
      let error = storeError { try openStore(in: folder).table("t").add(["n": 1_990]) }
      #expect(error?.message.contains("record 1991 ") == true)
      try openStore(in: folder).table("t").add(["n": 2_000])
      try openStore(in: folder).checkInvariants()
    }
  }

  @Test func equalValuesHaveEqualHashes() throws {
    let values: [PlistValue] = [
      "", "a", "<&>\"\u{301}é", 0, -1, .unsigned(.max), 0.0, .real(-0.0), .real(.nan), 1.5, true, false,
      .date(Date(timeIntervalSince1970: 9)), .data(Data()), .data(Data(repeating: 7, count: 200)), [],
      [1, "a"],
      [:], ["k": ["l": [.data(Data(repeating: 1, count: 99))]]],
    ]
    var hashes: Set<ValueHash> = []
    for value in values {
      let record = EncodedRecord(id: 1, fields: Fields(["a": 1, "value": value, "z": "last"]))
      #expect(record.hash(of: ["value"]) == ValueHash([value]), "\(value)")
      #expect(record.hash(of: ["z", "value"]) == ValueHash(["last", value]), "\(value)")
      #expect(record.hash(of: ["value", "other"]) == nil)
      hashes.insert(ValueHash([value]))
    }
    #expect(hashes.count == values.count)
    #expect(ValueHash(["ab", "c"]) != ValueHash(["a", "bc"]) && ValueHash([1, 2]) != ValueHash([2, 1]))
  }
}
