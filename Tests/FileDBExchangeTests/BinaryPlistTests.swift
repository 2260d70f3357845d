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
      return try store.table("t").lastSnapshot.map(\.fields)
    }
  }

  private func exportedRecords() throws -> [UInt8] {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [Self.record, Fields(), Self.record])
      return try exported(table.lastSnapshot, TableExport(format: .binaryPlist))
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
      #expect(error?.code == .invalidText)
    }
  }

  /// One where each array holds the next one 8 times, 2^60 elements in all, and one that holds itself.
  @Test func exponentialAndCircularListsAreRefused() throws {
    let arrays = (1...20).map { BinaryList.array(Array(repeating: $0, count: 8)) }
    let doubling = try #require(storeError { _ = try imported(BinaryList.bytes(arrays + [[0x09]])) })
    #expect(doubling.message.contains("would become too large"), "\(doubling)")
    let circle = try #require(storeError { _ = try imported(BinaryList.bytes([BinaryList.array([0])])) })
    #expect(circle.code == .invalidText, "\(circle)")
  }

  /// As Python's plistlib writes `[{'tags': S}] * 1000`: every record is the same object.
  @Test func recordsThatShareTheirPartsAreImported() throws {
    let tags = (0..<100).map { "tag \($0)" }
    let list = BinaryList.bytes(
      [
        BinaryList.array(Array(repeating: 1, count: 1_000)), BinaryList.dict([(key: 2, value: 3)]),
        BinaryList.text("tags"), BinaryList.array(Array(4..<104)),
      ] + tags.map(BinaryList.text))
    let expected: Fields = ["tags": .array(tags.map { .string($0) })]
    #expect(try imported(list) == Array(repeating: expected, count: 1_000))
  }

  /// 100 KB that would become 500 MB.
  @Test func longTextThatAllRecordsNameIsRefused() throws {
    let list = BinaryList.bytes(
      [BinaryList.array(Array(3..<10_003)), BinaryList.text("k")]
        + [BinaryList.text(String(repeating: "x", count: 50_000))]
        + Array(repeating: BinaryList.dict([(key: 1, value: 2)]), count: 10_000))
    let error = try #require(storeError { _ = try imported(list) })
    #expect(error.message.contains("would become too large"), "\(error)")
    let data = BinaryList.bytes([
      BinaryList.array(Array(repeating: 1, count: 2_000)),
      [0x4F, 0x12, 0, 1, 0, 0] + Array(repeating: 7, count: 1 << 16),
    ])
    #expect(storeError { _ = try imported(data) }?.message.contains("would become too large") == true)
  }

  @Test func objectsEndWhereOffsetTableBegins() throws {
    let cut: [[UInt8]] = [
      [0x11, 0x01], [0x13], [0x14, 0, 0, 0, 0, 0, 0, 0, 0], [0x22, 0x3F, 0x80], [0x23], [0x33, 0x41],
      [0x52, 0x61],
      [0x61, 0x00], [0x42, 0x07], [0x5F], [0x5F, 0x11, 0x00], [0xA2, 0x00], [0xD1, 0x00, 0x02, 0x00],
    ]
    for object in cut {
      let list = BinaryList.bytes([
        BinaryList.array([1]), BinaryList.dict([(key: 2, value: 3)]), BinaryList.text("k"), object,
      ])
      let error = try #require(storeError { _ = try imported(list) }, "\(object)")
      #expect(error.message.contains("is cut off"), "\(object): \(error)")
    }
  }

  @Test func messageNamesForeignObject() throws {
    let foreign: [(object: [UInt8], name: String)] = [
      ([0x00], "this is null"), ([0x80, 0x05], "this is a UID"), ([0xC1, 0, 1], "this is a set"),
      ([0xB1, 0, 1], "this is a set"), ([0x0C, 0x51, 0x61], "this is a URL"),
      ([0x0E] + Array(repeating: 1, count: 16), "this is a UUID"),
      ([0x70], "this is an object of an unknown type"),
    ]
    for (object, name) in foreign {
      let list = BinaryList.bytes([
        BinaryList.array([1]), BinaryList.dict([(key: 2, value: 3)]), BinaryList.text("k"), object,
      ])
      let error = try #require(storeError { _ = try imported(list) }, "\(name)")
      #expect(error.message.contains("\(name)"), "\(error)")
      #expect(error.message.contains("a record cannot hold it"), "\(error)")
    }
  }
}

/// Binary property lists of objects that are given as bytes, the first one the root; references are of two bytes.
enum BinaryList {
  static func bytes(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += number(bytes.count, size: 4)
      bytes += object
    }
    let table = bytes.count
    return bytes + offsets + [0, 0, 0, 0, 0, 0, 4, 2] + number(objects.count, size: 8) + number(0, size: 8)
      + number(table, size: 8)
  }

  static func array(_ elements: [Int]) -> [UInt8] {
    marker(0xA0, count: elements.count) + elements.flatMap { number($0, size: 2) }
  }

  static func dict(_ entries: [(key: Int, value: Int)]) -> [UInt8] {
    marker(0xD0, count: entries.count)
      + (entries.map(\.key) + entries.map(\.value)).flatMap { number($0, size: 2) }
  }

  static func text(_ ascii: String) -> [UInt8] { marker(0x50, count: ascii.utf8.count) + ascii.utf8 }

  private static func marker(_ kind: UInt8, count: Int) -> [UInt8] {
    count < 15 ? [kind | UInt8(count)] : [kind | 0xF, 0x12] + number(count, size: 4)
  }

  private static func number(_ number: Int, size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
