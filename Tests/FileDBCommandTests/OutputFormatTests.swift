import FileDB
import Foundation
import TestSupport
import Testing

/// `--format`, `--no-header` and `--no-id`, wherever something is printed.
@Suite struct OutputFormatTests {
  private func withTasks(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "n:integer=1", "name=a|b", "note=x\ny <z> & w", in: folder)
      try filedb("add", "t", "n:integer=2", "name=Tea", in: folder)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  /// The objects that a text of JSON is.
  private func objects(_ text: String) throws -> [[String: Any]] {
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return value as? [[String: Any]] ?? [value as? [String: Any] ?? [:]]
  }

  @Test func recordsAreMarkdown() throws {
    try withTasks { folder in
      let shown = try filedb("show", "t", "--format", "markdown", in: folder).output
      #expect(
        shown == """
          | id | n | name | note |
          | ---: | ---: | --- | --- |
          | 1 | 1 | a\\|b | x<br>y &lt;z> &amp; w |
          | 2 | 2 | Tea |  |

          """)
      let one = try filedb(
        "get", "t", "2", "--format", "markdown", "--no-id", "--no-header", in: folder)
      #expect(one.output == "| 2 | Tea |\n")
      let count = try filedb("count", "t", "--group", "name", "--format", "markdown", in: folder).output
      #expect(count == "| name | records |\n| --- | ---: |\n| a\\|b | 1 |\n| Tea | 1 |\n")
    }
  }

  @Test(arguments: [
    ("table", "2  Tea\n"), ("csv", "2,Tea\n"), ("tsv", "2\tTea\n"), ("markdown", "| 2 | Tea |\n"),
    ("ndjson", "{\"n\": 2, \"name\": \"Tea\"}\n"), ("json", "[\n  {\"n\": 2, \"name\": \"Tea\"}\n]\n"),
  ])
  func idsAndHeaderAreLeftOut(format: String, output: String) throws {
    try withTasks { folder in
      let result = try filedb(
        "show", "t", "--where", "n == 2", "--format", format, "--no-id", "--no-header", in: folder)
      #expect(result.output == output)
    }
  }

  @Test func exportLeavesOutIDs() throws {
    try withTasks { folder in
      #expect(
        try filedb("export", "t", "--fields", "id,n", "--no-id", "--no-header", in: folder).output == "1\n2\n"
      )
      let list = try filedb("export", "t", "--format", "plist", "--no-id", in: folder).output
      #expect(!list.contains("wgFileDbSecretId") && list.contains("Tea"))
    }
  }

  @Test func recordsAreSortedByID() throws {
    try withTasks { folder in
      try filedb("move", "t", "2", "--top", in: folder)
      for (key, order) in [("id", "id\n1\n2\n"), ("-id", "id\n2\n1\n")] {
        let shown = try filedb("show", "t", "--sort", key, "--format", "csv", "--fields", "id", in: folder)
        #expect(shown.output == order && shown.error == "")
      }
      try filedb("sort", "t", "id", in: folder)
      #expect(try filedb("show", "t", "--format", "csv", "--fields", "id", in: folder).output == "id\n1\n2\n")
    }
  }

  @Test func oneRecordIsOneObject() throws {
    try withTasks { folder in
      let object = try filedb("get", "t", "2", "--format", "json", in: folder).output
      #expect(object == "{\"id\": 2, \"n\": 2, \"name\": \"Tea\"}\n")
    }
  }

  @Test func tablesHaveEveryFormat() throws {
    try withTasks { folder in
      try Data("no table".utf8).write(to: folder.appendingPathComponent("bad.plist"))
      let tables = try objects(filedb("tables", "--format", "json", in: folder).output)
      #expect(tables.map { $0["table"] as? String } == ["bad", "t"])
      #expect(tables[1]["records"] as? Int == 2 && (tables[1]["bytes"] as? Int ?? 0) > 300)
      #expect(tables[0]["problem"] is String)
      let csv = try filedb("tables", "--format", "csv", "--no-header", in: folder).output
      #expect(csv.split(separator: "\n").last?.hasPrefix("t,2,") == true)
      #expect(try filedb("tables", "--no-header", in: folder).output.hasPrefix("bad"))
      try FileManager.default.removeItem(atPath: folder.path + "/bad.plist")
    }
  }

  @Test func infoIsOneObjectOrARowForEachField() throws {
    try withTasks { folder in
      let info = try objects(filedb("info", "t", "--format", "json", in: folder).output)[0]
      #expect(info["records"] as? Int == 2 && info["counter"] as? Int == 2)
      let fields = info["fields"] as? [[String: Any]] ?? []
      #expect(fields.map { $0["field"] as? String } == ["n", "name", "note"])
      #expect(fields[0]["minimum"] as? Int == 1 && fields[0]["maximum"] as? Int == 2)
      let rows = try filedb("info", "t", "--format", "csv", in: folder).output
      #expect(rows.hasPrefix("field,type,records,minimum,maximum\nn,integer,2,1,2\nname,string,2,Tea,a|b\n"))
    }
  }

  @Test func infoShowsHowFullFieldsAreAndTheirExtremes() throws {
    try withTasks { folder in
      try filedb("add", "t", "n=text", in: folder)
      let lines = try filedb("info", "t", in: folder).output.split(separator: "\n")
      let words = lines.suffix(4).map { $0.split(separator: " ").joined(separator: " ") }
      #expect(
        words == [
          "field type records full least greatest", "n integer (2), string (1) 3 ██████████ 1 text",
          "name string 2 ███████░░░ Tea a|b",
          "note string 1 ███░░░░░░░ x\\ny <z> & w x\\ny <z> & w",
        ])
    }
  }

  /// The commands that print, with what they need.
  private static let printing = [
    "tables", "show t", "get t 1", "get t 1 name", "count t", "info t", "info --waiting", "check", "diff a b",
    "schema t", "undo --list", "redo --list", "conflicts list", "sql 'SELECT * FROM t'",
  ]

  @Test func everyFormatIsKnownWhereverSomethingIsPrinted() throws {
    try withTasks { folder in
      let setup = "mkdir a b && cp t.plist a && cp t.plist b && filedb --store b set t 1 name=Oil"
      #expect(try shell(setup, in: folder).status == 0)
      for command in Self.printing {
        for format in ["table", "json", "ndjson", "csv", "tsv", "markdown", "plist"] {
          let result = try shell("filedb \(command) --format \(format)", in: folder)
          #expect(
            [0, 1].contains(result.status) && !result.error.contains("filedb:"), "\(command): \(result)")
          let output = Data(result.output.utf8)
          switch format {
          case "json": _ = try JSONSerialization.jsonObject(with: output, options: .fragmentsAllowed)
          case "plist": _ = try PropertyListSerialization.propertyList(from: output, format: nil)
          default: break
          }
        }
      }
      #expect(try shell("rm -r a b", in: folder).status == 0)
    }
  }

  @Test func differencesAreRowsInEveryFormat() throws {
    try withTasks { folder in
      let result = try shell(
        "cp t.plist .old && filedb set t 1 n:integer=5 && filedb diff .old t --format csv", in: folder)
      #expect(
        result.output
          == "table,kind,id,index,from,old,new\nt,update,1,0,,\"{\"\"n\"\": 1}\",\"{\"\"n\"\": 5}\"\n")
    }
  }

  @Test func checkLogAndUndoHaveEveryFormat() throws {
    try withTasks { folder in
      try filedb("add", "t", "n=text", in: folder)
      let findings = try objects(filedb("check", "--format", "json", in: folder).output)
      #expect(findings[0]["state"] as? String == "warning" && findings[0]["field"] as? String == "n")
      try filedb("delete", "t", "3", in: folder)
      #expect(try filedb("check", "--format", "csv", "--no-header", in: folder).output == "t,sound,,,,,\n")
      let steps = try objects(filedb("undo", "--list", "--format", "json", in: folder).output)
      #expect(steps.count == 5 && steps[0]["number"] as? Int == 1)
      #expect(steps[0]["name"] as? String == "deletion of 1 record from t")
      #expect(try filedb("undo", "--format", "json", in: folder).status == 64)
      #expect(try filedb("info", "--waiting", "--format", "json", in: folder).output == "[]\n")
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      _ = try store.table("t").add(["n": 3])
      let commits = try objects(filedb("info", "--waiting", "--format", "json", in: folder).output)
      #expect(commits.count == 1 && commits[0]["table"] as? String == "t")
      try store.close()
    }
  }
}
