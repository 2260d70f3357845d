import FileDB
import FileDBEssentials
import FileDBPlist

/// Reads dates as people and programs write them in ISO 8601, and as SQLite's date functions accept them.
enum DateText {
  /// The date as it is written in text: a day without its time, if it is the first second of that day in UTC.
  static func written(_ date: Date) -> String {
    let text = PlistDate.text(date)
    return text.hasSuffix("T00:00:00Z") ? String(text.prefix(10)) : text
  }

  /// Reads `YYYY-MM-DD`. A space or `T` and a time may follow: `HH:MM`, `:SS`, and a fraction, which is cut off. A time
  /// may end with `Z` or an offset like `+01:00` or `+0100`, perhaps after a space.
  static func parse(_ text: String) -> Date? {
    var text = text
    if let date = text.withUTF8({ PlistDate.parse($0) }) { return date }  // Most programs write this form.
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

  private static func date(_ day: some Sequence<UInt8>, _ time: some Sequence<UInt8>) -> Date? {
    let canonical = day + [UInt8(ascii: "T")] + time + [UInt8(ascii: "Z")]
    return canonical.withUnsafeBufferPointer { PlistDate.parse($0) }
  }

  /// Removes the time zone from the end of `time`, and returns its seconds east of UTC; `nil` if it is not a time zone.
  private static func takeOffset(_ time: inout ArraySlice<UInt8>) -> Double? {
    defer { if time.last == UInt8(ascii: " ") { time.removeLast() } }
    guard let start = time.firstIndex(where: { $0 == UInt8(ascii: "Z") || isSign($0) }) else { return 0 }
    let zone = time[start...]
    time = time[..<start]
    return seconds(ofZone: zone)
  }

  private static func seconds(ofZone zone: ArraySlice<UInt8>) -> Double? {
    guard let sign = zone.first, isSign(sign) else { return zone.count == 1 ? 0 : nil }
    var digits = Array(zone.dropFirst())
    if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
    guard digits.count == 4, digits.allSatisfy(isDigit) else { return nil }
    let numbers = digits.map { Double($0 - UInt8(ascii: "0")) }
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
  }

  private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
