import FileDB
import Foundation
import TestSupport
import Testing

/// Searching, editing in an editor, tables as a whole, and SQL.
@Suite struct EverydayTests {
  private func withTasks(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "name=Crème brûlée", "note=with Sugar", "folder:integer=1", in: folder)
      try filedb(
        "add", "t", "name=Tea", "due:date=2026-02-03", "raw:data=AQI=", "n:float=1", "done:bool=yes",
        in: folder)
      try filedb("add", "t", "name=Sugar", "folder:integer=1", "tags:json=[\"sweet\"]", in: folder)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func searchFindsEveryWord() throws {
    try withTasks { folder in
      func found(_ words: String, _ options: String...) throws -> String {
        try filedb(
          ["show", "t", "--search", words] + options + ["--format", "csv", "--fields", "id"], in: folder
        ).output
      }
      #expect(try found("sugar") == "id\n1\n3\n")
      #expect(try found("CREME sugar") == "id\n1\n" && found("creme sugar") == "id\n1\n")
      #expect(try found("sugar", "--in", "name") == "id\n3\n")
      #expect(try found("sweet", "--limit", "1") == "id\n3\n")
      let none = try filedb("show", "t", "--search", "nothing", in: folder)
      #expect(none.status == 1 && none.error.contains("no record matches"))
    }
  }

  /// Runs `filedb edit` with an editor that is a line of shell; in it, `$1` is the file.
  private func edit(_ id: Int, _ line: String, _ options: String..., in folder: URL) throws -> ToolResult {
    let editor = folder.appendingPathComponent("editor")
    try Data("#!/bin/sh\n\(line)\n".utf8).write(to: editor)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: editor.path)
    defer { try? FileManager.default.removeItem(at: editor) }
    return try run(
      program("filedb").path, ["edit", "t", "\(id)"] + options, in: folder, input: "",
      environment: ["EDITOR": editor.path, "TMPDIR": folder.path])
  }

  /// The texts that were kept.
  private func kept(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("filedb-t-") }
  }

  @Test(arguments: ["plist", "json"]) func editedRecordIsSaved(format: String) throws {
    try withTasks { folder in
      let before = try filedb("get", "t", "2", "--format", "plist", in: folder).output
      let nothing = try edit(2, "true", "--format", format, in: folder)
      #expect(nothing == ToolResult(output: "", error: "nothing was changed\n", status: 0))
      let edited = try edit(2, "sed -i s/Tea/Green/ $1", "--format", format, in: folder)
      #expect(edited == ToolResult(output: "", error: "", status: 0))
      // The types of all other fields are as they were.
      #expect(
        try filedb("get", "t", "2", "--format", "plist", in: folder).output
          == before.replacing("Tea", with: "Green"))
      #expect(try kept(in: folder).isEmpty)
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try filedb("get", "t", "2", "name", in: folder).output == "Tea\n")
    }
  }

  @Test func jsonKeepsDatesThatAreEdited() throws {
    try withTasks { folder in
      let edited = try edit(
        2, "sed -i -e s/2026-02-03T/2026-03-04T/ -e /done/d $1", "--format", "json", in: folder)
      #expect(edited.error == "")
      let fields = try RecordStore(at: folder).table("t").record(with: 2).fields
      #expect(fields["due"]?.date != nil && fields["done"] == nil && fields["n"] == .real(1))
      let wrong = try edit(2, "sed -i s/2026-03-04T/soonT/ $1", "--format", "json", in: folder)
      #expect(wrong.status == 65 && wrong.error.contains("is not a date"))
      for name in try kept(in: folder) {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
    }
  }

  @Test func nothingOfAWrongEditIsLost() throws {
    try withTasks { folder in
      let wrong = try edit(2, "echo '<oops' >> $1", in: folder)
      #expect(wrong.status == 65 && wrong.error.contains("your text is in "))
      let name = try #require(try kept(in: folder).first)
      let text = try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
      #expect(text.hasSuffix("<oops\n") && text.contains("Tea"))
      #expect(try filedb("get", "t", "2", "name", in: folder).output == "Tea\n")
      let filedb = program("filedb").path
      let both = try edit(2, "sed -i s/Tea/Mine/ $1; '\(filedb)' set t 2 name=Theirs", in: folder)
      #expect(both.status == 65 && both.error.contains("changed in the meantime"))
      #expect(try FileDBCommandTests.filedb("get", "t", "2", "name", in: folder).output == "Theirs\n")
      #expect(try kept(in: folder).count == 2)
      #expect(try edit(2, "exit 3", in: folder).status == 74)
      #expect(try kept(in: folder).count == 2)
      #expect(try edit(9, "true", in: folder).status == 1)
      for name in try kept(in: folder) {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
    }
  }

  @Test func interruptEndsTheEditorAlone() throws {
    // A thread that runs tests may block signals, and a program inherits that.
    var (interrupt, former) = (sigset_t(), sigset_t())
    sigemptyset(&interrupt)
    sigaddset(&interrupt, SIGINT)
    pthread_sigmask(SIG_UNBLOCK, &interrupt, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    try withTasks { folder in
      // The line runs in a shell that filedb starts.
      func edit(_ line: String) throws -> ToolResult {
        try run(
          program("filedb").path, ["edit", "t", "2"], in: folder, input: "",
          environment: ["EDITOR": line, "TMPDIR": folder.path])
      }
      let edited = try edit("kill -INT $PPID; sed -i s/Tea/Green/")
      #expect(edited == ToolResult(output: "", error: "", status: 0))
      #expect(try filedb("get", "t", "2", "name", in: folder).output == "Green\n")
      let interrupted = try edit("kill -INT $$; true")
      #expect(interrupted.status == 74 && interrupted.error.contains("failed"))
    }
  }

  @Test(.enabled(if: hasScript, "needs script(1)")) func wrongEditGoesBackToTheEditor() throws {
    try withTasks { folder in
      let editor = folder.appendingPathComponent("editor")
      let line =
        "#!/bin/sh\nif grep -q oops $1; then sed -i -e /oops/d -e s/Tea/Green/ $1; else echo '<oops' >> $1; fi\n"
      try Data(line.utf8).write(to: editor)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: editor.path)
      let environment = ["EDITOR": editor.path, "TMPDIR": folder.path]
      for (answer, name, status) in [("n\n", "Tea", Int32(65)), ("y\n", "Green", 0)] {
        let edited = try filedbOnTerminal(
          "edit t 2", columns: 200, in: folder, input: answer, environment: environment)
        #expect(edited.status == status && edited.output.contains("Edit it again? [y/N]"), "\(edited.output)")
        #expect(try filedb("get", "t", "2", "name", in: folder).output == "\(name)\n")
      }
      #expect(try kept(in: folder).count == 1)
      for name in try kept(in: folder) + ["editor"] {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
    }
  }

  @Test func tableIsCopiedAndRenamed() throws {
    try withTasks { folder in
      try filedb("create", "folders", in: folder)
      try filedb("add", "folders", "title=Home", in: folder)
      try filedb("schema", "t", "folder", "--references", "folders", in: folder)
      try filedb("move", "t", "3", "--top", in: folder)
      try filedb("delete", "t", "2", in: folder)
      let copied = try filedb("table", "copy", "t", "u", in: folder)
      #expect(copied == ToolResult(output: "", error: "2 records copied\n", status: 0))
      #expect(
        try filedb("export", "u", "--format", "json", in: folder)
          == filedb("export", "t", "--format", "json", in: folder))
      #expect(try filedb("add", "u", "name=New", in: folder).output == "4\n")
      #expect(try filedb("table", "copy", "t", "u", in: folder).status == 65)
      let renamed = try filedb("table", "rename", "folders", "places", in: folder)
      #expect(renamed == ToolResult(output: "", error: "", status: 0))
      #expect(try RecordStore(at: folder).tableNames == ["places", "t", "u"])
      #expect(try filedb("schema", "t", in: folder).output.contains("refers to places"))
      #expect(try filedb("set", "t", "1", "folder:integer=7", in: folder).status == 65)
      #expect(try filedb("delete", "places", "1", in: folder).status == 65)
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try RecordStore(at: folder).tableNames == ["folders", "t", "u"])
      #expect(try filedb("schema", "u", in: folder).output.contains("refers to folders"))
      #expect(try filedb("check", in: folder).status == 0)
    }
  }

  @Test func sqlJoinsTables() throws {
    try withTasks { folder in
      try filedb("create", "folders", in: folder)
      try filedb("add", "folders", "title=Home", in: folder)
      try filedb("move", "t", "3", "--top", in: folder)
      let joined = try filedb(
        "sql", "SELECT t.id, name, title FROM t JOIN folders ON folder = folders.id ORDER BY t.position",
        "--format", "csv", in: folder)
      #expect(joined.error == "" && joined.output == "id,name,title\n3,Sugar,Home\n1,Crème brûlée,Home\n")
      let typed = try filedb(
        "sql", "SELECT done, due, count(*) OVER () AS n FROM t WHERE id = 2", "--format", "json", in: folder)
      #expect(typed.output == "[\n  {\"done\": true, \"due\": \"2026-02-03T00:00:00Z\", \"n\": 1}\n]\n")
      for (query, words) in [
        ("DELETE FROM t", "one SELECT"), ("SELECT 1; SELECT 2", "one SELECT"),
        ("SELECT x FROM t", "no such column"),
        ("SELECT * FROM absent", "no such table"), ("ATTACH 'x.db' AS x", "one SELECT"),
      ] {
        let refused = try filedb("sql", query, in: folder)
        #expect(refused.status != 0 && refused.error.contains(words), "\(query): \(refused.error)")
      }
      #expect(try filedb("count", "t", in: folder).output == "3\n")
    }
  }

  @Test func aggregatesHaveShortNames() throws {
    try withTasks { folder in
      let count = try filedb(
        "count", "t", "--group", "folder", "--sum", "n", "--min", "name", "--max", "name", "--avg", "n",
        "--format", "csv", in: folder)
      #expect(
        count.output == """
          folder,records,sum(n),average(n),minimum(name),maximum(name)
          1,2,0,,Crème brûlée,Sugar
          ,1,1,1,Tea,Tea

          """)
    }
  }
}
