import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

/// Single values, taken out of canonical bytes as what they are.
@Suite struct CanonicalReaderTests {
  /// Calls `body` with the entries of `dict`, and their keys as texts.
  private func read(
    _ dict: PlistDictionary, _ body: (CanonicalReader, String, CanonicalElement, PlistValue) throws -> Void
  ) throws {
    let bytes = try canonicalBody(.dict(dict), indentation: 2)
    try bytes.withUnsafeBytes { bytes in
      let reader = CanonicalReader(bytes)
      var cursor = reader.entries(of: reader.dict(indentation: 2))
      let entries = try dict.normalized(limits: PlistLimits())
      for entry in entries {
        let next = cursor.next()
        let (key, element) = try #require(next)
        try body(reader, reader.text(key), element, entry.value)
        #expect(reader.text(key).utf8.elementsEqual(entry.key.utf8))
      }
      for _ in 0..<2 {
        let next = cursor.next()
        #expect(next == nil)
      }
    }
  }

  @Test func eachAccessorReturnsOnlyItsOwnKind() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    for _ in 0..<1_000 {
      var dict = PlistDictionary()
      for number in 0..<8 { dict["\(values.string())\(number)"] = values.value(depth: 4) }
      try read(dict) { reader, _, element, value in
        #expect(reader.value(of: element) == value)
        #expect(element.kind == kind(value))
        #expect(reader.string(element).map(PlistValue.string) == value.string.map(PlistValue.string))
        #expect(reader.integer(element) == value.integer)
        #expect(reader.real(element).map(PlistValue.real) == value.real.map(PlistValue.real))
        #expect(reader.bool(element) == value.bool)
        #expect(reader.date(element) == value.date)
        #expect(reader.data(element) == value.data)
        let unsigned: UInt64? =
          if case .unsigned(let number) = value { number } else {
            value.integer.flatMap(UInt64.init(exactly:))
          }
        #expect(reader.unsigned(element) == unsigned)
      }
    }
  }

  private func kind(_ value: PlistValue) -> CanonicalElement.Kind {
    switch value {
    case .string: .string
    case .integer, .unsigned: .integer
    case .real: .real
    case .bool(let flag): flag ? .true : .false
    case .date: .date
    case .data: .data
    case .array: .array
    case .dict: .dict
    }
  }

  @Test func realsAreReadBitForBit() throws {
    var random = SeededRandom.fromEnvironment(#function)
    for _ in 0..<5_000 {
      let digits = Int64.random(in: 0..<1_000_000_000_000_000, using: &random)
      let number =
        Double(digits >> Int64.random(in: 0...50, using: &random))
        / [1, 10, 100, 1e3, 1e6, 1e9, 1e14, 3, -7].randomElement(using: &random)!
      try read(["real": .real(number)]) { reader, _, element, _ in
        #expect(reader.real(element)?.bitPattern == number.bitPattern)
      }
    }
  }

  @Test func contentIsTextBetweenTags() throws {
    try read([
      "a": "x&y", "b": [], "c": [:], "d": true, "e": [1], "f": .data(Data("A".utf8)), "g": .data(Data()),
    ]) {
      reader, key, element, _ in
      let content = String(decoding: reader.bytes.text(element.content), as: UTF8.self)
      let expected = ["a": "x&amp;y", "e": "\t\t\t\t<integer>1</integer>\n", "f": "\t\t\tQQ==\n"]
      #expect(content == expected[key] ?? "")
    }
  }

  @Test func arrayElementsComeInOrder() throws {
    let values: [PlistValue] = ["a\n\t\t", [[:], [1]], ["k": ["v"]], 3]
    try read(["array": .array(values), "none": []]) { reader, key, element, _ in
      var read: [PlistValue] = []
      var cursor = reader.elements(of: element)
      while let element = cursor.next() { read.append(reader.value(of: element)) }
      #expect(read == (key == "none" ? [] : values))
    }
  }

  @Test func numberIsReadInShortestFormOnly() throws {
    let numbers: [String: Int64] = ["0": 0, "7": 7, "10": 10, "9223372036854775807": .max]
    for text in ["", "-1", "00", "07", "1a", "9223372036854775808", "10000000000000000000"] + numbers.keys {
      try read(["n": .string(text)]) { reader, _, element, _ in
        #expect(reader.bytes.number(element.content) == numbers[text])
      }
    }
  }

  @Test func emptyDictionaryHasNoEntries() throws { try read([:]) { _, _, _, _ in } }

  @Test func elementIsNilForInvalidText() {
    for text in [
      "", "<", "<plist>", "<string>", "<string>a</str", "<dict>\n", "<array>\n<true/>\n", "<true", "<data>\n",
    ] {
      Array(text.utf8).withUnsafeBytes {
        #expect(CanonicalReader($0).element(indentation: 0) == nil, "\(text)")
      }
    }
  }
}
