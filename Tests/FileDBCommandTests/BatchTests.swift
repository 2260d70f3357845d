import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct BatchTests {
  @Test func scriptCreatesStoreAndPrintsItsResults() throws {
    try withTemporaryFolder { folder in
      let script = """
        # A store from nothing.
        create todo
        add todo title='Buy "oat" milk' n:integer=2   # the first
        add todo "title=Pay \\"the\\" rent" \\
          --top
        add todo title=It\\'s\\ late
        move todo 1 --top
        show todo --format csv

        """
      try Data(script.utf8).write(to: folder.appendingPathComponent("build.filedb"))
      let result = try filedb("--store", "new", "batch", "build.filedb", in: folder)
      #expect(result.error == "")
      #expect(
        result.output == """
          1
          2
          3
          id,n,title
          1,2,"Buy ""oat"" milk"
          2,,"Pay ""the"" rent"
          3,,It's late

          """)
      #expect(try filedb("--store", "new", "count", "todo", in: folder).output == "3\n")
      try RecordStore(at: folder.appendingPathComponent("new")).checkInvariants()
    }
  }

  /// Additions without options take a way of their own.
  @Test func additionsFollowTheOtherCommandsInTheirOrder() throws {
    try withTemporaryFolder { folder in
      let script =
        "create t\nadd t a=1\nadd t a=0 --top\nadd t n:integer=2 a.b='x y'\r\nadd t \"q=\\\"\u{301}\"\nset t 1 a=3\ncount t\nadd t\n"
      let result = try filedb("batch", in: folder, input: script)
      #expect(result == ToolResult(output: "1\n2\n3\n4\n4\n5\n", error: "", status: 0))
      let store = try RecordStore(at: folder)
      #expect(
        try store.table("t").lastSnapshot.map(\.fields) == [
          ["a": "0"], ["a": "3"], ["n": 2, "a": ["b": "x y"]], ["q": "\"\u{301}"], [:],
        ])
      try store.checkInvariants()
      for (line, words) in [
        ("add tt a=1", "there is no such table; did you mean 't'?"), ("add t a", "Expected FIELD=VALUE"),
        ("add t a=1 a=2", "The field 'a' is given twice"), ("add t id=1", "'id' is the record's id"),
        ("add t a:integr=1", "There is no type 'integr'"), ("add t a=\u{1}", "XML cannot hold"),
        ("add", "Missing expected argument"), ("add .t a=1", "invalid"),
      ] {
        let failed = try filedb("batch", in: folder, input: "add t a=9\n\n\(line)\n")
        #expect(failed.error.hasPrefix("filedb: standard input:3: "), "\(line): \(failed.error)")
        if words != "invalid" { #expect(failed.error.contains(words), "\(line): \(failed.error)") }
        #expect(failed.output == "")
        #expect(try store.table("t").count == 5)
      }
    }
  }

  /// To keep the old file of a table for undo, a checkpoint comes first, and then the script runs again.
  @Test func scriptThatRunsAgainPrintsOnce() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      let long = String(repeating: "x", count: 100_000)
      try store.table("t").add(contentsOf: Array(repeating: ["a": .string(long)], count: 20))
      try "a\n1\n2\n".write(to: folder.appendingPathComponent("more.csv"), atomically: true, encoding: .utf8)
      let script = "add t a=1\nimport more.csv t --no-detect\ntruncate t --yes\n"
      let result = try filedb("batch", in: folder, input: script)
      #expect(result.output == "21\n" && result.status == 0)
      #expect(result.error.hasPrefix("2 records imported into 't'\n't' had 21 records before; "))
      #expect(result.error.split(separator: "\n").count == 2, "\(result.error)")
    }
  }

  /// The store is relative to the current folder.
  @Test func scriptFindsFilesRelativeToItself() throws {
    try withTemporaryFolder { folder in
      let made = try shell(
        """
        mkdir -p src/data run; printf 'n\\nx\\n' > src/data/t.csv; printf 'note' > src/note; printf 'n\\nwrong\\n' > t.csv
        printf 'import data/t.csv t\\nset t 1 note:string=@note\\n' > src/build.filedb
        printf '\\nimport data/t.csv t\\nimport data/none.csv t\\n' > src/broken.filedb
        """, in: folder)
      #expect(made.error == "")
      let elsewhere = folder.appendingPathComponent("run")
      let result = try filedb("--store", "new", "batch", "../src/build.filedb", in: elsewhere)
      #expect(result == ToolResult(output: "", error: "1 record imported into 't'\n", status: 0))
      let store = try RecordStore(at: elsewhere.appendingPathComponent("new"))
      #expect(try store.table("t").lastSnapshot.map(\.fields) == [["n": "x", "note": "note"]])
      let broken = try filedb("--store", "new", "batch", "../src/broken.filedb", in: elsewhere)
      #expect(broken.status == 66)
      #expect(broken.error.contains("../src/broken.filedb:3: "), "\(broken.error)")
      #expect(try store.table("t").count == 1)
      // What comes from standard input is where it is run.
      #expect(try filedb("batch", in: folder, input: "import t.csv u\n").status == 0)
      #expect(try filedb("get", "u", "1", "n", in: folder).output == "wrong\n")
    }
  }

  @Test func dropIfExistsAcceptsMissingTable() throws {
    try withTemporaryFolder { folder in
      #expect(
        try filedb("drop", "t", "--if-exists", "--yes", in: folder)
          == ToolResult(output: "", error: "", status: 0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
      try filedb("create", "t", in: folder)
      #expect(try filedb("drop", "t", "--if-exists", "--yes", in: folder).status == 0)
      #expect(try RecordStore(at: folder).tableNames == [])
      #expect(try filedb("drop", "t", "--yes", in: folder).status == 1)
    }
  }

  @Test func failedScriptChangesNothing() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=1", in: folder)
      let before = try Data(contentsOf: folder.appendingPathComponent("t.plist"))
      for (script, status, words) in [
        (
          "add t a=2\n\ndelete t 9\n", Int32(1),
          "standard input:3: table 't': record 9: there is no such record"
        ),
        ("create u\nadd t a:integer=x", 65, "standard input:2: field 'a': 'x' is not a whole number"),
        ("drop t --yes\nnosuch t", 64, "standard input:2: There is no command 'nosuch'"),
        ("truncate t --yes\n add", 64, "standard input:2: "),
        ("add t 'a=2\n\n", 65, "standard input:1: a quote is opened here"),
        ("add t a=2\n--version", 64, "standard input:2: "),
        ("add t a=2\ncheck t", 64, "is not a command for a script"),
        ("add t a=2\nbatch x", 64, "'batch' is not a command for a script"),
        ("add t a=2\n--store elsewhere count t", 64, "A script works on one store"),
      ] {
        let result = try filedb("batch", in: folder, input: script)
        #expect(result.status == status, "\(script): \(result.error)")
        #expect(result.error.contains(words), "\(script): \(result.error)")
        #expect(result.output == "", "nothing is printed that is not so")
        if !script.contains("'a=2") {
          #expect(result.error.hasSuffix("\nnothing of the script was done\n"), "\(script): \(result.error)")
        }
        #expect(try Data(contentsOf: folder.appendingPathComponent("t.plist")) == before)
      }
      #expect(try filedb("tables", in: folder).output.contains("u") == false)
      let dry = try filedb("batch", "-", "--dry-run", in: folder, input: "add t a=2\ncount t\n")
      #expect(dry.output == "2\n2\n")
      #expect(try Data(contentsOf: folder.appendingPathComponent("t.plist")) == before)
    }
  }
}
