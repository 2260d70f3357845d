import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// What pages read.
@Suite struct RecordRouteTests {
  private let records = "/api/tables/todo/records"

  @Test func storeAndTableAreDescribed() async throws {
    try await withBrowsedStore { browsed throws in
      let store = try browsed.members("/api/store")
      #expect(store["name"] as? String == browsed.store.url.lastPathComponent)
      #expect(store["path"] as? String == browsed.store.url.path && store["readOnly"] as? Bool == false)
      let tables = try browsed.get("/api/store").text
      #expect(
        tables.contains(
          #""tables":[{"name":"todo","count":3,"problem":null,"attached":false}],"copies":[],"undo":[],"redo":[],"shared":null"#
        ))
      #expect(
        try browsed.get("/api/tables/todo").text == #"""
          {"name":"todo","count":3,"columns":[\#
          {"name":"litres","title":null,"type":"float","declaredType":null,"required":false,"unique":false,"declared":false,"values":null,"minimum":null,"maximum":null,"pattern":null,"standard":null,"references":null},\#
          {"name":"title","title":null,"type":"string","declaredType":null,"required":false,"unique":false,"declared":false,"values":null,"minimum":null,"maximum":null,"pattern":null,"standard":null,"references":null}],\#
          "schema":false,"problem":null}
          """#)
      #expect(try browsed.get("/api/tables/none").status == 404)
    }
  }

  @Test func schemaGivesColumns() async throws {
    try await withBrowsedStore { browsed throws in
      let todo = try browsed.store.table("todo")
      try todo.declare(
        TableSchema(fields: [
          FieldSchema("title", type: .string, title: "What", isRequired: true),
          FieldSchema("list", type: .string, allowedValues: ["home", "work"]),
          FieldSchema("after", type: .integer, references: ReferenceRule("todo")),
        ]))
      let text = try browsed.get("/api/tables/todo").text
      let columns = [
        #""name":"title","title":"What","type":"string","declaredType":"string","required":true,"unique":false,"declared":true,"values":null"#,
        #""name":"list","title":null,"type":"string","declaredType":"string","required":false,"unique":false,"declared":true,"values":["home","work"]"#,
        #""pattern":null,"standard":null,"references":{"table":"todo","field":"id","onDelete":"restrict"}"#,
        #""name":"litres","title":null,"type":"float""#,
      ]
      var rest = text[...]
      for column in columns {
        let range = try #require(rest.range(of: column), "\(column) in \(rest)")
        rest = rest[range.upperBound...]
      }
      #expect(text.contains(#""schema":true"#))
    }
  }

  @Test func fieldsOfLaterRecordsAreColumns() async throws {
    try await withBrowsedStore { browsed throws in
      let many = try browsed.store.table("many")
      try many.add(contentsOf: (0..<3_000).map { ["n": .integer(Int64($0))] })
      try many.add(contentsOf: (0..<20).map { _ in ["late": true, "n": "text"] })
      let text = try browsed.get("/api/tables/many").text
      #expect(text.contains(#""name":"late","title":null,"type":"bool""#))
      #expect(text.contains(#""name":"n","title":null,"type":null"#))
    }
  }

  @Test func valuesLoseNothing() async throws {
    try await withBrowsedStore { browsed throws in
      let values: [(PlistValue, String)] = [
        ("a\"\\\u{8}\n\u{1F}\u{7F}é", #""a\"\\\u0008\u000a\u001f\#u{7F}é""#), (true, "true"),
        (false, "false"),
        (.integer(.min), #"{"integer":"-9223372036854775808"}"#),
        (.unsigned(.max), #"{"integer":"18446744073709551615"}"#),
        (.real(1), #"{"float":"1"}"#), (.real(0.1), #"{"float":"0.1"}"#), (.real(-0.0), #"{"float":"-0"}"#),
        (.real(1e300), #"{"float":"1e+300"}"#), (.real(.infinity), #"{"float":"+infinity"}"#),
        (.real(-.infinity), #"{"float":"-infinity"}"#), (.real(.nan), #"{"float":"nan"}"#),
        (.date(Date(timeIntervalSince1970: -62_135_596_800)), #"{"date":"0001-01-01T00:00:00Z"}"#),
        (.data(Data([0, 255])), #"{"data":"AP8="}"#),
        (
          [1, ["b": "x", "a": []]],
          #"{"array":[{"integer":"1"},{"dictionary":[["a",{"array":[]}],["b","x"]]}]}"#
        ),
      ]
      let table = try browsed.store.table("values")
      for (value, json) in values where value != .string("a\"\\\u{8}\n\u{1F}\u{7F}é") {
        let id = try table.add(["value": value])
        let text = try browsed.get("/api/tables/values/record?id=\(id)").text
        #expect(text == #"{"id":"\#(id)","fields":[["value",\#(json)]]}"#)
        // And back.
        let added = try browsed.post(
          "/api/tables/values/add", #"{"records":[{"fields":[["value",\#(json)]]}],"at":{"end":true}}"#)
        #expect(added.status == 200, "\(added.text)")
        #expect(try table.snapshot().last?.fields["value"] == value)
      }
    }
  }

  @Test func longValuesAreCutInLists() async throws {
    try await withBrowsedStore { browsed throws in
      let long = String(repeating: "é", count: 300)
      let table = try browsed.store.table("long")
      try table.add(["v": .string(long)])
      try table.add(["v": .string(long + "😀")])
      try table.add(["v": .data(Data("GIF89a".utf8))])
      try table.add(["v": .array(Array(repeating: "0123456789", count: 100))])
      try table.add(["v": .dict(["k": .string(String(repeating: "x", count: 600))])])
      let text = try browsed.get("/api/tables/long/records").text
      #expect(text.contains(#"["v","\#(long)"]"#))
      #expect(text.contains(#"["v",{"text":"\#(long)","length":302}]"#))
      #expect(text.contains(#"["v",{"bytes":6,"media":"image/gif"}]"#))
      #expect(text.contains(#"["v",{"array":null,"count":100}]"#))
      #expect(text.contains(#"["v",{"dictionary":null,"count":1}]"#))
      #expect(try browsed.get("/api/tables/long/record?id=2").text.contains(long + "😀"))
    }
  }

  @Test func listsAreFilteredSearchedAndSorted() async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.store.table("todo").add(contentsOf: [
        ["title": "Butter milk", "litres": 1.0], ["title": "Bread"],
      ])
      for (query, ids) in [
        ("", ["1", "2", "3", "4", "5"]), ("?from=1&count=2", ["2", "3"]), ("?from=9", []), ("?count=0", []),
        ("?where=title+%3D+'Bread'", ["2", "5"]), ("?search=milk", ["1", "4"]),
        ("?sort=title", ["3", "2", "5", "4", "1"]),
        ("?sort=-title", ["1", "4", "2", "5", "3"]), ("?sort=title,-id", ["3", "2", "5", "4", "1"]),
        ("?where=litres+>+0&sort=litres", ["4", "1"]), ("?where=litres+>+0&search=butter", ["4"]),
        ("?search=b&sort=-title", ["4", "2", "5"]), ("?where=+&search=+&sort=", ["1", "2", "3", "4", "5"]),
      ] {
        #expect(try browsed.list(records + query) == ids, "\(query)")
        if query.hasPrefix("?where") || query.hasPrefix("?s") {
          for (place, id) in ids.enumerated() {
            let found = try browsed.members("/api/tables/todo/place\(query)&id=\(id)")
            #expect(found["place"] as? Int == place, "\(query) \(id)")
          }
        }
      }
      #expect(try browsed.get("/api/tables/todo/place?id=1&where=litres+=+1").text == #"{"place":null}"#)
      #expect(try browsed.get("/api/tables/todo/place?id=5").text == #"{"place":4}"#)
    }
  }

  @Test func versionChangesWithTheTable() async throws {
    try await withBrowsedStore { browsed throws in
      func version() throws -> String { try #require(try browsed.members(records)["version"] as? String) }
      let first = try version()
      #expect(try version() == first)
      // By another program.
      let other = try RecordStore(at: browsed.store.url)
      try other.table("todo").update(1) { $0["title"] = "Oat milk" }
      let second = try version()
      #expect(second != first)
      #expect(try browsed.list(records + "?where=title+=+'Oat+milk'") == ["1"])
      try other.table("todo").update(2) { $0["title"] = "Oat milk" }
      #expect(try browsed.list(records + "?where=title+=+'Oat+milk'") == ["1", "2"])
      try other.table("todo").declare(TableSchema(fields: [FieldSchema("title", type: .string)]))
      #expect(try version() != second)
      try other.close()
    }
  }

  @Test func predicateErrorsHaveTheirPlace() async throws {
    try await withBrowsedStore { browsed throws in
      for (condition, position, word) in [
        ("title = = 'x'", [8, 9], "="), ("title = '😀' AND litres >", [25, 25], ""),
        ("(title = 'a'", [12, 12], ""),
        ("title WIE 'x'", [6, 9], "WIE"), ("title = 'a'\nAND litres ? 1", [23, 24], "?"),
      ] {
        let query = condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for path in ["/api/predicate?table=todo&where=\(query)", "\(records)?where=\(query)"] {
          let answer = try browsed.get(path)
          #expect(answer.status == 400)
          let json = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
          let error = try #require(json?["error"] as? [String: Any])
          #expect(error["code"] as? String == "invalidPredicate")
          let found = try #require(error["position"] as? [Int], "\(answer.text)")
          #expect(found == position, "\(condition)")
          let units = Array(condition.utf16)
          #expect(String(decoding: units[found[0]..<found[1]], as: UTF16.self) == word)
        }
      }
      #expect(
        try browsed.get("/api/predicate?table=todo&where=titel+=+1").text
          == #"{"ok":true,"unknown":[{"name":"titel","nearest":"title"}]}"#)
      #expect(try browsed.members("/api/predicate?table=todo")["fields"] as? [String] == ["litres", "title"])
    }
  }

  @Test func exportsAreThoseOfTheCommand() async throws {
    try await withBrowsedStore { browsed throws in
      let export = { (body: String) in try browsed.post("/api/tables/todo/export", body) }
      #expect(
        try export(#"{"format":"csv"}"#).text
          == "id,litres,title\n1,2,Milk\n2,,Bread\n3,,<script>alert(1)</script>\n")
      #expect(
        try export(#"{"format":"tsv","ids":["3","1"]}"#).text
          == "id\tlitres\ttitle\n3\t\t<script>alert(1)</script>\n1\t2\tMilk\n")
      #expect(
        try export(#"{"format":"json","where":"litres > 0"}"#).text
          == "[\n  {\"id\": 1, \"litres\": 2.0, \"title\": \"Milk\"}\n]\n")
      #expect(try export(#"{"format":"csv","sort":"title"}"#).text.hasPrefix("id,litres,title\n3,"))
      #expect(try export(#"{"format":"csv","ids":["3","9"]}"#).status == 404)
      #expect(try export(#"{"format":"xml"}"#).status == 400)
    }
  }

  /// An address has room for about 1,800 ids.
  @Test func manyRecordsAreExported() async throws {
    try await withBrowsedStore { browsed throws in
      let ids = try browsed.store.table("todo").add(
        contentsOf: Array(repeating: ["title": "x"], count: 5_000))
      let list = ids.map { #""\#($0)""# }.joined(separator: ",")
      let export = try browsed.post("/api/tables/todo/export", #"{"format":"tsv","ids":[\#(list)]}"#)
      #expect(export.status == 200 && export.text.split(separator: "\n").count == 5_001)
    }
  }

  @Test func valuesOfAFieldAreCounted() async throws {
    try await withBrowsedStore { browsed throws in
      let table = try browsed.store.table("many")
      try table.add(contentsOf: [["a": "x"], ["a": 1], ["a": "x"], ["b": true], ["a": .array(["x"])]])
      #expect(
        try browsed.get("/api/tables/many/values?field=a").text.hasPrefix(
          #"{"values":[{"value":"x","count":2},"#))
      #expect(try browsed.members("/api/tables/many/values?field=a")["complete"] as? Bool == true)
      #expect(try browsed.get("/api/tables/many/values?field=c").text == #"{"values":[],"complete":true}"#)
      try table.add(contentsOf: (0..<300).map { ["a": .integer($0 + 10)] })
      let values = try browsed.members("/api/tables/many/values?field=a")
      #expect((values["values"] as? [Any])?.count == 200 && values["complete"] as? Bool == false)
    }
  }

  @Test func recordsThatAListStillHasAreTold() async throws {
    try await withBrowsedStore { browsed throws in
      let present = { (query: String) in
        try browsed.post("/api/tables/todo/present", #"{\#(query)"ids":["3","9","1"]}"#).ids
      }
      #expect(try present("") == ["3", "1"])
      #expect(try present(#""where":"litres > 0","#) == ["1"])
      #expect(try present(#""search":"script","sort":"title","#) == ["3"])
    }
  }

  /// A page shows dates in its time zone, and what people write means the same.
  @Test func datesInAConditionAreInTheZoneOfThePage() async throws {
    try await withBrowsedStore { browsed throws in
      let date = try #require(FieldType.date.value(of: "2010-03-04T23:30:00Z"))
      try browsed.store.table("days").add(contentsOf: [
        ["made": date, "title": "late"], ["title": "2010-03-05"],
      ])
      for (query, zone, ids) in [
        ("where=made >= '2010-03-05'", "", []),
        ("where=made >= '2010-03-05'", "Europe/Vienna", ["1"]),
        ("where=made = '2010-03-05 00:30'", "Europe/Vienna", ["1"]),
        ("where=made = '2010-03-04T23:30:00Z'", "Europe/Vienna", ["1"]),
        ("where=made = DATE('2010-03-05 05:00:00+05:30')", "Europe/Vienna", ["1"]),
        // Text is no date.
        ("where=title = '2010-03-05'", "Europe/Vienna", ["2"]),
        ("search=2010-03-05", "Europe/Vienna", ["1", "2"]), ("search=2010-03-05", "", ["2"]),
        ("search=2010-03-05 00:30", "Europe/Vienna", ["1"]), ("search=late 03-05", "Europe/Vienna", ["1"]),
        ("search=2010-03-04T23:30Z", "Europe/Vienna", ["1"]), ("search=2010-03-04 23:30Z", "", ["1"]),
        ("search=2010-03-05 00:30:00+01:00", "America/New_York", ["1"]), ("search=2010-03-05 00:30Z", "", []),
        ("search=late 2010-03-04 18:30-0500", "", ["1"]), ("search=late 03-04", "Europe/Vienna", []),
        ("search=late 03-04", "America/New_York", ["1"]),
        // Neither is a zone, nor a time within a word.
        ("search=2010-03-04T23:30+99:99", "", []), ("search=x2010-03-04T23:30Z", "", []),
        ("search=2010-03-04T23:30Zfoo", "", []),
      ] as [(String, String, [String])] {
        let parts = query.split(separator: "=", maxSplits: 1)
        let text = parts[1].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let path = "/api/tables/days/records?\(parts[0])=\(text)" + (zone.isEmpty ? "" : "&zone=\(zone)")
        #expect(try browsed.list(path) == ids, "\(query) in \(zone)")
      }
      #expect(try browsed.get("/api/tables/days/records?where=TRUE&zone=Nowhere").status == 400)
    }
  }

  @Test func pagesOfTheProgramAreThoseOfTheFolder() async throws {
    let folder = packageRoot.appendingPathComponent("Sources/FileDBBrowse/Pages")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(PageFile.names.sorted() == files)
    try await withBrowsedStore { browsed throws in
      for file in files {
        let answer = try browsed.get("/pages/\(file)")
        #expect(answer.status == 200)
        #expect(try Data(answer.body) == Data(contentsOf: folder.appendingPathComponent(file)), "\(file)")
      }
      let index = try browsed.get("/")
      #expect(index.headers["content-type"] == "text/html; charset=utf-8")
      #expect(index.text.hasPrefix("<!doctype html>"))
    }
  }

  @Test func browserKeepsThePagesOfOneStart() async throws {
    try await withBrowsedStore { browsed throws in
      let index = try browsed.get("/")
      #expect(index.headers["cache-control"] == "no-store")
      let path = try #require(index.text.firstMatch(of: #/"(/pages/[0-9a-z]+/app.js)"/#)?.1)
      #expect(!index.text.contains(#/"/pages/[^/]*"/#))
      let answer = try browsed.get(String(path))
      #expect(answer.headers["cache-control"] == "private, max-age=31536000, immutable")
      #expect(answer.headers["content-security-policy"] == index.headers["content-security-policy"])
      #expect(try answer.body == browsed.get("/pages/app.js").body)
      #expect(try browsed.get("/pages/app.js").headers["cache-control"] == "no-store")
      #expect(try browsed.get("/pages/0/app.js").status == 404)
    }
  }
}
