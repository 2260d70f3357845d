import FileDB
import Foundation

/// The forms in which SQLite's date functions take a time.
enum SQLiteDate {
  /// `YYYY-MM-DD`, then perhaps, after a space or `T`, `HH:MM`, `:SS`, a fraction, and `Z` or an offset like `+01:00`.
  static func parse(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    let day = bytes.prefix(10)
    if bytes.count == 10 { return date(day, "00:00:00".utf8) }
    guard bytes.count > 11, bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T") else {
      return nil
    }
    var time = bytes[11...]
    guard let offset = takeOffset(&time) else { return nil }
    let fraction = time.dropFirst(8)
    if fraction.first == UInt8(ascii: "."), fraction.count > 1, fraction.dropFirst().allSatisfy(isDigit) {
      time = time.prefix(8)
    }
    if time.count == 5 { time += ":00".utf8 }
    return date(day, time).flatMap { PlistDate.wholeSecond($0.addingTimeInterval(-offset)) }
  }

  static func fromSeconds(_ seconds: Int64) -> Date? {
    PlistDate.wholeSecond(Date(timeIntervalSince1970: Double(seconds)))
  }

  /// Days since noon of the 24th of November in the year -4713, to the millisecond, as SQLite has it.
  static func fromJulianDay(_ day: Double) -> Date? {
    guard (0..<5_373_484.5).contains(day) else { return nil }
    let milliseconds = Int64(day * 86_400_000 + 0.5) - 210_866_760_000_000
    return PlistDate.wholeSecond(Date(timeIntervalSince1970: (Double(milliseconds) / 1_000).rounded(.down)))
  }

  private static func date(_ day: some Sequence<UInt8>, _ time: some Sequence<UInt8>) -> Date? {
    let canonical = day + [UInt8(ascii: "T")] + time + [UInt8(ascii: "Z")]
    return canonical.withUnsafeBufferPointer { PlistDate.parse($0) }
  }

  /// Removes the time zone from the end of `time`, and returns its seconds east of UTC; `nil` where it is none.
  private static func takeOffset(_ time: inout ArraySlice<UInt8>) -> Double? {
    defer { if time.last == UInt8(ascii: " ") { time.removeLast() } }
    if time.last == UInt8(ascii: "Z") {
      time.removeLast()
      return 0
    }
    let zone = Array(time.suffix(6))
    guard zone.count == 6, zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-") else { return 0 }
    let digits = zone[1...2] + zone[4...5]
    guard zone[3] == UInt8(ascii: ":"), digits.allSatisfy(isDigit) else { return nil }
    time.removeLast(6)
    let numbers = digits.map { Double($0 - UInt8(ascii: "0")) }
    let minutes = (numbers[0] * 10 + numbers[1]) * 60 + numbers[2] * 10 + numbers[3]
    return minutes * (zone[0] == UInt8(ascii: "-") ? -60 : 60)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
