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
