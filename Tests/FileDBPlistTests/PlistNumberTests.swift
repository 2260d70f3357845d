import TestSupport
import Testing

@testable import FileDBPlist

@Suite struct PlistNumberTests {
  @Test func validIntegersAreReadAndOtherTextIsRefused() {
    let cases: [(String, PlistValue?)] = [
      ("0", 0), ("-0", 0), ("+7", 7), ("007", 7), (" \n7\t", 7), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775807", .integer(.max)), ("9223372036854775808", .unsigned(1 << 63)),
      ("18446744073709551615", .unsigned(.max)), ("0x1F", 31), ("0Xff", 255), ("-0x1f", -31), ("+0x0", 0),
      ("0xFFFFFFFFFFFFFFFF", .unsigned(.max)), ("-0x8000000000000000", .integer(.min)),
      ("18446744073709551616", nil), ("-9223372036854775809", nil), ("0x10000000000000000", nil),
      ("99999999999999999999999999999999999999", nil), ("", nil), (" ", nil), ("-", nil), ("+", nil),
      ("0x", nil),
      ("-0x", nil), ("--1", nil), ("+-1", nil), ("- 1", nil), ("1 2", nil), ("1.0", nil), ("1e3", nil),
      ("1_000", nil), ("0b1", nil), ("FF", nil), ("0x-1", nil), ("0x1G", nil), ("\u{667}", nil), ("1\0", nil),
    ]
    for (text, value) in cases { #expect(integer(text) == value, "'\(text)'") }
  }

  @Test func integersNearEveryPowerOfTwoAreReadBack() {
    for shift in 0..<64 {
      for nearby in [UInt64(1) << shift, UInt64(1) << shift &- 1, ~(UInt64(1) << shift)] {
        #expect(integer("\(nearby)") == PlistValue(nearby))
        #expect(integer("0x\(String(nearby, radix: 16))") == PlistValue(nearby))
        #expect(integer("\(Int64(bitPattern: nearby))") == .integer(Int64(bitPattern: nearby)))
      }
    }
  }

  @Test func validRealsAreReadAndOtherTextIsRefused() {
    let cases: [(String, Double?)] = [
      ("0", 0), ("-0", -0.0), ("1", 1), ("+1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e3", 1_000),
      ("1.5E-3", 0.0015),
      ("-1e+2", -100), (" \n1.5\t", 1.5), ("1e-400", 0), ("-1e-400", -0.0),
      ("5e-324", .leastNonzeroMagnitude),
      ("1.7976931348623157e308", .greatestFiniteMagnitude), ("inf", .infinity), ("+INF", .infinity),
      ("-Infinity", -.infinity), ("+infinity", .infinity), ("nan", .nan), ("NaN", .nan),
      ("1e400", nil), ("-1e400", nil), ("1.8e308", nil), ("", nil), (" ", nil), (".", nil), ("+", nil),
      ("e3", nil),
      ("1e", nil), ("1e+", nil), ("1,5", nil), ("1_0", nil), ("0x1p3", nil), ("1d3", nil), ("-nan", nil),
      ("+nan", nil), ("nan(0x1)", nil), ("infinit", nil), ("1.2.3", nil), ("1 2", nil), ("- 1", nil),
      ("\u{661}", nil), ("1\0", nil),
    ]
    for (text, value) in cases {
      #expect(real(text).map(PlistValue.real) == value.map(PlistValue.real), "'\(text)'")
    }
  }

  @Test func realsAreWrittenInShortestForm() {
    let cases: [(Double, String)] = [
      (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (1.0 / 3, "0.3333333333333333"),
      (1e15, "1000000000000000"),
      (1e16, "1e+16"), (1e-5, "1e-05"), (.infinity, "+infinity"), (-.infinity, "-infinity"), (.nan, "nan"),
      (-.nan, "nan"), (.leastNonzeroMagnitude, "5e-324"), (123_456_789, "123456789"),
    ]
    for (number, text) in cases { #expect(PlistWriter.text(number) == text) }
  }

  @Test func randomRealsAreReadBack() {
    var random = SeededRandom.fromEnvironment(#function)
    for _ in 0..<10_000 {
      let number = Double(bitPattern: random.next())
      #expect(real(PlistWriter.text(number)).map(PlistValue.real) == .real(number), "\(number.bitPattern)")
    }
  }

  private func integer(_ text: String) -> PlistValue? {
    Array(text.utf8).withUnsafeBufferPointer { PlistNumber.integer($0) }
  }

  private func real(_ text: String) -> Double? {
    Array(text.utf8).withUnsafeBufferPointer { PlistNumber.real($0) }
  }
}
