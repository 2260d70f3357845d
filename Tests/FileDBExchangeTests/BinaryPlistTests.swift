import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

@Suite struct BinaryPlistTests {
  private static let record: Fields = [
    "i": 1, "n": -1, "u": .unsigned(.max), "r": 0.5, "b": true, "s": "é😀", "a": "ascii", "e": "",
    "d": .date(Date(timeIntervalSince1970: 1_709_164_800)), "x": .data(Data(0..<40)),
    "l": .array((0..<300).map { .integer($0) }), "k": ["deep": ["er": [[], [:]]]],
  ]

  private func imported(_ bytes: [UInt8]) throws -> [Fields] {
    try withStore { store in
      try take(bytes, TableImport(format: .binaryPlist), of: store)
      return try store.table("t").snapshot.map(\.fields)
    }
  }

  private func exportedRecords() throws -> [UInt8] {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [Self.record, Fields(), Self.record])
      return try exported(table.snapshot, TableExport(format: .binaryPlist))
    }
  }

  @Test func foundationReadsExportedFile() throws {
    let list = try PropertyListSerialization.propertyList(from: Data(try exportedRecords()), format: nil)
    let records = try #require(list as? [[String: Any]])
    #expect(records.count == 3)
    let first = records[0]
    #expect(first["wgFileDbSecretId"] as? String == "1")
    #expect(first["s"] as? String == "é😀")
    #expect(first["n"] as? Int == -1)
    #expect(first["u"] as? UInt64 == .max)
    #expect(first["r"] as? Double == 0.5)
    #expect(first["d"] as? Date == Date(timeIntervalSince1970: 1_709_164_800))
    #expect(first["x"] as? Data == Data(0..<40))
    #expect((first["l"] as? [Int])?.last == 299)
  }

  @Test func fileWrittenByFoundationIsImported() throws {
    let records: [[String: Any]] = [
      [
        "i": 1, "n": -1, "r": 0.5, "b": true, "s": "é😀", "a": "ascii", "x": Data(0..<40), "big": 1 << 40,
        "d": Date(timeIntervalSince1970: 1_709_164_800), "l": Array(0..<300), "k": ["deep": [String]()],
      ]
    ]
    let bytes = try PropertyListSerialization.data(fromPropertyList: records, format: .binary, options: 0)
    let expected: Fields = [
      "i": 1, "n": -1, "r": 0.5, "b": true, "s": "é😀", "a": "ascii", "x": .data(Data(0..<40)),
      "big": .integer(1 << 40), "d": .date(Date(timeIntervalSince1970: 1_709_164_800)),
      "l": .array((0..<300).map { .integer($0) }), "k": ["deep": []],
    ]
    #expect(try imported(Array(bytes)) == [expected])
  }

  /// Whatever byte is wrong and wherever the file is cut off, it is read or refused.
  @Test func brokenFilesAreReadOrRefused() throws {
    var random = SeededRandom.fromEnvironment("broken binary property lists")
    let sound = try exportedRecords()
    for _ in 0..<150 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 8..<bytes.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      }
      if let error = storeError({ _ = try imported(bytes) }) { #expect(error.file == "file", "\(error)") }
      let error = storeError {
        _ = try imported(Array(sound.prefix(Int.random(in: 8..<sound.count, using: &random))))
      }
      #expect(error?.code == StoreError.invalidText)
    }
  }

  /// One where each array holds the next one 8 times, 2^60 elements in all, and one that holds itself.
  @Test func exponentialAndCircularListsAreRefused() throws {
    func list(_ levels: Int, _ child: (Int) -> UInt8) -> [UInt8] {
      var bytes = Array("bplist00".utf8)
      var offsets: [UInt8] = []
      for level in 0..<levels {
        offsets.append(UInt8(bytes.count))
        bytes += [0xA8] + Array(repeating: child(level), count: 8)
      }
      offsets.append(UInt8(bytes.count))
      bytes.append(0x09)
      let table = UInt8(bytes.count)
      bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + Array(repeating: 0, count: 7) + [UInt8(levels + 1)]
      return bytes + Array(repeating: 0, count: 15) + [table]
    }
    let doubling = try #require(storeError { _ = try imported(list(20) { UInt8($0 + 1) }) })
    #expect(doubling.message.contains("too often"), "\(doubling)")
    let circle = try #require(storeError { _ = try imported(list(1) { _ in 0 }) })
    #expect(circle.code == StoreError.invalidText, "\(circle)")
  }
}
