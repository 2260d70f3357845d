import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

@testable import FileDBExchange

/// Our reader of binary property lists held against Foundation's, on lists of which a byte or two are wrong.
@Suite struct BinaryPlistFoundationTests {
  /// One of each object.
  private static let list = BinaryList.bytes([
    BinaryList.array([1, 3, 4, 5, 6, 7, 8]), BinaryList.dict([(key: 2, value: 9), (key: 10, value: 3)]),
    BinaryList.text("k"), [0x09], [0x10, 0x07], [0x11, 0x01, 0x08], [0x23, 0x3F, 0x50, 0, 0, 0, 0, 0, 0],
    [0x33, 0x41, 0x80, 0, 0, 0, 0, 0, 0], [0x62, 0x00, 0x65, 0x26, 0x3A], [0x42, 0x01, 0x02],
    BinaryList.text("two"),
  ])

  /// None that begins a set: Foundation on Linux crashes on one of values that it cannot hash. Nor 0x60, an empty text
  /// of UTF-16, which it refuses.
  private static let wrongBytes = (UInt8.min..<0xC0).filter { $0 != 0x60 }

  /// What we refuse on purpose, and Foundation takes.
  private static let refusals = [
    "a record cannot hold it", "is not ASCII", "is not UTF-16", "is not from -2^63", "a key is not text",
    "the same key twice", "a count is not a number",
  ]

  @Test func binaryPlistReadsAsInFoundation() throws { try compare(Self.list, "sound") }

  @Test func everyWrongByteIsReadAlike() throws {
    for position in 8..<Self.list.count {
      for byte in Self.wrongBytes {
        var bytes = Self.list
        bytes[position] = byte
        try compare(bytes, "byte \(position) is \(byte)")
      }
    }
  }

  @Test func twoWrongBytesAreReadAlike() throws {
    var random = SeededRandom.fromEnvironment("binary property lists with two wrong bytes")
    for _ in 0..<10_000 {
      var bytes = Self.list
      let places = (0..<2).map { _ in Int.random(in: 8..<bytes.count, using: &random) }
      for place in places { bytes[place] = Self.wrongBytes.randomElement(using: &random)! }
      try compare(bytes, "bytes \(places) are \(places.map { bytes[$0] })")
    }
  }

  @Test func everyShortenedListIsReadAlike() throws {
    // What is no more than the signature, or less, is text to Foundation.
    for length in 9..<Self.list.count { try compare(Array(Self.list.prefix(length)), "\(length) bytes") }
  }

  private func compare(_ bytes: [UInt8], _ what: String) throws {
    let theirs = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    do {
      let ours = try BinaryPlistReader.parse(bytes, file: "file")
      #expect(
        try theirs.map { try PlistValue(foundation: $0) } == ours, "\(what): \(ours), not \(theirs as Any)")
    } catch let error as StoreError {
      // Of 16-byte references Foundation reads the last 8 bytes.
      let referenceSize = bytes.suffix(25).first ?? 0
      let hasLongReferences = referenceSize > 8 && error.message.contains("end of the file is damaged")
      let isIntended = hasLongReferences || Self.refusals.contains { error.message.contains($0) }
      #expect(theirs == nil || isIntended, "\(what): \(error), but Foundation reads \(theirs as Any)")
    }
  }
}

extension PlistValue {
  /// What Foundation makes of a property list.
  fileprivate init(foundation value: Any) throws {
    switch value {
    case let text as String: self = .string(text)
    case let data as Data: self = .data(data)
    case let date as Date: self = .date(date)
    case let elements as [Any]: self = .array(try elements.map { try PlistValue(foundation: $0) })
    case let entries as [String: Any]:
      var dictionary = PlistDictionary()
      for (key, value) in entries { dictionary[key] = try PlistValue(foundation: value) }
      self = .dict(dictionary)
    default: self = try PlistValue(number: #require(value as? NSNumber, "\(type(of: value))"))
    }
  }

  private init(number: NSNumber) {
    switch String(cString: number.objCType) {
    case "c", "B": self = .bool(number.boolValue)
    case "d", "f": self = .real(number.doubleValue)
    case "Q": self = PlistValue(number.uint64Value)
    default: self = .integer(number.int64Value)
    }
  }
}
