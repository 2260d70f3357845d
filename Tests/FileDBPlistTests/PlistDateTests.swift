import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

@Suite struct PlistDateTests {
  /// Counts the days one by one, knowing nothing but the leap rule, and looks at both sides of each midnight.
  @Test func everyDayOfEveryYearIsWrittenAndReadBack() throws {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var day = PlistDate.secondsRange.lowerBound / 86_400
    for year in 1...9999 {
      let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
      // Every day of some years, and the ends of each month of all.
      let isSampled =
        year < 5 || year > 9997 || year % 400 <= 1 || year % 100 == 0 || (1580...1585).contains(year)
      for (number, length) in lengths.enumerated() {
        let days = length + (number == 1 && isLeap ? 1 : 0)
        for dayOfMonth in 1...days {
          if isSampled || dayOfMonth == 1 || dayOfMonth == days {
            try check(day: day, text: text(year, 4) + "-" + text(number + 1, 2) + "-" + text(dayOfMonth, 2))
          }
          day += 1
        }
        #expect(parse("\(text(year, 4))-\(text(number + 1, 2))-\(text(days + 1, 2))T00:00:00Z") == nil)
      }
    }
    #expect(day * 86_400 == PlistDate.secondsRange.upperBound + 1)
  }

  private func check(day: Int, text: String) throws {
    for (second, time) in [(0, "T00:00:00Z"), (86_399, "T23:59:59Z")] {
      let date = Date(timeIntervalSince1970: Double(day * 86_400 + second))
      if PlistDate.text(date) == text + time, parse(text + time) == date { continue }
      // A requirement that is checked a million times takes longer than all it checks.
      try #require(PlistDate.text(date) == text + time)
      try #require(parse(text + time) == date)
    }
  }

  private func text(_ number: Int, _ digits: Int) -> String {
    String(String(number + 100_000).suffix(digits))
  }

  @Test func everySecondOfDayIsWrittenAndReadBack() throws {
    for second in 0..<86_400 {
      let date = Date(timeIntervalSince1970: Double(second - 86_400))
      try #require(parse(PlistDate.text(date)) == date, "second \(second)")
    }
    #expect(PlistDate.text(Date(timeIntervalSince1970: -1)) == "1969-12-31T23:59:59Z")
    #expect(PlistDate.text(Date(timeIntervalSince1970: 45_296)) == "1970-01-01T12:34:56Z")
  }

  @Test func datesInAnyOtherFormAreRefused() {
    let right = Array("2024-02-29T12:34:56Z".utf8)
    for place in right.indices {
      for byte in UInt8.min...UInt8.max where byte != right[place] {
        var wrong = right
        wrong[place] = byte
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        guard let date = wrong.withUnsafeBufferPointer({ PlistDate.parse($0) }) else { continue }
        #expect(isDigit && PlistDate.text(date).utf8.elementsEqual(wrong))
      }
    }
    for text in [
      "", "2024-02-29T12:34:56", "2024-02-29T12:34:56Z ", " 2024-02-29T12:34:56Z", "2023-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z", "0000-12-31T23:59:59Z", "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z",
      "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z",
    ] {
      #expect(parse(text) == nil, "\(text)")
    }
  }

  @Test func fractionsOfSecondsAreRoundedDown() {
    let cases: [(Double, Double?)] = [
      (0.999, 0), (-0.001, -1), (-1, -1), (978_307_200.nextDown, 978_307_199),
      (253_402_300_799.9, 253_402_300_799), (253_402_300_800, nil), (-62_135_596_800, -62_135_596_800),
      (-62_135_596_800.1, nil), (.infinity, nil), (-.infinity, nil), (.nan, nil), (1e300, nil),
    ]
    for (seconds, whole) in cases {
      let date = PlistDate.wholeSecond(Date(timeIntervalSince1970: seconds))
      #expect(date == whole.map { Date(timeIntervalSince1970: $0) }, "\(seconds)")
    }
    // A `Date` counts from 2001, so that a moment before noon is finer than a second since 1970 can tell.
    let noon = Date(timeIntervalSinceReferenceDate: 43_200)
    let before = Date(timeIntervalSinceReferenceDate: 43_200.0.nextDown)
    #expect(PlistDate.text(noon) == "2001-01-01T12:00:00Z")
    #expect(PlistDate.text(before) == "2001-01-01T11:59:59Z")
    #expect(PlistDate.wholeSecond(before) == noon.addingTimeInterval(-1))
  }

  private func parse(_ text: String) -> Date? {
    Array(text.utf8).withUnsafeBufferPointer { PlistDate.parse($0) }
  }
}
