import FileDB
import FileDBPlist
import Foundation

/// The numbers that SQLite's date functions accept for a time.
enum SQLiteDate {
  static func fromSeconds(_ seconds: Int64) -> Date? {
    PlistDate.wholeSecond(Date(timeIntervalSince1970: Double(seconds)))
  }

  /// Days since noon of 24 November in the year -4713, to the millisecond, as SQLite counts them.
  static func fromJulianDay(_ day: Double) -> Date? {
    guard (0..<5_373_484.5).contains(day) else { return nil }
    let milliseconds = Int64(day * 86_400_000 + 0.5) - 210_866_760_000_000
    return PlistDate.wholeSecond(Date(timeIntervalSince1970: (Double(milliseconds) / 1_000).rounded(.down)))
  }
}
