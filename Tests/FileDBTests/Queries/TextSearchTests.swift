import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct TextSearchTests {
  @Test func searchFindsEveryWordInSomeField() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [
        ["name": "Crème Brûlée", "note": "with sugar", "tags": ["French", "Süß"]],
        ["name": "cream", "note": "brulee"], ["name": "BRULEE of creme", "n": 5], ["note": "creme brulee"],
        ["other": "creme brulee"],
      ])
      func ids(_ text: String, _ fields: [String]? = nil) -> [RecordID<Fields>] {
        table.lastSnapshot.search(text, in: fields).map(\.id)
      }
      #expect(ids("creme brulee", ["name", "note"]) == [1, 3, 4])
      #expect(ids("BRÛLÉE  crème\n", ["name"]) == [1, 3])
      #expect(ids("brul crem sug") == [1], "parts of words, each in any field")
      #expect(ids("brul crem sug", ["name"]).isEmpty)
      #expect(ids("suss french") == [1], "arrays of texts")
      #expect(ids("creme brulee") == [1, 3, 4, 5])
      #expect(ids("5").isEmpty, "a number is no text")
      #expect(ids("") == [1, 2, 3, 4, 5])
      #expect(ids(" \t", []) == [1, 2, 3, 4, 5])
      #expect(ids("creme", []).isEmpty)
      #expect(ids("creme", ["nosuch"]).isEmpty)
      #expect(ids("crème' OR TRUEPREDICATE").isEmpty)
    }
  }

  @Test func searchKeepsTableOrderInLargeTable() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: (1...9_000).map { ["a": .string("Nº \($0)"), "b": .string("é\($0 % 7)")] })
      try table.move(8_888, to: .top)
      let expected = table.lastSnapshot.filter {
        $0.fields["a"]!.string!.contains("88") && $0.fields["b"]!.string!.contains("5")
          || $0.fields["a"]!.string!.contains("5") && $0.fields["a"]!.string!.contains("88")
      }.map(\.id)
      #expect(!expected.isEmpty)
      #expect(table.lastSnapshot.search("88 5").map(\.id) == expected)
    }
  }
}
