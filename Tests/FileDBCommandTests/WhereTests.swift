import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct WhereTests {
  private func withFood(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let text = """
        name,group,kcal
        Crème fraîche,Dairy,292
        Apple,Fruit,52
        Cheddar,Dairy,403
        Salt,,0
        Pear,Fruit,57
        """
      let imported = try filedb(
        "import", "-", "food", "--header", "--types", "kcal=integer", in: folder, input: text)
      #expect(imported.status == 0, "\(imported.error)")
      try filedb("unset", "food", "4", "group", in: folder)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func names(_ folder: URL) throws -> [String] {
    try RecordStore(at: folder).table("food").lastSnapshot.compactMap { $0.fields["name"]?.string }
  }

  @Test func textThatIsNotADateIsNoticedForDateField() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "due:date=2026-04-02T00:00:00Z", in: folder)
      for (arguments, status) in [
        (["show", "t"], Int32(1)), (["count", "t"], 1), (["export", "t"], 1), (["delete", "t"], 64),
        (["set", "t", "a=b"], 64),
      ] {
        let result = try filedb(arguments + ["--where", "due < '2026-4-3'"], in: folder)
        #expect(result.status == status, "\(arguments): \(result)")
        #expect(
          result.error.contains(#"'due' has dates, which cannot be compared with "2026-4-3""#),
          "\(result.error)")
      }
      #expect(try filedb("count", "t", "--where", "due >= '2026-04'", in: folder).output == "1\n")
    }
  }

  @Test func showFiltersThenSortsThenLimits() throws {
    try withFood { folder in
      func show(_ arguments: String...) throws -> String {
        try filedb(["show", "food", "--format", "csv", "--fields", "name"] + arguments, in: folder).output
      }
      let rich = try show("--where", "kcal > 100")
      #expect(rich == "id,name\n1,Crème fraîche\n3,Cheddar\n")
      #expect(
        try show("--where", "kcal > 55", "--sort", "-kcal", "--limit", "2")
          == "id,name\n3,Cheddar\n1,Crème fraîche\n")
      #expect(try show("--where", "kcal > 55", "--offset", "2") == "id,name\n5,Pear\n")
      #expect(try show("--where", "name BEGINSWITH[cd] 'CREME'") == "id,name\n1,Crème fraîche\n")
      #expect(try show("--where", "id IN {2, 4} AND NOT group == NULL") == "id,name\n2,Apple\n")
      #expect(try show("--where", "-1 < kcal AND kcal < 1") == "id,name\n4,Salt\n")
      #expect(try filedb("count", "food", "--where", "group == 'Fruit'", in: folder).output == "2\n")
    }
  }

  @Test func noMatchingRecordGivesExitCodeOne() throws {
    try withFood { folder in
      let before = try Data(contentsOf: folder.appendingPathComponent("food.plist"))
      for (arguments, output) in [
        (["show", "food"], ""), (["show", "food", "--group", "kcal"], ""),
        (["show", "food", "--format", "json"], "[]\n"), (["show", "food", "--format", "ndjson"], ""),
        (["count", "food"], "0\n"), (["delete", "food"], ""), (["set", "food", "a=b"], ""),
        (["count", "food", "--group", "kcal"], ""),
      ] {
        let result = try filedb(arguments + ["--where", "kcal > 1000"], in: folder)
        #expect(
          result == ToolResult(output: output, error: "filedb: table 'food': no record matches\n", status: 1),
          "\(arguments)")
      }
      #expect(try filedb("show", "food", "--where", "kcal > 0", "--limit", "0", in: folder).status == 0)
      #expect(try Data(contentsOf: folder.appendingPathComponent("food.plist")) == before)
    }
  }

  @Test func deleteAndSetChangeMatchingRecords() throws {
    try withFood { folder in
      let dry = try filedb("delete", "food", "--where", "group == 'Fruit'", "--dry-run", in: folder)
      #expect(
        dry
          == ToolResult(
            output: "", error: "dry run: nothing was written\n2 records would be deleted\n", status: 0))
      #expect(try names(folder).count == 5)
      let set = ["set", "food", "--where", "kcal < 60 AND group != NULL", "group=Obst", "fresh:bool=yes"]
      #expect(try filedb(set + ["--dry-run"], in: folder).error.hasSuffix("2 records would be changed\n"))
      #expect(try filedb("count", "food", "--where", "fresh == YES", in: folder).output == "0\n")
      #expect(try filedb(set, in: folder).error == "2 records changed\n")
      #expect(try filedb(set, in: folder).error == "0 records changed\n", "they are so already")
      #expect(
        try filedb("set", "food", "4", "1", "kcal:integer=1", in: folder)
          == ToolResult(output: "", error: "", status: 0))
      #expect(try filedb("count", "food", "--where", "kcal == 1", in: folder).output == "2\n")
      #expect(try filedb("set", "food", "1", "9", "kcal:integer=2", in: folder).status == 1)
      #expect(try filedb("count", "food", "--where", "kcal == 2", in: folder).output == "0\n", "all or none")
      #expect(
        try filedb("delete", "food", "--where", "name == 'Salt'", in: folder).error == "1 record deleted\n")
      #expect(
        try filedb("delete", "food", "--where", "fresh == TRUE", in: folder).error == "2 records deleted\n")
      #expect(try names(folder) == ["Crème fraîche", "Cheddar"])
    }
  }

  @Test func faultyPredicateIsShownWithItsColumn() throws {
    try withFood { folder in
      for arguments in [["show", "food"], ["count", "food"], ["delete", "food"], ["set", "food", "a=b"]] {
        let result = try filedb(arguments + ["--where", "kcal > 5 AND name = 'x"], in: folder)
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(
          result.error
            == "filedb: column 21: this quote is never closed\n  kcal > 5 AND name = 'x\n                      ^\n"
        )
      }
      for (arguments, words) in [
        (["delete", "food"], "by their ids, or by --where"),
        (["delete", "food", "1", "--where", "id == 1"], "or by --where"),
        (["set", "food", "a=b"], "or by --where"),
        (["set", "food", "1", "--where", "id == 1", "a=b"], "or by --where"),
        (["set", "food", "1"], "Say what to set"),
        (["set", "food", "--where", "id == 1"], "Missing expected argument"),
        (["set", "food", "x", "a=b"], "'x' is invalid for '<id|field=value>'"),
        (["set", "food", "1", "a:int=b"], "a:int=b"),
      ] {
        let result = try filedb(arguments, in: folder)
        #expect(result.status == 64 && result.error.contains(words), "\(arguments): \(result.error)")
      }
      let script = try filedb("batch", in: folder, input: "delete food 1\ncount food --where 'kcal >'\n")
      #expect(script.status == 64)
      #expect(
        script.error
          == "filedb: standard input:2: column 7: expected a field or a value\nnothing of the script was done\n"
      )
      #expect(try names(folder).count == 5)
      #expect(
        try filedb("batch", in: folder, input: "add food kcal:integer=7\ndelete food --where \"kcal == 7\"\n")
          .status == 0)
      #expect(try names(folder).count == 5)
    }
  }

  @Test func showAndCountGroupRecords() throws {
    try withFood { folder in
      #expect(
        try filedb("show", "food", "--group", "group", in: folder).output == """
          id  name           kcal

          Dairy (2)
           1  Crème fraîche   292
           3  Cheddar         403

          Fruit (2)
           2  Apple            52
           5  Pear             57

          (none) (1)
           4  Salt              0

          """)
      let chosen = [
        "show", "food", "--group", "group", "--where", "kcal > 50", "--sort", "kcal", "--fields",
        "group,name",
      ]
      #expect(
        try filedb(chosen + ["--limit", "3"], in: folder).output == """
          id  group  name

          Fruit (2)
           2  Fruit  Apple
           5  Fruit  Pear

          Dairy (1)
           1  Dairy  Crème fraîche

          """)
      #expect(
        try filedb(chosen + ["--format", "csv"], in: folder).output
          == "id,group,name\n2,Fruit,Apple\n5,Fruit,Pear\n1,Dairy,Crème fraîche\n3,Dairy,Cheddar\n")
      #expect(
        try filedb("count", "food", "--group", "group", in: folder).output
          == "group   records\nDairy         2\nFruit         2\n(none)        1\n")
      #expect(
        try filedb("count", "food", "--group", "group", "--where", "kcal < 55", in: folder).output
          == "group   records\nFruit         1\n(none)        1\n")
      try filedb("set", "food", "1", "2", "kcal:float=57", in: folder)
      #expect(
        try filedb("count", "food", "--group", "kcal", in: folder).output
          == "kcal  records\n  57        3\n 403        1\n   0        1\n", "numbers are one by their value")
      #expect(
        try filedb("show", "food", "--group", "group", "--where", "FALSEPREDICATE", in: folder).status == 1)
      try filedb("set", "food", "3", "group=", in: folder)
      #expect(
        try filedb("count", "food", "--group", "group", in: folder).output
          == "group   records\nDairy         1\nFruit         2\n\"\"            1\n(none)        1\n")
    }
  }

  @Test(.enabled(if: hasScript, "needs script(1)")) func longGroupHeadingFitsTerminal() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=" + String(repeating: "long ", count: 30), "b=1", in: folder)
      let lines = try filedbOnTerminal("show t --group a", columns: 30, in: folder).output
        .replacing(/\u{1B}\[\d*m/, with: "").split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.allSatisfy { $0.count <= 30 }, "\(lines)")
    }
  }
}
