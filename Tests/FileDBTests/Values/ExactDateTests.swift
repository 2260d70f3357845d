import FileDB
import Foundation
import TestSupport
import Testing

private struct Sighting: Codable, Sendable, Equatable {
  @ExactDate var seen: Date
  var confirmed: ExactDate?
}

private let sightings = TableName<Sighting>("sightings")

@Suite struct ExactDateTests {
  @Test(arguments: [
    (0, "2001-01-01T00:00:00.000000000Z"), (0.5, "2001-01-01T00:00:00.500000000Z"),
    (-0.25, "2000-12-31T23:59:59.750000000Z"), (-1e-20, "2001-01-01T00:00:00.000000000Z"),
    (0.999_999_999_9, "2001-01-01T00:00:01.000000000Z"), (1e-9, "2001-01-01T00:00:00.000000001Z"),
    (791_467_200.125, "2026-01-30T12:00:00.125000000Z"),
    (-63_113_904_000, "0001-01-01T00:00:00.000000000Z"),
  ])
  func dateIsStoredAsText(time: Double, text: String) throws {
    try withStore { store in
      let seen = Date(timeIntervalSinceReferenceDate: time)
      let id = try store.table(sightings).add(Sighting(seen: seen))
      #expect(try store.table("sightings").value(of: RecordID(id)) == ["seen": .string(text)])
      let read = try store.table(sightings).value(of: id)
      #expect(abs(read.seen.timeIntervalSince(seen)) <= 0.5e-9)
    }
  }

  /// 100 days away from 2001, a `Date` is not more precise than nine digits.
  @Test func dateComesBackExactly() throws {
    try withStore { store in
      var random = SeededRandom(seed: 25)
      let values = (0..<400).map { number in
        let time = Double.random(in: 8_640_000..<1e11, using: &random)
        let sign: Double = number % 2 == 0 && time < 6e10 ? -1 : 1
        return Sighting(
          seen: Date(timeIntervalSinceReferenceDate: sign * time),
          confirmed: ExactDate(Date(timeIntervalSinceReferenceDate: (sign * time).nextUp)))
      }
      let table = try store.table(sightings)
      try table.add(contentsOf: values)
      #expect(try table.snapshot().values().get() == values)
      let byText = try table.lastSnapshot.sorted(by: [.ascending("seen")])
      #expect(try byText.map { try $0.value.seen } == values.map(\.seen).sorted())
    }
  }

  @Test func predicateComparesIt() throws {
    try withStore { store in
      let table = try store.table(sightings)
      let start = Date(timeIntervalSinceReferenceDate: 8e8)
      try table.add(contentsOf: (0..<4).map { Sighting(seen: start + Double($0) / 4) })
      let later = try RecordPredicate("seen > %@", ExactDate(start + 0.25))
      #expect(try table.snapshot().records(where: later).map(\.id) == [3, 4])
      let same = try RecordPredicate("seen == %@", ExactDate(start + 0.75))
      #expect(try table.snapshot().records(where: same).map(\.id) == [4])
    }
  }

  @Test(arguments: [
    ("2026-01-31T12:00:00Z", 0), ("2026-01-31T12:00:00.5Z", 0.5),
    ("2026-01-31T12:00:00.1234567890123Z", 0.123_456_789),
  ])
  func otherDigitsAreRead(text: String, fraction: Double) throws {
    try withStore { store in
      let raw = try store.table("sightings")
      try raw.add(["seen": .string(text)])
      let whole = Date(timeIntervalSince1970: 1_769_860_800)
      try raw.add(["seen": .date(whole)])
      let values = try store.table(sightings).snapshot().values().get()
      #expect(abs(values[0].seen.timeIntervalSince(whole) - fraction) < 1e-6 && values[1].seen == whole)
    }
  }

  @Test(arguments: [
    "", "soon", "2026-01-31", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.5", "2026-13-01T00:00:00Z",
  ])
  func otherTextIsAnError(text: String) throws {
    try withStore { store in
      let id = try store.table("sightings").add(["seen": .string(text)])
      let error = try #require(storeError { _ = try store.table(sightings).value(of: RecordID(id)) })
      #expect(error.code == .invalidValue && error.field == "seen")
    }
  }

  @Test(arguments: [Double.nan, .infinity, 1e12, -1e12]) func dateOutsideTheYearsIsAnError(time: Double)
    throws
  {
    try withStore { store in
      let value = Sighting(seen: Date(timeIntervalSinceReferenceDate: time))
      let error = try #require(storeError { try store.table(sightings).add(value) })
      #expect(error.code == .invalidValue && error.field == "seen")
    }
  }
}
