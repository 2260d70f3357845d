import FileDB
import Foundation
import TestSupport
import Testing

private struct Sample: Codable, Sendable, Equatable {
  var zeta: Int
  var alpha: String
  var maybe: Double?
}

/// Keeps what it was decoded from, and looks at it later.
private final class Keeper: Codable, @unchecked Sendable {
  private let decoder: any Decoder

  init(from decoder: any Decoder) { self.decoder = decoder }
  func encode(to encoder: any Encoder) throws {}
  var sample: Sample { get throws { try Sample(from: decoder) } }
}

/// Keeps decoders of what is inside its record.
private struct Holder: Codable, Sendable {
  var inner: Keeper
  var list: [Keeper]
  var text: TextKeeper
}

private final class TextKeeper: Codable, @unchecked Sendable {
  private let container: any SingleValueDecodingContainer

  init(from decoder: any Decoder) throws { container = try decoder.singleValueContainer() }
  func encode(to encoder: any Encoder) throws {}
  var text: String { get throws { try container.decode(String.self) } }
}

/// Reading the values of many records, also on several threads.
@Suite struct ValueReaderTests {
  /// So many that there is more than one part.
  private let many = (0..<9_000).map { number in
    Sample(zeta: number, alpha: "value \(number)", maybe: number % 3 == 0 ? nil : Double(number) / 4)
  }

  @Test(arguments: [0, 1, 300, 9_000]) func valuesComeInTableOrder(count: Int) throws {
    try withStore { store in
      let table = try store.table(TableName<Sample>("t"))
      try table.add(contentsOf: many.prefix(count))
      #expect(try table.lastSnapshot.values().get() == Array(many.prefix(count)))
      #expect(try table.lastSnapshot.map { try $0.value } == Array(many.prefix(count)))
    }
  }

  @Test func errorNamesFirstMismatchedRecord() throws {
    try withStore { store in
      let table = try store.table(TableName<Sample>("t"))
      let ids = try table.add(contentsOf: many)
      for index in [8_990, 4_600, 4_400] { try table.set(["zeta": "none"], of: ids[index]) }
      let error = try #require(storeError { _ = try table.lastSnapshot.values().get() })
      #expect(error.code == .invalidValue && error.record == AnyRecordID(ids[4_400]))
      #expect(error.field == "zeta" && error.table == "t")
    }
  }

  /// The decoder expects a field where the record before had it; here that is always the wrong place.
  @Test func recordsWithDifferentFieldsDecodeCorrectly() throws {
    try withStore { store in
      let table = try store.table("t")
      for number in 0..<40 {
        var record: Fields = ["alpha": .string("\(number)"), "zeta": .integer(Int64(number))]
        for extra in 0..<number % 7 { record["b\(extra)"] = .integer(-1) }
        if number % 2 == 0 { record["maybe"] = .real(0.5) }
        try table.add(record)
      }
      let values = try store.table(TableName<Sample>("t")).lastSnapshot.values().get()
      #expect(values.map(\.zeta) == Array(0..<40))
      #expect(values.map(\.alpha) == (0..<40).map(String.init))
      #expect(values.map(\.maybe) == (0..<40).map { $0 % 2 == 0 ? 0.5 : nil })
    }
  }

  @Test func retainedDecoderKeepsReadingItsRecord() throws {
    try withStore { store in
      try store.table(TableName<Sample>("t")).add(contentsOf: many)
      let keepers = try store.table(TableName<Keeper>("t")).lastSnapshot.values().get()
      #expect(try keepers.map { try $0.sample } == many)
      let keeper = try store.table(TableName<Keeper>("t")).value(of: 2)
      try store.table("t").truncate()
      #expect(try keeper.sample == many[1])
    }
  }

  @Test func retainedDecoderOfAFieldKeepsReadingItsRecord() throws {
    func fields(_ sample: Sample) -> PlistValue {
      var fields: PlistDictionary = ["zeta": .integer(Int64(sample.zeta)), "alpha": .string(sample.alpha)]
      fields["maybe"] = sample.maybe.map(PlistValue.real)
      return .dict(fields)
    }
    try withStore { store in
      let plain = try store.table("t")
      try plain.add(
        contentsOf: many.prefix(300).map {
          ["inner": fields($0), "list": [fields($0), fields($0)], "text": .string("<\($0.alpha)>")]
        })
      let holders = try store.table(TableName<Holder>("t")).lastSnapshot.values().get()
      try plain.truncate()
      for (holder, sample) in zip(holders, many) {
        #expect(try holder.inner.sample == sample)
        #expect(try holder.list.map { try $0.sample } == [sample, sample])
        #expect(try holder.text.text == "<\(sample.alpha)>")
      }
      #expect(holders.count == 300)
      try store.checkInvariants()
    }
  }
}
