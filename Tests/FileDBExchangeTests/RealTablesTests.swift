import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// The tables of the USDA's food data through every format and back.
@Suite struct RealTablesTests {
  private static let tables: [(file: String, fields: String)] = [
    (
      "FOOD_DES",
      "ndb,group,long,short,common,maker,survey,refuse_text,refuse,scientific,nitrogen,protein,fat,carbohydrate"
    ), ("FD_GROUP", "code,name"), ("WEIGHT", "ndb,seq,amount,measure,grams,points,deviation"),
    ("LANGUAL", "ndb,factor"), ("FOOTNOTE", "ndb,number,type,nutrient,text"),
    ("NUTR_DEF", "number,unit,tag,name,decimals,order"), ("LANGDESC", "factor,description"),
  ]
  private static let formats: [ExchangeFormat] = [
    .delimited(.csv), .delimited(.tsv), .json, .ndjson, .plist, .binaryPlist,
  ]
  /// Of each table; all of them with `FILEDB_ROWS=all`.
  private static let rowLimit =
    ProcessInfo.processInfo.environment["FILEDB_ROWS"] == "all" ? Int.max : 500

  /// The file with its types, and how many rows it has.
  private func table(_ file: String, fields: String) throws -> (
    bytes: [UInt8], import: TableImport, rows: Int
  ) {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~", encoding: .windows1252))
    var text = TableImport(format: .delimited(usda, hasHeader: false))
    text.fields = fields.split(separator: ",").map(String.init)
    let url = sharedFolder.appendingPathComponent("data/usda-sr28/\(file).txt")
    let lines = try Array(Data(contentsOf: url)).split(separator: 0x0A).prefix(Self.rowLimit)
    let bytes = Array(lines.joined(separator: [0x0A]))
    text.types = try text.detectedTypes(of: ImportSource(bytes, name: file))
    return (bytes, text, lines.count)
  }

  /// Without a word about types: the table has them.
  @Test(
    .enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: tables)
  func tableGivesItsExportItsTypes(file: String, fields: String) throws {
    let (bytes, text, rows) = try table(file, fields: fields)
    try withStore { store in
      try take(bytes, text, of: store)
      let before = try store.table("t").lastSnapshot
      let csv = try exported(before, TableExport(format: .delimited(.csv)))
      var back = TableImport(format: .delimited(.csv))
      back.matching = .id
      #expect(try take(csv, back, of: store).unchanged == rows)
      // As long as one record has a field, the others come back.
      var fields: Set<String> = []
      let others = before.filter { record in
        let known = fields.count
        fields.formUnion(record.fields.dictionary.keys)
        return fields.count == known
      }
      try store.table("t").delete(others.map(\.id))
      #expect(try take(csv, back, of: store).added == others.count)
      let after = try store.table("t").lastSnapshot
      // They are below the records that stayed.
      #expect(after.count == before.count && before.allSatisfy { after[id: $0.id]?.fields == $0.fields })
    }
  }

  /// Into a new table, with the schema that went out beside the records.
  @Test(
    .enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: tables)
  func newTableGetsTheTypesOfAnExportedSchema(file: String, fields: String) throws {
    let (bytes, text, _) = try table(file, fields: fields)
    try withStore { store in
      try take(bytes, text, of: store)
      let table = try store.table("t").lastSnapshot
      let schema = FrictionlessSchema.text(of: TableSchema(describing: table))
      for (number, format) in Self.formats.enumerated() {
        var back = TableImport(format: format)
        back.matching = .id
        back.schema = try FrictionlessSchema.read(Array(schema.utf8), name: "schema")
        try take(try exported(table, TableExport(format: format)), back, into: "u\(number)", of: store)
        let again = try store.table("u\(number)").lastSnapshot
        #expect(again.ids == table.ids && again.map(\.fields) == table.map(\.fields), "\(format)")
        #expect(again.counter == table.counter)
      }
    }
  }

  @Test(
    .enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: tables)
  func realTablesSurviveExportAndImport(file: String, fields: String) throws {
    let (bytes, text, rows) = try table(file, fields: fields)
    try withStore { store in
      try take(bytes, text, of: store)
      let table = try store.table("t").lastSnapshot
      #expect(table.count == rows)
      for (number, format) in Self.formats.enumerated() {
        var back = TableImport(format: format)
        back.matching = .id
        if case .delimited = format { back.types = text.types }
        try take(try exported(table, TableExport(format: format)), back, into: "u\(number)", of: store)
        let again = try store.table("u\(number)").lastSnapshot
        #expect(again.ids == table.ids && again.map(\.fields) == table.map(\.fields), "\(format)")
      }
    }
  }
}
