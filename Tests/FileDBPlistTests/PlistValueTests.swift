import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

@Suite struct PlistValueTests {
  /// Each differs from all others, though some are close.
  private static let different: [PlistValue] = [
    "", "a", "\u{E9}", "e\u{301}", "1", "true", .integer(0), .integer(1), .integer(-1), .unsigned(.max),
    .real(0),
    .real(-0.0), .real(1), .real(.nan), .real(.infinity), .real(-.infinity), .bool(false), .bool(true),
    .date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: 1)), .data(Data()),
    .data(Data([1])), [], [[]], ["a"], ["a", "a"], ["\u{E9}"], ["e\u{301}"], [:], ["a": 1], ["a": 1.0],
    ["b": 1],
    ["a": 1, "b": 1],
  ]

  @Test func valuesAreEqualToThemselvesOnly() {
    for (i, left) in Self.different.enumerated() {
      for (j, right) in Self.different.enumerated() {
        #expect((left == right) == (i == j), "\(left), \(right)")
      }
    }
    #expect(PlistValue.real(.nan) == .real(Double(bitPattern: 0xFFF8_0000_0000_1234)))
  }

  @Test func equalValuesAreOneElementOfSet() {
    let other = PlistValue.real(Double(bitPattern: 0xFFF8_0000_0000_1234))
    let all = Self.different + Self.different + [other, ["n": .array([other])], ["n": [.real(.nan)]]]
    #expect(Set(all).count == Self.different.count + 1)
  }

  /// The documentation promises this.
  @Test func valuesAreEqualWhereTheirWrittenBytesAre() throws {
    let bytes = try Self.different.map { try PlistWriter.document($0) }
    #expect(Set(bytes).count == bytes.count)
    let negativeNaN = try PlistWriter.document(.real(-.nan))
    #expect(try negativeNaN == PlistWriter.document(.real(.nan)))
  }

  @Test func normalizedValueEqualsValueReadBack() throws {
    let value: PlistValue = [
      "date": [.date(Date(timeIntervalSince1970: -0.5))], "small": .unsigned(7), "large": .unsigned(.max),
      "nan": .real(Double(bitPattern: 0xFFF8_0000_0000_1234)),
    ]
    let expected: PlistValue = [
      "date": [.date(Date(timeIntervalSince1970: -1))], "small": .integer(7), "large": .unsigned(.max),
      "nan": .real(.nan),
    ]
    let normalized = try value.normalized(limits: PlistLimits())
    #expect(normalized == expected)
    #expect(normalized.dict?["nan"]?.real?.bitPattern == Double.nan.bitPattern)
    #expect(try PlistParser.parse(try PlistWriter.document(value)) == expected)
  }

  /// Those that XML cannot hold are refused, all others are read back.
  @Test func everyUnicodeScalarIsReadBackOrRefused() throws {
    var allowed = String.UnicodeScalarView()
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl = value < 0x20 && value != 0x09 && value != 0x0A && value != 0x0D
      if isControl || value == 0xFFFE || value == 0xFFFF {
        let error = #expect(throws: PlistError.self) { try PlistWriter.document(.string(String(scalar))) }
        #expect(error == PlistError(.unrepresentableCharacter(scalar)))
      } else {
        allowed.append(scalar)
      }
    }
    let value = PlistValue.string(String(allowed))
    #expect(try PlistParser.parse(try PlistWriter.document(value)) == value)
  }

  @Test func typeNameIsNameOfElement() throws {
    for value in Self.different {
      let text = String(decoding: try PlistWriter.document(value), as: UTF8.self)
      let isNamed = text.contains("<\(value.typeName)>") || text.contains("<\(value.typeName)/>")
      #expect(isNamed || value.bool != nil, "\(value)")
    }
  }

  @Test func eachAccessorReturnsOnlyItsOwnCase() {
    for value in Self.different {
      let taken = [
        value.string.map(PlistValue.string), value.integer.map(PlistValue.integer),
        value.real.map(PlistValue.real),
        value.bool.map(PlistValue.bool), value.date.map(PlistValue.date), value.data.map(PlistValue.data),
        value.array.map(PlistValue.array), value.dict.map(PlistValue.dict),
      ].compactMap(\.self)
      #expect(taken == (value == .unsigned(.max) ? [] : [value]))
    }
  }

  /// Without dates and data, which JSON has not.
  @Test func valuesSurviveJSONCoders() throws {
    let value: PlistValue = [
      "list": ["a", 1, -1.5, true, .unsigned(.max), []], "dictionary": ["\u{E9}": [:]], "empty": "",
    ]
    #expect(try JSONDecoder().decode(PlistValue.self, from: try JSONEncoder().encode(value)) == value)
  }

  @Test func valuesSurvivePropertyListCoders() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    values.datesFromYearOne = false
    values.textFromByteOrderMark = false
    // A decoder takes a whole number for an integer.
    values.wholeReals = false
    for round in 0..<300 {
      let value = try PlistValue.array([values.value()]).normalized(limits: PlistLimits())
      for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let decoded = try PropertyListDecoder().decode(PlistValue.self, from: try encoder.encode(value))
        let same = decoded == value
        try #require(same, "round \(round), \(format)")
      }
    }
  }
}
