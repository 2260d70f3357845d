import Foundation
import TestSupport

@testable import FileDBPlist

/// Makes values of every kind, leaning to what is hard: the ends of each range, text that XML escapes, bytes
/// deep inside.
struct RandomValue {
  var random: SeededRandom
  var deepest = 6
  /// Dates before the Gregorian calendar, where Foundation's writer is not to be compared with.
  var datesFromYearOne = true
  /// Text whose first character is U+FEFF, which CoreFoundation drops.
  var textFromByteOrderMark = true
  var wholeReals = true

  mutating func value(depth: Int = 0) -> PlistValue {
    switch Int.random(in: 0..<(depth < deepest ? 12 : 8), using: &random) {
    case 0: .string(string())
    case 1: .integer(integer())
    case 2: PlistValue(unsigned())
    case 3: .real(real())
    case 4: .bool(Bool.random(using: &random))
    case 5: .date(date())
    case 6: .data(data())
    case 7: .string(string())
    case 8, 9: .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(depth: depth + 1) })
    default: .dict(dictionary(depth: depth))
    }
  }

  private mutating func dictionary(depth: Int) -> PlistDictionary {
    var result = PlistDictionary()
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      // Foundation keeps its keys in a Swift dictionary, where canonically equivalent ones fall together, and
      // sorts them by their composed form.
      let key = string().precomposedStringWithCanonicalMapping
      result[key] = value(depth: depth + 1)
    }
    return result
  }

  mutating func string() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &random) { scalars.append(scalar()) }
    while !textFromByteOrderMark, scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    return String(scalars)
  }

  /// Any scalar that XML 1.0 can hold.
  mutating func scalar() -> Unicode.Scalar {
    let interesting: [Unicode.Scalar] = [
      "\t", "\n", "\r", "<", ">", "&", "\"", "'", "]", " ", "\u{7F}", "\u{80}", "\u{85}", "\u{9F}", "\u{A0}",
      "\u{300}", "\u{301}", "e", "\u{2028}", "\u{2029}", "\u{D7FF}", "\u{E000}", "\u{FEFF}", "\u{FFFD}",
      "\u{10000}", "\u{1F600}", "\u{10FFFF}",
    ]
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return interesting.randomElement(using: &random)!
    case 2: return Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random))
    case 3: return Unicode.Scalar(UInt8.random(in: 0x7F...0xFF, using: &random))
    case 4: return Unicode.Scalar(UInt32.random(in: 0xA0...0xD7FF, using: &random))!
    default:
      let value = UInt32.random(in: 0xE000...0x10FFFF, using: &random)
      return value == 0xFFFE || value == 0xFFFF ? "\u{FFFD}" : Unicode.Scalar(value)!
    }
  }

  mutating func integer() -> Int64 {
    let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    return Bool.random(using: &random)
      ? ends.randomElement(using: &random)! : Int64.random(in: .min ... .max, using: &random)
  }

  mutating func unsigned() -> UInt64 {
    Bool.random(using: &random)
      ? UInt64(Int64.max) + UInt64.random(in: 0...2, using: &random)
      : UInt64.random(in: 0 ... .max, using: &random)
  }

  mutating func real() -> Double {
    let number = anyReal()
    return wholeReals || number.rounded() != number ? number : 0.1
  }

  private mutating func anyReal() -> Double {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return [
        0, -0.0, 1, 0.1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16,
      ]
      .randomElement(using: &random)!
    case 1: return Double(Int64.random(in: -1_000_000...1_000_000, using: &random)) / 100
    default: return Double(bitPattern: UInt64.random(in: 0 ... .max, using: &random))
    }
  }

  /// A date within year 1 to 9999, most with a fraction of a second.
  mutating func date() -> Date {
    let first = datesFromYearOne ? PlistDate.secondsRange.lowerBound : firstGregorianSecond
    let second = Int.random(in: first..<PlistDate.secondsRange.upperBound, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Date(timeIntervalSince1970: Double(second))
    case 1: return Date(timeIntervalSince1970: Double(second) + Double.random(in: 0..<0.999, using: &random))
    default:
      // The last instant of a second: a `Date` counts from 2001, and 1970 is too far off to add it exactly.
      let next = Date(timeIntervalSince1970: Double(second + 1)).timeIntervalSinceReferenceDate
      return Date(timeIntervalSinceReferenceDate: next.nextDown)
    }
  }

  mutating func data() -> Data {
    let count =
      Bool.random(using: &random)
      ? Int.random(in: 0...60, using: &random) : .random(in: 0...1000, using: &random)
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
  }
}

/// 15 October 1582, the first day of the Gregorian calendar.
let firstGregorianSecond = -12_219_292_800
