import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

/// Fields whose values have several types, in a table that was exported and is imported again.
@Suite struct SQLiteMixedColumnTests {
  private static let values: [PlistValue] = [
    4, 4.0, 7.5, -0.0, 0, 1, "4", "1", true, false, .date(Date(timeIntervalSince1970: 1_709_164_800)),
    "2024-02-29T00:00:00Z", .data(Data([1])), .real(.nan), "nan", .real(.infinity), .unsigned(.max),
    "18446744073709551615", [1, .date(Date(timeIntervalSince1970: 0))], "[1]", [:], "{}",
    ["k": .data(Data())],
  ]

  @Test func exportOfAnyTableChangesNothingWhenItIsImported() throws {
    var random = SeededRandom.fromEnvironment("mixed columns of SQLite")
    for _ in 0..<60 {
      try withStore { store in
        let table = try store.table("t")
        try table.create()
        let kinds = (0..<3).map { _ in (0..<3).map { _ in Self.values.randomElement(using: &random)! } }
        for key in 0..<Int.random(in: 1...8, using: &random) {
          var record: FileDB.Fields = ["key": .string("k\(key)")]
          for (name, values) in zip(["a", "id", "position"], kinds) where Bool.random(using: &random) {
            record[name] = values.randomElement(using: &random)!
          }
          try table.add(record)
        }
        let before = table.lastSnapshot.map(\.fields)
        try withDatabase { file in
          try SQLiteExport(to: file, table: "t").run(table.lastSnapshot)
          for matching in [TableImport.Matching.id, .key(["key"])] {
            var importer = SQLiteImport(.table("t"), of: file)
            importer.matching = matching
            let report = try take(importer, of: store)
            #expect(report.unchanged == before.count, "seed \(random.seed): \(report), \(before)")
            #expect(table.lastSnapshot.map(\.fields) == before, "seed \(random.seed)")
          }
        }
      }
    }
  }
}
