import FileDB
import Foundation
import TestSupport
import Testing

/// Predicates on the USDA's foods, against plain Swift over the same records.
@Suite(.enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"))
struct PredicateDataTests {
  private static let columns = [
    "ndb", "group", "long", "short", "common", "maker", "survey", "refuse_text", "refuse", "scientific", "n",
    "protein", "fat", "carbohydrate",
  ]

  private static func food() throws -> [Fields] {
    let file = sharedFolder.appendingPathComponent("data/usda-sr28/FOOD_DES.txt")
    let text = try #require(String(data: Data(contentsOf: file), encoding: .isoLatin1))
    return text.split(separator: "\r\n").map { line in
      var record = Fields()
      let cells = line.split(separator: "^", omittingEmptySubsequences: false)
      for (column, cell) in zip(columns, cells) where !cell.isEmpty && cell != "~~" {
        if cell.hasPrefix("~") {
          record[column] = .string(String(cell.dropFirst().dropLast()))
        } else {
          record[column] =
            column == "refuse" ? Int64(cell).map(PlistValue.integer) : Double(cell).map(PlistValue.real)
        }
      }
      return record
    }
  }

  @Test func predicatesAgreeWithClosures() throws {
    typealias Test = (Fields) -> Bool
    func text(_ record: Fields, _ field: String) -> String { record[field]?.string ?? "" }
    let cases: [(String, Test)] = [
      ("group == '0100'", { $0["group"] == "0100" }),
      ("fat > 8.9 AND protein >= 4.25", { $0["fat"]?.real ?? 0 > 8.9 && $0["protein"]?.real ?? 0 >= 4.25 }),
      ("refuse BETWEEN {10, 20}", { ($0["refuse"]?.integer).map { (10...20).contains($0) } ?? false }),
      ("scientific == NULL", { $0["scientific"] == nil }),
      ("NOT protein > 4", { !($0["protein"]?.real ?? 0 > 4) }),
      (
        "fat > protein OR carbohydrate == 0",
        { record in
          (record["fat"]?.real).flatMap { fat in (record["protein"]?.real).map { fat > $0 } } ?? false
            || record["carbohydrate"]?.real == 0
        }
      ),
      ("long CONTAINS[c] 'BUTTER'", { text($0, "long").lowercased().contains("butter") }),
      (
        "long BEGINSWITH 'Cheese' && long ENDSWITH 'low fat'",
        {
          text($0, "long").hasPrefix("Cheese") && text($0, "long").hasSuffix("low fat")
        }
      ),
      (
        "long LIKE 'Cheese, *ed, *'",
        {
          text($0, "long").wholeMatch(of: /Cheese, .*ed, .*/) != nil
        }
      ),
      (
        "long MATCHES[c] '.*\\\\b(milk|cream)\\\\b.*'",
        {
          text($0, "long").firstMatch(of: /\b(milk|cream)\b/.ignoresCase()) != nil
        }
      ),
      (
        "group IN {'0900', '1100'} AND NOT short CONTAINS 'RAW'",
        {
          ["0900", "1100"].contains($0["group"]) && !text($0, "short").contains("RAW")
        }
      ),
      (
        "long ==[cd] 'CREME FRAICHE' OR maker LIKE[cd] '*NESTLE*'",
        {
          text($0, "maker").folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).contains(
            "nestle")
        }
      ),
    ]
    let food = try Self.food()
    try withStore { store in
      let table = try store.table("food")
      try table.add(contentsOf: food)
      for (text, isTrue) in cases {
        let expected = zip(table.lastSnapshot.ids, food).filter { isTrue($1) }.map(\.0)
        #expect(!expected.isEmpty, "\(text)")
        #expect(try table.lastSnapshot.records(where: RecordPredicate(text)).map(\.id) == expected, "\(text)")
      }
      let found = table.lastSnapshot.search("creme raw", in: ["long"])
      #expect(
        found.map(\.id)
          == table.lastSnapshot.filter { record in
            let name = text(record.fields, "long").lowercased()
            return name.contains("creme") && name.contains("raw")
          }.map(\.id))
    }
  }
}
