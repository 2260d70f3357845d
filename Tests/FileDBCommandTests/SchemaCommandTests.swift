import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct SchemaCommandTests {
  private func withMedia(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("media").add(contentsOf: [
        ["title": "Alien", "year": "1979"], ["title": "Brazil", "year": "1985"],
      ])
      try store.close()
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func schemaIsSetShownAndRemoved() throws {
    try withMedia { folder in
      #expect(try filedb("schema", "media", in: folder).error.contains("--suggest"))
      #expect(
        try filedb("schema", "media", "title", "--type", "string", "--required", "--unique", in: folder)
          == ToolResult(output: "", error: "", status: 0))
      try filedb(
        "schema", "media", "rating", "--type", "integer", "--minimum", "1", "--maximum", "5", in: folder)
      try filedb(
        "schema", "media", "kind", "--enum", "film", "--enum", "book", "--default", "film", in: folder)
      #expect(
        try filedb("schema", "media", in: folder).output == """
          field   type     rules
          title   string   required, unique
          rating  integer  1 to 5
          kind             one of 'film' 'book', default 'film'

          """)
      #expect(
        try filedb("schema", "media", "rating", "--format", "json", in: folder).output
          == #"{"fields": [{"maximum": 5, "minimum": 1, "name": "rating", "type": "integer"}], "format": "filedb 1"}"#
          + "\n")
      try filedb("schema", "media", "rating", "--without", "minimum", in: folder)
      #expect(try filedb("schema", "media", "rating", in: folder).output.contains("up to 5"))
      let unknown = try filedb("schema", "media", "ratng", in: folder)
      #expect(unknown.status == 1 && unknown.error.contains("did you mean 'rating'?"))
      try filedb("schema", "media", "rating", "--remove", in: folder)
      #expect(try !filedb("schema", "media", in: folder).output.contains("rating"))
      try filedb("undo", in: folder)
      #expect(try filedb("schema", "media", in: folder).output.contains("rating"))
      try filedb("schema", "media", "--remove", in: folder)
      #expect(try filedb("schema", "media", "--format", "json", in: folder).output == "null\n")
    }
  }

  @Test func textTakesTheDeclaredType() throws {
    try withMedia { folder in
      try filedb("schema", "media", "year", "--type", "integer", "--convert", in: folder)
      try filedb("schema", "media", "seen", "--type", "date", in: folder)
      try filedb("add", "media", "title=Dune", "year=2021", "seen=2024-02-29", in: folder)
      #expect(
        try filedb("get", "media", "3", "--format", "json", in: folder).output
          == #"{"id": 3, "seen": "2024-02-29T00:00:00Z", "title": "Dune", "year": 2021}"# + "\n")
      #expect(try RecordStore(at: folder).table("media").record(with: 1).fields["year"] == 1979)
      let wrong = try filedb("set", "media", "3", "year=soon", in: folder)
      #expect(wrong.status == 65 && wrong.error.contains("field 'year': 'soon' is not a whole number"))
      let explicit = try filedb("set", "media", "3", "year:string=2021", in: folder)
      #expect(explicit.status == 65 && explicit.error.contains("record 3: field 'year'"), "\(explicit.error)")
      let near = try filedb("set", "media", "3", "yaer=2021", in: folder)
      #expect(near.status == 0 && near.error.contains("did you mean 'year'?"), "\(near.error)")
      try filedb("batch", in: folder, input: "add media title=Eve year=1950\nset media 4 year=1951\n")
      #expect(try RecordStore(at: folder).table("media").record(with: 4).fields["year"] == 1951)
    }
  }

  @Test func conversionIsAllOrNothing() throws {
    try withMedia { folder in
      try filedb("add", "media", "title=Eve", "year=soon", in: folder)
      let refused = try filedb("schema", "media", "year", "--type", "integer", in: folder)
      #expect(refused.status == 65 && refused.error.contains("--convert"), "\(refused.error)")
      let result = try filedb("schema", "media", "year", "--type", "integer", "--convert", in: folder)
      #expect(result.status == 65 && result.error.contains("3 ('soon')"), "\(result.error)")
      #expect(try RecordStore(at: folder).table("media").record(with: 1).fields["year"] == "1979")
      try filedb("set", "media", "3", "year=1950", in: folder)
      let done = try filedb("schema", "media", "year", "--type", "integer", "--convert", in: folder)
      #expect(done == ToolResult(output: "", error: "3 records changed\n", status: 0))
    }
  }

  @Test func suggestionIsAScriptThatDeclares() throws {
    try withMedia { folder in
      let lines = try filedb("schema", "media", "--suggest", in: folder).output
      #expect(
        lines == """
          schema media title --type string --required
          schema media year --type integer --required --convert

          """)
      #expect(try filedb("batch", in: folder, input: lines).status == 0)
      #expect(try RecordStore(at: folder).table("media").record(with: 1).fields["year"] == 1979)
      #expect(try filedb("schema", "media", "--suggest", in: folder).output.isEmpty)
    }
  }

  @Test func importNamesThePlaceOfWhatDoesNotFit() throws {
    try withMedia { folder in
      try filedb("schema", "media", "title", "--type", "string", "--required", "--unique", in: folder)
      try filedb("schema", "media", "rating", "--type", "integer", "--maximum", "5", in: folder)
      let csv = "title,rating\nDune,4\nEve,9\nAlien,3\n,2\nFargo,x\nDune,1\nHeat,\n"
      let stopped = try filedb("import", "-", "media", in: folder, input: csv)
      #expect(stopped.status == 65)
      #expect(
        stopped.error == "filedb: standard input:3:5: field 'rating': 9 is above the maximum, 5\n",
        "\(stopped.error)")
      let skipped = try filedb("import", "-", "media", "--on-error", "skip", in: folder, input: csv)
      #expect(skipped.status == 0)
      for line in ["3:5", "4:1", "5:1", "6:7", "7:1"] {
        #expect(skipped.error.contains("standard input:\(line): "), "\(line) \(skipped.error)")
      }
      #expect(
        skipped.error.hasSuffix(
          "2 records imported into 'media', 5 skipped\n'media' had 2 records before; to change those instead of adding more, give --key FIELD or --ids\n"
        ), "\(skipped.error)")
      let records = try RecordStore(at: folder).table("media").snapshot()
      #expect(records.suffix(2).map(\.fields) == [["title": "Dune", "rating": 4], ["title": "Heat"]])
    }
  }

  @Test func columnsComeInDeclaredOrder() throws {
    try withMedia { folder in
      try filedb("schema", "media", "year", "--title", "Year", in: folder)
      try filedb("schema", "media", "title", "--required", in: folder)
      try filedb("set", "media", "1", "also=x", in: folder)
      #expect(try filedb("show", "media", in: folder).output.hasPrefix("id  year  title   also\n"))
      #expect(
        try filedb("export", "media", in: folder).output
          == "id,year,title,also\n1,1979,Alien,x\n2,1985,Brazil,\n")
      #expect(
        try filedb("get", "media", "1", in: folder).output
          == "id     1\nyear   1979\ntitle  Alien\nalso   x\n")
    }
  }

  @Test func referencesAndTheirTargetsAreNamed() throws {
    try withMedia { folder in
      try filedb("create", "people", in: folder)
      try filedb("add", "people", "name=Ridley Scott", in: folder)
      let unknown = try filedb("schema", "media", "director", "--references", "peple", in: folder)
      #expect(unknown.status == 1 && unknown.error.contains("did you mean 'people'?"))
      try filedb(
        "schema", "media", "director", "--references", "people", "--on-delete", "cascade", in: folder)
      try filedb("set", "media", "1", "director=1", in: folder)
      let missing = try filedb("set", "media", "2", "director=7", in: folder)
      #expect(missing.status == 65 && missing.error.contains("people.id has no 7"))
      #expect(try filedb("schema", "people", in: folder).output == "referred to by: media\n")
      #expect(
        try filedb("schema", "media", in: folder).output.contains("refers to people.id (on delete cascade)"))
      try filedb("delete", "people", "1", in: folder)
      #expect(try filedb("count", "media", in: folder).output == "1\n")
      try filedb("undo", in: folder)
      #expect(try filedb("count", "media", in: folder).output == "2\n")
    }
  }

  @Test func fieldsAreRenamedAndDropped() throws {
    try withMedia { folder in
      try filedb("schema", "media", "title", "--required", "--unique-with", "year", in: folder)
      #expect(
        try filedb("field", "rename", "media", "title", "name", in: folder).error == "2 records changed\n")
      #expect(
        try filedb("schema", "media", in: folder).output.contains("unique together: name, year"))
      #expect(try filedb("get", "media", "1", "name", in: folder).output == "Alien\n")
      let taken = try filedb("field", "rename", "media", "name", "year", in: folder)
      #expect(taken.status == 65 && taken.error.contains("'year' already"))
      let unknown = try filedb("field", "rename", "media", "titel", "x", in: folder)
      #expect(unknown.status == 1)
      try filedb("field", "drop", "media", "year", "--yes", in: folder)
      #expect(try filedb("show", "media", in: folder).output == "id  name\n 1  Alien\n 2  Brazil\n")
      #expect(try !filedb("schema", "media", in: folder).output.contains("unique together"))
    }
  }

  @Test func checkNamesWithLinesAndRepairMends() throws {
    try withMedia { folder in
      try filedb("schema", "media", "year", "--type", "integer", "--convert", in: folder)
      try filedb(
        "schema", "media", "seen", "--type", "bool", "--required", "--default", "false", "--convert",
        in: folder)
    }
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      try table.declare(
        TableSchema(fields: [
          FieldSchema("n", type: .integer), FieldSchema("seen", isRequired: true, defaultValue: false),
          FieldSchema("u", isUnique: true),
        ]))
      try table.add(contentsOf: [["n": 1, "u": "a"], ["n": 2, "u": "b"]])
      try store.close()
      let text = try String(contentsOf: table.url, encoding: .utf8)
      try text.replacing("<integer>2</integer>", with: "<string>2</string>")
        .replacing("\t\t\t<key>seen</key>\n\t\t\t<false/>\n", with: "", maxReplacements: 1)
        .replacing("<string>b</string>", with: "<string>a</string>")
        .write(to: table.url, atomically: true, encoding: .utf8)
      let check = try filedb("check", in: folder)
      #expect(check.status == 0)
      let file = try table.url.path
      #expect(
        check.output == """
          warning: \(file):9: table 't': record 1: field 'seen': the field is required
          warning: \(file):19: table 't': record 2: field 'n': '2' is a string, and the field holds a whole number
          warning: \(file):23: table 't': record 2: field 'u': record 1 has 'a' already, and the field is unique (line 13)

          """, "\(check.output)")
      let repair = try filedb("repair", in: folder)
      #expect(
        repair.output == """
          t: record 1: field 'seen': it was missing, and became false
          t: record 2: field 'n': '2' became 2
          t: record 2: field 'u': record 1 has 'a' already, and the field is unique

          """, "\(repair.output)")
      #expect(try RecordStore(at: folder).table("t").snapshot().map(\.fields)[1]["n"] == 2)
      #expect(try filedb("check", in: folder).output.contains("unique"))
    }
  }

  @Test func frictionlessSchemaGoesOutAndIn() throws {
    try withMedia { folder in
      try filedb("create", "people", in: folder)
      try filedb(
        "schema", "media", "title", "--type", "string", "--required", "--pattern", "[A-Z].*", in: folder)
      try filedb("schema", "media", "seen", "--type", "date", "--minimum", "1900-01-01", in: folder)
      try filedb("schema", "media", "by", "--references", "people", "--on-delete", "clear", in: folder)
      let json = try filedb("schema", "media", "--frictionless", in: folder).output
      #expect(
        json.contains(#""name": "seen", "type": "datetime""#) && json.contains(#""resource": "people""#))
      let before = try filedb("schema", "media", "--format", "json", in: folder).output
      try filedb("schema", "media", "--remove", in: folder)
      #expect(try filedb("schema", "media", "--schema", "-", in: folder, input: json).status == 0)
      #expect(try filedb("schema", "media", "--format", "json", in: folder).output == before)
      let wrong = try filedb("schema", "media", "--schema", "-", in: folder, input: "{}")
      #expect(wrong.status == 65 && wrong.error.contains("not a Frictionless Table Schema"))
    }
  }

  // MARK: - Deletions that reach into other tables

  /// Foods, meals that are deleted with them, and notes that lose their reference.
  private func withMeals(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("foods").add(contentsOf: (1...3).map { ["name": .string("f\($0)")] })
      try store.table("meals").add(contentsOf: [1, 1, 2, 3].map { ["food": $0] })
      try store.table("notes").add(contentsOf: [1, 2].map { ["food": $0] })
      try store.table("courses").add(contentsOf: [["meal": 2]])
      for (table, field, target, rule) in [
        ("meals", "food", "foods", ReferenceRule.DeleteRule.cascade), ("notes", "food", "foods", .clear),
        ("courses", "meal", "meals", .cascade),
      ] {
        try store.table(table).declare(
          TableSchema(fields: [FieldSchema(field, references: ReferenceRule(target, onDelete: rule))]))
      }
      try store.close()
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test(arguments: [
    ("drop foods --yes", [4, 2, 1]), ("truncate foods --yes", [4, 2, 1]), ("delete foods 1 2 3", [4, 2, 1]),
    ("delete foods 1", [2, 1, 1]), ("delete foods --where 'name = \"f3\"'", [1, 0, 0]),
    ("drop meals --yes", [0, 0, 1]),
  ])
  func deletionNamesWhatItTakesFromOtherTables(command: String, counts: [Int]) throws {
    try withMeals { folder in
      for (options, would) in [(" --dry-run", "would be "), ("", "")] {
        let result = try shell("filedb \(command)\(options)", in: folder)
        for (count, (table, verb)) in zip(
          counts, [("meals", "deleted"), ("notes", "changed"), ("courses", "deleted")])
        {
          let line = "\(table): \(count) record\(count == 1 ? "" : "s") \(would)\(verb), because "
          #expect(result.error.contains(line) == (count > 0), "\(result.error)")
          if count == 0 { #expect(!result.error.contains("\(table):")) }
        }
      }
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try filedb("tables", "--format", "csv", in: folder).output.contains("meals,4,"))
    }
  }

  @Test(.enabled(if: hasScript, "needs script(1)")) func deletionAsksBeforeItReachesIntoOtherTables() throws {
    try withMeals { folder in
      for (command, question) in [
        (
          "drop foods",
          "Remove 'foods' with its 3 records, and delete 4 records of 'meals', and change 2 records of"
        ),
        ("truncate foods", "Delete 3 records, all of 'foods', and delete 4 records of 'meals', and change 2"),
        ("delete foods 3", "Delete 1 of 3 records of 'foods', and delete 1 record of 'meals'?"),
      ] {
        let result = try filedbOnTerminal(command, columns: 200, in: folder, input: "n\n")
        #expect(result.status == 1 && result.output.contains(question), "\(result.output)")
      }
      #expect(try filedb("count", "meals", in: folder).output == "4\n")
      let plain = try filedbOnTerminal("delete courses 1", columns: 200, in: folder)
      #expect(plain.status == 0 && !plain.output.contains("[y/N]"))
    }
  }

  @Test func fieldThatIsReferredToStaysUnique() throws {
    try withTemporaryFolder { folder in
      #expect(
        try shell(
          """
          filedb create countries && filedb add countries code=DE && filedb create cities && filedb add cities country=DE
          filedb schema countries code --type string --unique && filedb schema cities country --references countries.code
          """, in: folder
        ).status == 0)
      for words in [["code", "--without", "unique"], ["code", "--remove"], ["--remove"]] {
        let result = try filedb(["schema", "countries"] + words, in: folder)
        #expect(result.status == 65, "\(words)")
        #expect(
          result.error.contains("'code': it must stay unique, because 'country' of 'cities' refers to it"),
          "\(result.error)")
      }
      #expect(try filedb("schema", "countries", "code", "--title", "Code", in: folder).status == 0)
      try filedb("schema", "cities", "--remove", in: folder)
      #expect(try filedb("schema", "countries", "code", "--without", "unique", in: folder).status == 0)
      try RecordStore(at: folder).checkInvariants()
    }
  }
}
