import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// What `export` writes of a table, in pieces as they come.
func exported(_ snapshot: TableSnapshot<Fields>, _ export: TableExport) throws -> [UInt8] {
  var bytes: [UInt8] = []
  try export.write(snapshot) { bytes += $0 }
  return bytes
}

/// An importer with some other settings than usual.
func importer(_ format: ExchangeFormat, _ change: (inout TableImport) -> Void = { _ in }) -> TableImport {
  var importer = TableImport(format: format)
  change(&importer)
  return importer
}

@discardableResult
func take(_ bytes: [UInt8], _ importer: TableImport, into table: String = "t", of store: RecordStore) throws
  -> ImportReport
{
  try store.write { tx in
    try importer.run(ImportSource(bytes, name: "file"), into: .records(table), in: &tx)
  }
}

/// Records of any shape, in a random order of their ids.
private struct RandomRecords {
  var random: SeededRandom

  static let fields = ["a", "id", "fields.id", "e\u{301}", "\u{e9}", "with, \"all\"\n of it", "z"]

  mutating func fill(
    _ table: RecordTable<Fields>, _ fields: [String], _ value: (inout SeededRandom) -> PlistValue?
  ) throws {
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      var record = Fields()
      for field in fields { record[field] = value(&random) }
      try table.add(record, at: Bool.random(using: &random) ? .top : .bottom)
    }
    for id in table.lastSnapshot.ids where Int.random(in: 0..<4, using: &random) == 0 { try table.delete(id) }
  }
}

private func text(_ random: inout SeededRandom) -> PlistValue {
  let characters = [
    "a", "B", "7", ",", ";", "\"", "\\", "\n", "\r", "\t", " ", "\u{301}", "é", "ÿ", "\u{85}",
  ]
  return .string(
    (0..<Int.random(in: 0..<6, using: &random)).map { _ in characters.randomElement(using: &random)! }
      .joined())
}

/// What Latin-1 has.
private func latin(_ random: inout SeededRandom) -> PlistValue {
  let scalars = (0..<Int.random(in: 0..<6, using: &random)).map { _ -> Unicode.Scalar in
    let printable: UInt8 = Bool.random(using: &random) ? .random(in: 0xA0...0xFF) : .random(in: 0x20...0x7E)
    return Unicode.Scalar(
      Bool.random(using: &random) ? printable : [0x0A, 0x0D, 0x22, 0x2C, 0x7E][Int(printable) % 5])
  }
  return .string(String(String.UnicodeScalarView(scalars)))
}

private func number(_ random: inout SeededRandom) -> PlistValue {
  switch Int.random(in: 0..<6, using: &random) {
  case 0: .integer(Int64(truncatingIfNeeded: random.next()))
  case 1: PlistValue(random.next())
  case 2: .integer(Int64.random(in: -300...300, using: &random))
  case 3: .real(Double(Int.random(in: -3...3, using: &random)))
  case 4: .real(Double(bitPattern: random.next() & ~(0x7FF << 52) | 0x3F0 << 52))
  default: .integer([.min, .max, 255, 256, 65_535, 65_536].randomElement(using: &random)!)
  }
}

private func date(_ random: inout SeededRandom) -> PlistValue {
  .date(
    Date(timeIntervalSince1970: Double(Int.random(in: -62_135_596_800...253_402_300_799, using: &random))))
}

private func data(_ random: inout SeededRandom) -> PlistValue {
  .data(Data((0..<Int.random(in: 0..<80, using: &random)).map { UInt8(truncatingIfNeeded: $0 * 7) }))
}

/// What JSON holds by itself.
private func plain(_ random: inout SeededRandom, depth: Int = 0) -> PlistValue {
  switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &random) {
  case 0, 1: return text(&random)
  case 2: return "😀\u{10FFFF}\u{FEFF}\u{7F}"
  case 3, 4: return number(&random)
  case 5: return .bool(Bool.random(using: &random))
  case 6:
    return .array((0..<Int.random(in: 0..<20, using: &random)).map { _ in plain(&random, depth: depth + 1) })
  default: return ["k": plain(&random, depth: depth + 1), "e\u{301}": 1, "\u{e9}": 2, "id": "x"]
  }
}

private func any(_ random: inout SeededRandom) -> PlistValue {
  switch Int.random(in: 0..<6, using: &random) {
  case 0: date(&random)
  case 1: data(&random)
  case 2: [date(&random), data(&random)]
  case 3: .real([.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude].randomElement(using: &random)!)
  default: plain(&random)
  }
}

private func sometimes(_ random: inout SeededRandom, _ value: (inout SeededRandom) -> PlistValue)
  -> PlistValue?
{
  Int.random(in: 0..<4, using: &random) == 0 ? nil : value(&random)
}

/// A table that is exported and imported again is the same.
@Suite struct RoundTripTests {
  private func check(
    _ format: ExchangeFormat, fields: [String] = RandomRecords.fields, type: FieldType? = nil,
    rounds: Int = 12,
    _ value: (inout SeededRandom) -> PlistValue
  ) throws {
    let random = SeededRandom.fromEnvironment("round trip \(format)")
    var records = RandomRecords(random: random)
    for _ in 0..<rounds {
      try withStore { store in
        let table = try store.table("t")
        try table.create()
        try records.fill(table, fields) { sometimes(&$0, value) }
        var importer = TableImport(format: format)
        importer.matching = .id
        // A column that no record has is not there; types go by the names in the file.
        for field in fields where table.lastSnapshot.contains(where: { $0[field] != nil }) {
          importer.types[JSONText.fieldName(field)] = type
        }
        let bytes = try exported(table.lastSnapshot, TableExport(format: format))
        let report = try take(bytes, importer, into: "u", of: store)
        let again = try store.table("u")
        #expect(try again.exists)
        #expect(try report.added == table.count)
        #expect(again.lastSnapshot.ids == table.lastSnapshot.ids)
        let wrong = zip(table.lastSnapshot, again.lastSnapshot).first { $0.fields != $1.fields }
        #expect(wrong == nil, "seed \(random.seed)")
      }
    }
  }

  @Test func xmlPropertyListKeepsEveryValue() throws { try check(.plist, any) }
  @Test func binaryPropertyListKeepsEveryValue() throws { try check(.binaryPlist, any) }
  @Test func jsonKeepsAllButDatesAndData() throws { try check(.json) { plain(&$0) } }
  @Test func ndjsonKeepsAllButDatesAndData() throws { try check(.ndjson) { plain(&$0) } }

  @Test func delimitedTextKeepsText() throws {
    for encoding in DelimitedFormat.Encoding.allCases {
      for (separator, quote) in [(",", "\""), ("\t", "\""), ("^", "~")] as [(Character, Character)] {
        var format = try #require(DelimitedFormat(separator: separator, quote: quote, encoding: encoding))
        if separator == "^" { format.lineEnd = .crlf }
        if encoding == .latin1 || encoding == .windows1252 {
          try check(.delimited(format), fields: ["a", "id", "fields.id", "\u{e9}"], rounds: 3, latin)
        } else {
          try check(.delimited(format), rounds: 3, text)
        }
      }
    }
  }

  @Test func givenTypesRestoreOtherValues() throws {
    let kinds: [(FieldType, (inout SeededRandom) -> PlistValue)] = [
      (.date, date), (.data, data), (.integer, { .integer(Int64(truncatingIfNeeded: $0.next())) }),
      (.float, { .real([.nan, .infinity, 0.1, 2, -0.0].randomElement(using: &$0)!) }),
      (.bool, { .bool(Bool.random(using: &$0)) }),
    ]
    for (type, value) in kinds {
      for format in [ExchangeFormat.json, .delimited(.csv)] {
        try check(format, fields: ["a", "id", "fields.id", "z"], type: type, rounds: 3, value)
      }
    }
  }

  @Test func propertyListKeepsItsIDsInNewTableOnly() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      for name in ["a", "b", "c"] { try table.add(["name": .string(name)], at: .top) }
      try table.delete(2)
      for format in [ExchangeFormat.plist, .binaryPlist] {
        let bytes = try exported(table.lastSnapshot, TableExport(format: format))
        try take(bytes, TableImport(format: .plist), into: "\(format)", of: store)
        #expect(try store.table("\(format)").lastSnapshot.ids == [3, 1])
        try take(bytes, TableImport(format: .plist), into: "\(format)", of: store)
        #expect(try store.table("\(format)").lastSnapshot.ids == [3, 1, 4, 5])
      }
    }
  }

  @Test(arguments: [ExchangeFormat.delimited(.csv), .json, .ndjson, .plist, .binaryPlist])
  func exportReportsProgress(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: (0..<2_500).map { ["n": .integer($0)] })
      var told: [Int] = []
      try TableExport(format: format).write(table.lastSnapshot, progress: { told.append($0) }) { _ in }
      #expect(told == [1_000, 2_000])
    }
  }

  @Test func importedTableFileKeepsItsCounter() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      for name in ["a", "b", "c"] { try table.add(["name": .string(name)], at: .top) }
      try table.delete(3)
      try store.checkpoint()
      let file = try table.url
      _ = try store.write { tx in
        try TableImport(format: .plist).run(ImportSource(file), into: "copy", in: &tx)
      }
      let copy = try store.table("copy")
      #expect(copy.lastSnapshot.ids == [2, 1])
      #expect(try copy.counter == 3)
    }
  }
}
