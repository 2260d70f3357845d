import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// The tables of the USDA's food data with the rules that their documentation gives, and rows that break them.
@Suite(.enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"))
struct USDASchemaTests {
  private static let groups = TableSchema(fields: [
    FieldSchema("code", type: .string, isRequired: true, isUnique: true, pattern: "\\d{4}"),
    FieldSchema("name", type: .string, isRequired: true),
  ])
  private static let foods = TableSchema(fields: [
    FieldSchema("ndb", type: .string, isRequired: true, isUnique: true, pattern: "\\d{5}"),
    FieldSchema("group", isRequired: true, references: ReferenceRule("groups", field: "code")),
    FieldSchema("long", type: .string, isRequired: true),
    FieldSchema("refuse", type: .integer, minimum: 0, maximum: 100),
    FieldSchema("protein", type: .float, minimum: 0.0, maximum: 10.0),
  ])
  private static let weights = TableSchema(
    fields: [
      FieldSchema(
        "ndb", isRequired: true, references: ReferenceRule("foods", field: "ndb", onDelete: .cascade)),
      FieldSchema("seq", type: .integer), FieldSchema("grams", type: .float, minimum: 0.0),
    ], unique: [["ndb", "seq"]])

  private func lines(_ file: String, _ count: Int) throws -> [[UInt8]] {
    let url = sharedFolder.appendingPathComponent("data/usda-sr28/\(file).txt")
    return try Array(Data(contentsOf: url)).split(separator: 0x0A).prefix(count).map(Array.init)
  }

  private func importer(_ fields: String) throws -> TableImport {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~", encoding: .windows1252))
    var importer = TableImport(format: .delimited(usda, hasHeader: false))
    importer.fields = fields.split(separator: ",").map(String.init)
    return importer
  }

  private var foodImport: TableImport {
    get throws {
      try importer(
        "ndb,group,long,short,common,maker,survey,refuse_text,refuse,scientific,nitrogen,protein,fat,carbohydrate"
      )
    }
  }

  private func withTables(_ body: (RecordStore) throws -> Void) throws {
    try withStore(.disk) { store in
      for (table, schema) in [("groups", Self.groups), ("foods", Self.foods), ("weights", Self.weights)] {
        try store.table(table).declare(schema)
      }
      let bytes = try Array(lines("FD_GROUP", .max).joined(separator: [0x0A]))
      try take(bytes, importer("code,name"), into: "groups", of: store)
      try body(store)
    }
  }

  @Test func plantedErrorsAreNamedAndMended() throws {
    try withTables { store in
      let good = try lines("FOOD_DES", 200)
      var planted = good
      for (line, column, text) in [
        (10, 1, "~9999~"), (20, 0, "~01001~"), (30, 2, ""), (40, 11, "much"), (50, 11, "101.5"),
        (60, 0, "~1060~"),
      ] {
        var cells = planted[line - 1].split(separator: UInt8(ascii: "^"), omittingEmptySubsequences: false)
        cells[column] = Array(text.utf8)[...]
        planted[line - 1] = Array(cells.joined(separator: [UInt8(ascii: "^")]))
      }
      let bytes = Array(planted.joined(separator: [0x0A]))
      var foods = try foodImport
      let error = storeError { _ = try take(bytes, foods, into: "foods", of: store) }
      #expect(
        error?.code.rawValue == StoreError.Code.invalidText.rawValue || error?.code == .missingReference)
      #expect(error?.line == 10 && error?.field == "group", "\(String(describing: error))")
      #expect(try store.table("foods").count == 0)

      foods.onError = .skip
      let report = try take(bytes, foods, into: "foods", of: store)
      #expect(report.added == 194 && report.skipped.compactMap(\.line) == [10, 20, 30, 40, 50, 60])
      #expect(report.skipped.map(\.field) == ["group", "ndb", "long", "protein", "protein", "ndb"])

      // The right rows fill the gaps, and change nothing else.
      foods.onError = .stop
      foods.matching = .key(["ndb"])
      let mended = try take(Array(good.joined(separator: [0x0A])), foods, into: "foods", of: store)
      #expect((mended.added, mended.changed, mended.unchanged) == (6, 0, 194))
    }
  }

  @Test func editorsErrorsAreFoundAndMended() throws {
    try withTables { store in
      try take(Array(lines("FOOD_DES", 100).joined(separator: [0x0A])), foodImport, into: "foods", of: store)
      let known = try Set(store.table("foods").snapshot().compactMap { $0.fields["ndb"]?.string })
      let rows = try lines("WEIGHT", 1_000).filter {
        known.contains(String(decoding: $0[1..<6], as: UTF8.self))
      }
      let weights = try importer("ndb,seq,amount,measure,grams,points,deviation")
      let count = try take(Array(rows.joined(separator: [0x0A])), weights, into: "weights", of: store).added
      #expect(count > 100)
      try store.checkpoint()
      let file = try store.url(of: "foods")
      let text = try String(contentsOf: file, encoding: .utf8)
      let protein = try #require(text.firstMatch(of: /<key>protein<\/key>\n\t\t\t(<real>([0-9.]+)<\/real>)/))
      let edited = text.replacing(protein.1, with: "<string>\(protein.2)</string>", maxReplacements: 1)
        .replacing("<string>01005</string>", with: "<string>01004</string>")
      try edited.write(to: file, atomically: true, encoding: .utf8)
      let findings = try store.check("foods")
      #expect(findings.count == 2 && findings.allSatisfy { $0.severity == .warning && $0.error.line != nil })
      #expect(Set(findings.map(\.error.code)) == [.wrongType, .notUnique])
      // The number that became text is clear. Which food has the number twice is for people to say.
      let repairs = try store.write { tx in try tx["foods"].repairFields { $1.value(of: $0) } }
      #expect(repairs.count { $0.change != nil } == 1)
      try store.table("foods").set(["ndb": "01005"], of: 5)
      #expect(try store.check("foods").isEmpty)

      #expect(storeError { try store.table("groups").delete(1) }?.code == .stillReferenced)
      try store.table("foods").delete(1)
      let left = try store.table("weights").snapshot()
      #expect(!left.contains { $0.fields["ndb"] == "01001" } && left.count < count && left.count > 0)
    }
  }
}
