import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// The order in which a new table shows the fields of the file that it comes from.
@Suite struct ColumnOrderTests {
  private static let files: [(format: ExchangeFormat, text: String)] = [
    (.delimited(.csv), "z,b,a\n1,,3\n4,5,6\n"), (.json, #"[{"z": 1, "b": null, "a": 3}, {"a": 4, "b": 5}]"#),
    (.ndjson, "{\"z\": 1, \"b\": {\"x\": 2}, \"a\": 3}\n{\"c\": 1}\n"),
  ]

  /// The names of the fields that the table declares after these imports, one behind the other.
  private func declared(_ order: ColumnOrder, _ imports: [(ExchangeFormat, String)]) throws -> [String]? {
    try withStore { store in
      for (format, text) in imports {
        var importer = TableImport(format: format)
        importer.columnOrder = order
        try take(Array(text.utf8), importer, of: store)
      }
      let schema = try store.table("t").snapshot().schema
      #expect(schema?.fields == schema?.fields.map { FieldSchema($0.name) }, "a rule that nobody asked for")
      return schema?.fields.map(\.name)
    }
  }

  @Test(arguments: files.indices) func newTableDeclaresTheOrderOfItsFile(index: Int) throws {
    let (format, text) = Self.files[index]
    #expect(try declared(.asInFile, [(format, text)]) == ["z", "b", "a"])
    #expect(try declared(.byName, [(format, text)]) == nil)
  }

  @Test func orderOfTheNamesNeedsNoSchema() throws {
    #expect(try declared(.asInFile, [(.delimited(.csv), "a,b,z\n1,2,3\n")]) == nil)
  }

  @Test func tableThatExistsKeepsItsOrder() throws {
    let first = (ExchangeFormat.delimited(.csv), "a,b\n1,2\n")
    #expect(try declared(.asInFile, [first, (.delimited(.csv), "z,b,a\n1,2,3\n")]) == nil)
    let second = (ExchangeFormat.delimited(.csv), "z,b,a\n1,2,3\n")
    #expect(try declared(.asInFile, [second, (.delimited(.csv), "a,z\n1,2\n")]) == ["z", "b", "a"])
  }

  @Test func idOfAnExportIsNoColumn() throws {
    let export = (ExchangeFormat.delimited(.csv), "id,name,fields.id,age\n1,Ann,x,7\n")
    #expect(try declared(.asInFile, [export]) == ["name", "id", "age"])
  }

  @Test func fieldsWithoutRulesTakeAnyValue() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.declare(TableSchema(fields: [FieldSchema("b"), FieldSchema("a", title: "A")]))
      try table.add(contentsOf: [["a": 1], ["b": "text"], ["c": true]])
      #expect(try table.count == 3)
    }
  }
}
