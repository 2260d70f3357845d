import FileDBEssentials

/// Dates as a property list writes them, `2024-02-29T12:00:00Z`, in the proleptic Gregorian calendar of ISO 8601.
///
/// Foundation's own reader and writer disagree before 15 October 1582 (one of them turns to the Julian calendar);
/// see Decisions/003.
package enum PlistDate {
  /// The first and the last second that four digits of a year can name, counted from 1970.
  package static let secondsRange: ClosedRange<Int> = -62_135_596_800...253_402_300_799

  /// The whole second in which `date` lies; `nil` if no four-digit year names it.
  package static func wholeSecond(_ date: Date) -> Date? {
    let seconds = secondsFrom1970(date)
    guard seconds >= Double(secondsRange.lowerBound), seconds <= Double(secondsRange.upperBound) else {
      return nil
    }
    return Date(timeIntervalSince1970: seconds)
  }

  /// A `Date` counts from 2001. Cut off its fraction before adding the seconds up to 1970: the sum could be rounded up.
  private static func secondsFrom1970(_ date: Date) -> Double {
    date.timeIntervalSinceReferenceDate.rounded(.down) + Date.timeIntervalBetween1970AndReferenceDate
  }

  /// The first second of a day in UTC.
  /// - Precondition: the day exists.
  package static func date(year: Int, month: Int, day: Int) -> Date {
    Date(timeIntervalSince1970: Double(dayNumber(year: year, month: month, day: day) * 86_400))
  }

  /// The date this many months later, at the same time of day. If the month has no such day, its last day.
  /// - Returns: `nil` if four digits cannot name the year.
  package static func adding(months: Int, to date: Date) -> Date? {
    guard abs(months) < 120_000, wholeSecond(date) != nil else { return nil }
    let seconds = Int(secondsFrom1970(date))
    let number = dayNumber(of: seconds)
    let old = civil(number)
    let month = old.year * 12 + old.month - 1 + months
    guard (12...119_999).contains(month) else { return nil }
    let (year, monthOfYear) = (month / 12, month % 12 + 1)
    let day = min(old.day, daysInMonth(monthOfYear, year: year))
    let time = seconds - number * 86_400
    return self.date(year: year, month: monthOfYear, day: day).addingTimeInterval(Double(time))
  }

  /// Reads exactly the twenty bytes of `YYYY-MM-DDThh:mm:ssZ`.
  package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
    guard text.count == 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      text[19] == UInt8(ascii: "Z"),
      let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
      let hour = number(text[11..<13]), let minute = number(text[14..<16]),
      let second = number(text[17..<19]),
      year >= 1, (1...12).contains(month), day >= 1, day <= daysInMonth(month, year: year),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let days = dayNumber(year: year, month: month, day: day)
    return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3_600 + minute * 60 + second))
  }

  /// The twenty bytes for `date`, which must lie in ``secondsRange``.
  package static func append(_ date: Date, to bytes: inout [UInt8]) {
    let seconds = Int(secondsFrom1970(date))
    let day = dayNumber(of: seconds)
    let second = seconds - day * 86_400
    let (year, month, dayOfMonth) = civil(day)
    append(year, digits: 4, then: "-", to: &bytes)
    append(month, digits: 2, then: "-", to: &bytes)
    append(dayOfMonth, digits: 2, then: "T", to: &bytes)
    append(second / 3_600, digits: 2, then: ":", to: &bytes)
    append(second / 60 % 60, digits: 2, then: ":", to: &bytes)
    append(second % 60, digits: 2, then: "Z", to: &bytes)
  }

  /// The date as a string. Outside that range, it is in Foundation's format.
  package static func text(_ date: Date) -> String {
    guard let date = wholeSecond(date) else { return "\(date)" }
    var bytes: [UInt8] = []
    append(date, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(
    _ number: Int, digits: Int, then separator: Unicode.Scalar, to bytes: inout [UInt8]
  ) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    bytes.append(UInt8(ascii: separator))
  }

  private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    var value = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }

  private static func daysInMonth(_ month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Days are counted in years that begin in March, so that the leap day comes last, and in cycles of 400 years.
  private static let daysInCycle = 146_097
  private static let daysBefore1970 = 719_468

  private static func dayNumber(of seconds: Int) -> Int {
    seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
  }

  private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let (cycle, yearOfCycle) = marchYear.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * daysInCycle + dayOfCycle - daysBefore1970
  }

  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let (cycle, dayOfCycle) = (day + daysBefore1970).quotientAndRemainder(dividingBy: daysInCycle)
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}
