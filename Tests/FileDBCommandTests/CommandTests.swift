import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

@Suite struct CommandTests {
  /// A store with three things, the way the README's tour makes one.
  private func withTodo(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      #expect(try filedb("create", "todo", in: folder) == ToolResult(output: "", error: "", status: 0))
      #expect(try filedb("add", "todo", "title=Milk", "n:integer=2", in: folder).output == "1\n")
      #expect(try filedb("add", "todo", "title=Rent", "--bottom", in: folder).output == "2\n")
      #expect(try filedb("add", "todo", "title=Tea", "--top", in: folder).output == "3\n")
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  /// The type of the README.
  private struct Note: DefaultedValue, Equatable {
    var title: String
    var isDone = false
    static let defaults = Note(title: "")
  }

  @Test func typeWithDefaultsReadsWhatTheCommandLineAdds() throws {
    try withTodo { folder in
      let table = try RecordStore(at: folder).table(TableName<Note>("todo"))
      #expect(try table.snapshot().values().get() == ["Tea", "Milk", "Rent"].map { Note(title: $0) })
      try table.update(1) { $0.isDone = true }
      #expect(try table.delete(where: RecordPredicate("isDone == FALSE")).ids == [3, 2])
      try table.store.close()
    }
  }

  private func titles(_ folder: URL) throws -> [String] {
    try filedb("show", "todo", "--format", "csv", "--fields", "title", in: folder).output
      .split(separator: "\n").dropFirst().map { String($0.split(separator: ",")[1]) }
  }

  @Test func recordCommandsWorkOneAfterAnother() throws {
    try withTodo { folder in
      #expect(try titles(folder) == ["Tea", "Milk", "Rent"])
      #expect(
        try filedb("show", "todo", in: folder).output
          == "id  n  title\n 3     Tea\n 1  2  Milk\n 2     Rent\n")
      #expect(try filedb("get", "todo", "1", in: folder).output == "id     1\nn      2\ntitle  Milk\n")
      #expect(try filedb("get", "todo", "1", "title", in: folder).output == "Milk\n")
      #expect(try filedb("count", "todo", in: folder).output == "3\n")
      #expect(try filedb("set", "todo", "1", "title=Oat milk", "done:bool=yes", in: folder).status == 0)
      #expect(try filedb("unset", "todo", "1", "n", in: folder).status == 0)
      #expect(
        try filedb("get", "todo", "1", "--format", "json", in: folder).output
          == "{\"id\": 1, \"done\": true, \"title\": \"Oat milk\"}\n")
      #expect(try filedb("duplicate", "todo", "1", in: folder).output == "4\n")
      #expect(try filedb("move", "todo", "2", "--top", in: folder).status == 0)
      #expect(try titles(folder) == ["Rent", "Tea", "Oat milk", "Oat milk"])
      #expect(try filedb("sort", "todo", "title,-done", in: folder).status == 0)
      #expect(try titles(folder) == ["Oat milk", "Oat milk", "Rent", "Tea"])
      #expect(try filedb("sort", "todo", "-title", in: folder).status == 0)
      #expect(try titles(folder) == ["Tea", "Rent", "Oat milk", "Oat milk"])
      #expect(try filedb("delete", "todo", "1", "4", in: folder).status == 0)
      #expect(try titles(folder) == ["Tea", "Rent"])
      #expect(try filedb("check", in: folder).output == "todo: sound\n")
      #expect(try filedb("truncate", "todo", "--yes", in: folder).status == 0)
      #expect(try filedb("add", "todo", "title=New", in: folder).output == "1\n")
      #expect(try filedb("drop", "todo", "--yes", in: folder).status == 0)
      #expect(try filedb("tables", in: folder).output == "table  records  size\n")
      try filedb("create", "todo", in: folder)
    }
  }

  @Test func storeIsFoundByOptionPathOrEnvironment() throws {
    try withTodo { folder in
      let outside = folder.appendingPathComponent("..").standardizedFileURL
      let path = folder.path
      for arguments in [
        ["--store", path, "count", "todo"], ["count", "--store", path, "todo"],
        ["count", path + "/todo.plist"],
      ] {
        let result = try filedb(arguments, in: outside)
        #expect(result == ToolResult(output: "3\n", error: "", status: 0), "\(arguments)")
      }
      #expect(try filedb("count", "todo", in: outside, environment: ["FILEDB_STORE": path]).output == "3\n")
      #expect(
        try filedb("--store", path, "count", "todo", in: outside, environment: ["FILEDB_STORE": "/"]).output
          == "3\n")
      #expect(try filedb("count", "./todo", in: folder).output == "3\n")
    }
  }

  @Test func showPrintsEveryFormat() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb(
        "add", "t", "s=a,\"b\"\n", "x:data=AQI=", "d:date=2024-02-29", "r:float=2", "l:json=[1,{\"k\":true}]",
        in: folder)
      try filedb("add", "t", "e=", "i:integer=18446744073709551615", in: folder)
      func show(_ format: String) throws -> String {
        try filedb("show", "t", "--format", format, in: folder).output
      }
      let first =
        #"{"id": 1, "d": "2024-02-29T00:00:00Z", "l": [1, {"k": true}], "r": 2.0, "s": "a,\"b\"\n", "x": "AQI="}"#
      let second = #"{"id": 2, "e": "", "i": 18446744073709551615}"#
      #expect(try show("ndjson") == "\(first)\n\(second)\n")
      #expect(try show("json") == "[\n  \(first),\n  \(second)\n]\n")
      #expect(
        try show("csv") == """
          id,d,e,i,l,r,s,x
          1,2024-02-29,,,"[1, {""k"": true}]",2,"a,""b""
          ",AQI=
          2,,"",18446744073709551615,,,,

          """)
      #expect(try show("tsv").hasPrefix("id\td\te\ti\tl\tr\ts\tx\n"))
      let plist = try PlistParser.parse(Array(show("plist").utf8)).array
      #expect(plist?.count == 2)
      #expect(plist?[0].dict?["wgFileDbSecretId"] == "1")
      #expect(plist?[1].dict?["i"] == .unsigned(.max))
      #expect(try show("table").contains("<2 bytes>"))
      #expect(try filedb("show", "t", "--format", "json", "--limit", "0", in: folder).output == "[]\n")
    }
  }

  @Test func showSortsPagesAndSelectsFields() throws {
    try withTodo { folder in
      func ids(_ arguments: String...) throws -> String {
        try filedb(["show", "todo", "--format", "csv"] + arguments, in: folder).output
      }
      let byTitle = try ids("--sort", "-title")
      #expect(byTitle == "id,n,title\n3,,Tea\n2,,Rent\n1,2,Milk\n")
      #expect(try ids("--offset", "1").contains("\n1,2,Milk\n2,,Rent\n"))
      #expect(try ids("--limit", "1") == "id,title\n3,Tea\n")
      #expect(try ids("--fields", "title,n") == "id,title,n\n3,Tea,\n1,Milk,2\n2,Rent,\n")
      #expect(try titles(folder) == ["Tea", "Milk", "Rent"], "a view changes nothing")
    }
  }

  @Test func dryRunWritesNothing() throws {
    try withTodo { folder in
      let before = try Data(contentsOf: folder.appendingPathComponent("todo.plist"))
      for arguments in [
        ["add", "todo", "a=b"], ["set", "todo", "1", "a=b"], ["unset", "todo", "1", "n"],
        ["delete", "todo", "1"],
        ["duplicate", "todo", "1"], ["move", "todo", "1", "--top"], ["sort", "todo", "title"],
        ["truncate", "todo"],
        ["drop", "todo"], ["create", "new"],
      ] {
        let result = try filedb(arguments + ["--dry-run"], in: folder)
        #expect(result.status == 0, "\(arguments): \(result.error)")
        #expect(result.error == "dry run: nothing was written\n", "\(arguments)")
      }
      #expect(try Data(contentsOf: folder.appendingPathComponent("todo.plist")) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
  }

  @Test(arguments: [["drop", "t", "--yes"], ["table", "rename", "t", "u"]])
  func commandThatRemovesALinkSaysSo(_ command: [String]) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      let (link, target) = (
        folder.appendingPathComponent("t.plist"), folder.appendingPathComponent("elsewhere")
      )
      try FileManager.default.moveItem(at: link, to: target)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
      #expect(
        try filedb(command, in: folder).error
          == "t.plist is a link to \(target.path). That file stays, and 'filedb undo' does not bring the link back\n"
      )
      #expect(FileManager.default.fileExists(atPath: target.path))
    }
  }

  @Test func dropAndTruncateNeedYesWhereNobodyCanBeAsked() throws {
    try withTodo { folder in
      for command in ["drop", "truncate"] {
        #expect(try filedb(command, "todo", in: folder, input: "y\n").status == 64)
        let script = try filedb("batch", in: folder, input: "\(command) todo\n")
        #expect(script.status == 64 && script.error.contains("Give --yes"), "\(script.error)")
        #expect(try filedb("count", "todo", in: folder).output == "3\n")
        #expect(try filedb("batch", "--dry-run", in: folder, input: "\(command) todo --yes\n").status == 0)
      }
      #expect(try filedb("batch", in: folder, input: "truncate todo --yes\ndrop todo --yes\n").status == 0)
      #expect(try RecordStore(at: folder).tableNames == [])
    }
  }

  @Test func setReadsValuesFromFiles() throws {
    try withTodo { folder in
      try Data([0, 1, 255]).write(to: folder.appendingPathComponent("blob"))
      try Data("12\n".utf8).write(to: folder.appendingPathComponent("number"))
      try filedb("set", "todo", "1", "x:data=@blob", "n:integer=@number", in: folder)
      try filedb("set", "todo", "1", "s:string=@-", in: folder, input: "two\nlines\n")
      #expect(
        try filedb("get", "todo", "1", "--format", "ndjson", in: folder).output
          == #"{"id": 1, "n": 12, "s": "two\nlines\n", "title": "Milk", "x": "AAH/"}"# + "\n")
      for name in ["blob", "number"] {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
    }
  }
}
