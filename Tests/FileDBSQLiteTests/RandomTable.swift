import FileDB
import FileDBExchange
import Foundation
import TestSupport

/// Records whose fields SQLite can hold without loss, and the types that an import has to be told.
struct RandomTable {
  private(set) var records: [IdentifiedValue<Fields>] = []
  private(set) var types: [String: FieldType] = [:]

  private enum Kind: CaseIterable {
    case text, integer, real, bool, date, data, array, whole, mixed

    /// What SQLite has no type for.
    var fieldType: FieldType? {
      switch self {
      case .array: .json
      case .whole: .integer
      case .real: .float
      case .text, .integer, .bool, .date, .data, .mixed: nil
      }
    }
  }

  init(using random: inout SeededRandom) {
    let names = ["id", "fields.ID", "position", "rowid", "Ünder", "e\u{301}", "é", "a \"b\"", "order"]
    var kinds: [(String, Kind)] = []
    for name in names where Bool.random(using: &random) {
      // The types are found by Swift's equality, to which these two are one.
      let hasTwin = name == "é"
      let kind = Kind.allCases.filter { !hasTwin || $0.fieldType == nil }.randomElement(using: &random)!
      kinds.append((name, kind))
      types[Self.column(name)] = kind.fieldType
    }
    let ids = Array(0..<Int64.random(in: 0...30, using: &random)).shuffled(using: &random)
    for id in ids {
      var record = Fields()
      for (name, kind) in kinds where Int.random(in: 0..<4, using: &random) > 0 {
        record[name] = Self.value(kind, using: &random)
      }
      records.append(IdentifiedValue(record, id: RecordID<Fields>(rawValue: id == 0 ? .max / 2 : id)))
    }
    // A field that no record has becomes no column.
    types = types.filter { type in
      names.contains { name in
        Self.column(name) == type.key && records.contains { $0.value[name] != nil }
      }
    }
  }

  /// The name of the column of a field.
  private static func column(_ field: String) -> String {
    ["id", "fields.ID", "position"].contains(field) ? "fields." + field : field
  }

  private static func value(_ kind: Kind, using random: inout SeededRandom) -> PlistValue {
    switch kind {
    case .text: .string(text(using: &random))
    case .integer:
      .integer(
        [.min, -1, 0, .max, .random(in: .min ... .max, using: &random)].randomElement(using: &random)!)
    case .real: .real(real(using: &random))
    case .bool: .bool(.random(using: &random))
    case .date:
      .date(
        Date(timeIntervalSince1970: Double(Int.random(in: -62_135_596_800...253_402_300_799, using: &random)))
      )
    case .data:
      .data(
        Data((0..<Int.random(in: 0...9, using: &random)).map { _ in .random(in: 0...255, using: &random) }))
    case .array: [.string(text(using: &random)), ["k": .integer(.random(in: -9...9, using: &random))]]
    case .whole: PlistValue(UInt64.random(in: 0 ... .max, using: &random))
    case .mixed:
      value([Kind.text, .integer, .data].randomElement(using: &random)!, using: &random)
    }
  }

  private static func text(using random: inout SeededRandom) -> String {
    let parts = [
      "", "1", "1.0", "é", "e\u{301}", "'", "\"", "\u{FEFF}", "😀", "\n", "\r", "nan", "x'00'", " ",
    ]
    return (0..<Int.random(in: 0...4, using: &random)).map { _ in parts.randomElement(using: &random)! }
      .joined()
  }

  private static func real(using random: inout SeededRandom) -> Double {
    let number = Double(bitPattern: .random(in: 0 ... .max, using: &random))
    return [
      0, 1, 0.1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16, number,
    ]
    .randomElement(using: &random)!
  }
}
