import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

@Suite struct RealTableTests {
  private static let tables: [(file: String, fields: String)] = [
    ("FD_GROUP", "group,name"),
    (
      "FOOD_DES",
      "ndb,group,long,short,common,maker,survey,refuse_text,refuse,scientific,n,protein,fat,carbohydrate"
    ),
    ("FOOTNOTE", "ndb,number,type,nutrient,text"), ("LANGDESC", "factor,text"), ("LANGUAL", "ndb,factor"),
    ("NUTR_DEF", "nutrient,unit,tag,name,digits,order"),
    ("WEIGHT", "ndb,sequence,amount,measure,grams,points,deviation"),
  ]

  /// The USDA's food data through SQLite and back, to the last byte.
  @Test(
    .enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: tables)
  func realTablesSurviveExportAndImport(file: String, fields: String) throws {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~", encoding: .windows1252))
    var text = TableImport(format: .delimited(usda, hasHeader: false))
    text.fields = fields.split(separator: ",").map(String.init)
    let source = ImportSource(sharedFolder.appendingPathComponent("data/usda-sr28/\(file).txt"))
    text.types = try text.detectedTypes(of: source)
    try withDatabase { database in
      try withStore(.disk) { store in
        _ = try store.write { tx in try text.run(source, into: "t", in: &tx) }
        let table = try store.table("t")
        #expect(try table.count > 20)
        for id in table.lastSnapshot.ids.prefix(5) { try table.move(id, to: .bottom) }
        try SQLiteExport(to: database, table: "t").run(table.lastSnapshot)
        try take(SQLiteImport(exported: "t", of: database), into: "u", of: store)
        try store.checkpoint()
        let again = try store.table("u")
        #expect(try Data(contentsOf: table.url) == Data(contentsOf: again.url))
        // A look at the invariants of tables of this size takes longer than all of the above.
        for table in [table, again] { try table.drop() }
      }
    }
  }
}
