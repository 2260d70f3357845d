import FileDB
import Foundation
import TestSupport
import Testing

/// Predicates of people who write dates in their time zone.
@Suite struct PredicateZoneTests {
  private static func count(_ text: String, in zone: String) throws -> Int {
    let seconds = { (text: String) in
      Date(timeIntervalSince1970: try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }
    return try withStore { store in
      try store.table("t").add(contentsOf: [
        ["at": .date(seconds("2026-03-28T23:30:00Z"))],  // In Vienna 00:30, the night of the change.
        ["at": .date(seconds("2026-03-29T01:30:00Z"))],  // 03:30, after it.
        ["at": .date(seconds("2026-10-25T00:30:00Z"))],  // 02:30, which comes again.
        ["text": "2026-03-29"],
      ])
      let predicate = try RecordPredicate(text, in: #require(TimeZone(identifier: zone)))
      return try store.table("t").lastSnapshot.count(where: predicate)
    }
  }

  @Test(arguments: [
    ("at >= '2026-03-29'", "Europe/Vienna", 3), ("at >= '2026-03-29'", "GMT", 2),
    ("at < '2026-03-29'", "America/New_York", 2), ("at = '2026-03-29 00:30'", "Europe/Vienna", 1),
    ("at = '2026-03-29T03:30:00'", "Europe/Vienna", 1), ("at = '2026-10-25 02:30'", "Europe/Vienna", 1),
    // There is no such time. The clocks say 03:30 then.
    ("at = '2026-03-29 02:30'", "Europe/Vienna", 1),
    // A zone that is written counts.
    ("at = '2026-03-28T23:30:00Z'", "Europe/Vienna", 1), ("at = '2026-03-29 05:00+05:30'", "Asia/Tokyo", 1),
    ("at = DATE('2026-03-29 00:30')", "Europe/Vienna", 1),
    ("at IN {'2026-03-29 00:30', '1'}", "Europe/Vienna", 1),
    ("at BETWEEN {'2026-03-29', '2026-03-30'}", "Europe/Vienna", 2),
    ("at < '2026-03-28 23:30' + 1h", "GMT", 1),
    ("days('2026-03-29', at) = 0", "Europe/Vienna", 2), ("at < TODAY + 200y", "Europe/Vienna", 3),
    // Text is no date.
    ("text = '2026-03-29'", "Europe/Vienna", 1),
  ])
  func dateWithoutAZoneIsInThatOfThePerson(text: String, zone: String, count: Int) throws {
    #expect(try Self.count(text, in: zone) == count, "\(text) in \(zone)")
  }

  @Test(arguments: ["Europe/Vienna", "America/St_Johns", "Pacific/Kiritimati", "GMT"])
  func todayBeginsAtMidnight(zone: String) throws {
    let timeZone = try #require(TimeZone(identifier: zone))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    try withStore { store in
      let midnight = calendar.startOfDay(for: Date())
      try store.table("t").add(["at": .date(midnight)])
      let predicate = try RecordPredicate("at = TODAY", in: timeZone)
      // At midnight, the day may change in between.
      if calendar.startOfDay(for: Date()) == midnight {
        #expect(try store.table("t").lastSnapshot.count(where: predicate) == 1)
      }
    }
  }
}
