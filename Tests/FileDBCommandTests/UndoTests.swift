import FileDB
import Foundation
import TestSupport
import Testing

/// `filedb undo` and `filedb redo`.
@Suite struct UndoTests {
  @Test func undoAndRedoGoCommandByCommand() throws {
    try withTemporaryFolder { folder in
      func run(_ words: String...) throws -> ToolResult { try filedb(words, in: folder) }
      func titles() throws -> [String] {
        try run("show", "todo", "--format", "ndjson").output.split(separator: "\n").map(String.init)
      }
      _ = try run("create", "todo")
      _ = try run("add", "todo", "title=Milk")
      _ = try run("add", "todo", "title=Bread", "--top")
      let both = [#"{"id": 2, "title": "Bread"}"#, #"{"id": 1, "title": "Milk"}"#]
      #expect(try titles() == both)
      _ = try run("move", "todo", "2", "--bottom")
      _ = try run("delete", "todo", "1")
      #expect(
        try run("undo")
          == ToolResult(output: "", error: "undone: deletion of 1 record from todo\n", status: 0))
      #expect(try titles() == both.reversed())
      let tried = try run("undo", "--dry-run")
      #expect(tried.error == "would be undone: move of 1 record in todo\ndry run: nothing was written\n")
      _ = try run("undo")
      #expect(try titles() == both)
      #expect(
        try run("redo") == ToolResult(output: "", error: "redone: move of 1 record in todo\n", status: 0))
      #expect(try titles() == both.reversed())
      for _ in 0..<4 { #expect(try run("undo").status == 0) }
      #expect(try run("undo") == ToolResult(output: "", error: "there is nothing to undo\n", status: 1))
      #expect(
        try run("tables", "--format", "json").output.isEmpty || RecordStore(at: folder).tableNames.isEmpty)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test(arguments: [["undo"], ["redo"], ["undo", "--skip"], ["undo", "--list"]])
  func undoWritesNothingInAFolderWithoutAStore(arguments: [String]) throws {
    try withTemporaryFolder { folder in
      let result = try filedb(arguments, in: folder)
      #expect(result.error.hasPrefix("there is nothing to "))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  /// A limit on the size of files stands for a full disk: the commit is small, and the step holds the whole record.
  @Test func commandThatUndoCannotTakeBackSaysSoBeforeItActs() throws {
    try withTemporaryFolder { folder in
      let text = folder.appendingPathComponent("text")
      try Data(repeating: UInt8(ascii: "x"), count: 1_000_000).write(to: text)
      _ = try filedb("create", "todo", in: folder)
      _ = try filedb("add", "todo", "title=Milk", in: folder)
      _ = try filedb("add", "todo", "title:string=@text", in: folder)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      let limited = "trap '' XFSZ; ulimit -f 400; filedb delete todo 2"
      let tried = try shell("\(limited) --dry-run", in: folder)
      #expect(tried.status == 0)
      #expect(
        tried.error.hasPrefix(
          "'filedb undo' would not be able to undo this command or any before it: "))
      #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == files)
      #expect(try filedb("count", "todo", in: folder).output == "2\n")

      let deleted = try shell(limited, in: folder)
      #expect(deleted.status == 0)
      #expect(
        deleted.error.hasPrefix(
          "'filedb undo' will not be able to undo this command or any before it: "))
      #expect(try filedb("count", "todo", in: folder).output == "1\n")
      #expect(try filedb("undo", in: folder).error.hasPrefix("there is nothing to undo"))
      #expect(
        try filedb("delete", "todo", "1", "--dry-run", in: folder).error == "dry run: nothing was written\n")
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func undoTakesBackWholeScript() throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("script")
      try Data("create todo\nadd todo title=Milk\ncreate tags\n".utf8).write(to: script)
      #expect(try filedb("batch", script.path, in: folder).status == 0)
      #expect(try filedb("undo", in: folder).error == "undone: batch of 3 commands\n")
      #expect(try RecordStore(at: folder).tableNames.isEmpty)
    }
  }

  @Test func undoKeepsLaterChangesOfOtherPrograms() throws {
    try withTemporaryFolder { folder in
      _ = try filedb("create", "todo", in: folder)
      _ = try filedb("add", "todo", "title=Milk", in: folder)
      let store = try RecordStore(at: folder)
      try store.table("todo").set(["title": "Cream"], of: 1)
      try store.close()
      let result = try filedb("undo", in: folder)
      #expect(result.status == 65)
      #expect(
        result.error
          == "filedb: table 'todo': record 1: this cannot be undone: it has been changed since; use 'filedb undo --skip' to skip it\n"
      )
      #expect(try filedb("get", "todo", "1", "title", in: folder).output == "Cream\n")
      let skipped = try filedb("undo", "--skip", in: folder)
      #expect(skipped == ToolResult(output: "", error: "skipped: addition of 1 record to todo\n", status: 0))
      // The table is not empty, so it stays.
      #expect(
        try filedb("undo", in: folder).error
          == "filedb: table 'todo': this cannot be undone: the table has records by now; use 'filedb undo --skip' to skip it\n"
      )
      #expect(try filedb("get", "todo", "1", "title", in: folder).output == "Cream\n")
    }
  }
}

extension UndoTests {
  @Test(.enabled(if: hasGit, "needs git")) func undoAfterACheckoutOfAnOlderCommitSaysThatNothingIsLeft()
    throws
  {
    try withTemporaryFolder { folder in
      let line = """
        export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
        git init -q -b main && git config user.name Test && git config user.email test@example.com
        filedb create list && filedb create todo && filedb add todo title=Milk && filedb git setup && git add .
        git commit -q -m first && filedb add list n=1 && filedb add todo title=Tea && git commit -q -a -m second
        git checkout -q HEAD~1 -- todo.plist
        """
      #expect(try shell(line, in: folder).status == 0)
      for arguments in [["undo", "--dry-run"], ["undo"], ["undo"], ["undo", "2"]] {
        let refused = try filedb(arguments, in: folder)
        #expect(refused.status == 65)
        #expect(
          refused.error
            == "filedb: table 'todo': this cannot be undone: nothing of it is left; use 'filedb undo --skip' to skip it\n"
        )
      }
      #expect(try filedb("undo", "--skip", in: folder).error == "skipped: addition of 1 record to todo\n")
      #expect(try filedb("redo", in: folder).error == "there is nothing to redo\n")
      #expect(try filedb("undo", in: folder).error == "undone: addition of 1 record to list\n")
      #expect(try filedb("count", "todo", in: folder).output == "1\n")
    }
  }

  @Test func undoThatARuleForbidsNamesAWayOn() throws {
    try withTemporaryFolder { folder in
      for line in [
        "create todo", "schema todo title --type string --unique", "add todo title=Milk",
        "set todo 1 title=Tea",
      ] { #expect(try shell("filedb \(line)", in: folder).status == 0) }
      let store = try RecordStore(at: folder)
      try store.table("todo").add(["title": "Milk"])
      try store.close()
      let refused = try filedb("undo", in: folder)
      #expect(refused.status == 65)
      #expect(refused.error.hasSuffix("; use 'filedb undo --skip' to skip it\n"), "\(refused.error)")
      #expect(try filedb("undo", "--skip", in: folder).status == 0)
      #expect(try filedb("undo", in: folder).status == 65)
    }
  }

  @Test func listSaysWhatEachStepDid() throws {
    try withTemporaryFolder { folder in
      func run(_ words: String...) throws -> ToolResult { try filedb(words, in: folder) }
      let file = folder.appendingPathComponent("food.csv")
      try Data("name\nApple\nPear\nPlum\n".utf8).write(to: file)
      _ = try run("import", file.path, "food")
      _ = try run("sort", "food", "-name")
      _ = try run("set", "food", "1", "name=Fig")
      let list = try run("undo", "--list").output.split(separator: "\n").map {
        $0.split(separator: " ", maxSplits: 2)
      }
      #expect(list.map { $0[0] } == ["1", "2", "3"])
      #expect(
        list.map { $0[2].trimmingPrefix(" ") } == [
          "change of 1 record in food (name)", "sort of food", "import of 3 records into food",
        ])
      #expect(
        try run("undo", "3").error
          == "undone: change of 1 record in food (name)\nundone: sort of food\nundone: import of 3 records into food\n"
      )
      #expect(try run("undo", "--list").error == "there is nothing to undo\n")
      #expect(try run("redo", "--list").output.split(separator: "\n").count == 3)
      #expect(
        try run("redo", "2", "--dry-run").error.hasPrefix("would be redone: import of 3 records into food\n"))
      let all = try run("redo", "5")
      #expect(all.status == 0)
      #expect(
        all.error.hasSuffix("redone: change of 1 record in food (name)\nthere is nothing more to redo\n"))
      for wrong in [["undo", "0"], ["undo", "--skip", "--dry-run"], ["undo", "--list", "--skip"]] {
        #expect(try filedb(wrong, in: folder).status == 64)
      }
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func installationIsOneStep() throws {
    try withTemporaryFolder { folder in
      let (shipped, user) = (
        folder.appendingPathComponent("shipped").path, folder.appendingPathComponent("user").path
      )
      func ship(_ name: String, _ version: String) throws {
        #expect(try filedb("--store", shipped, "add", "foods", "name=\(name)", in: folder).status == 0)
        #expect(try filedb("ship", "install", shipped, user, "--version", version, in: folder).status == 0)
      }
      /// Without ids: those of an installation that was undone are not given again.
      func names() throws -> Set<String> {
        let store = try RecordStore(at: URL(fileURLWithPath: user))
        return Set(try store.table("foods").lastSnapshot.compactMap { $0.fields["name"]?.string })
      }
      #expect(try filedb("--store", shipped, "create", "foods", in: folder).status == 0)
      try ship("Apple", "1")
      let first = try names()
      _ = try filedb("--store", user, "add", "foods", "name=MINE", in: folder)
      let mine = try names()
      try ship("Pear", "2")
      let both = try names()
      #expect(both == ["Apple", "MINE", "Pear"])
      #expect(try filedb("--store", user, "undo", in: folder).error == "undone: installation of version 2\n")
      #expect(try names() == mine)
      #expect(try filedb("ship", "install", shipped, user, "--version", "2", in: folder).status == 0)
      #expect(try names() == both)
      #expect(try filedb("--store", user, "undo", "2", in: folder).status == 0)
      #expect(try names() == first)
      try RecordStore(at: URL(fileURLWithPath: user)).checkInvariants()
    }
  }

  @Test func repairEndsTheLogAndSaysSoBefore() throws {
    try withTemporaryFolder { folder in
      _ = try filedb("add", "t", "n=1", "--store", folder.path, in: folder)
      _ = try filedb("create", "todo", in: folder)
      _ = try filedb("add", "todo", "title=Milk", in: folder)
      let file = folder.appendingPathComponent("todo.plist")
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data(
        text.replacing("<string>1</string>\n\t\t</dict>", with: "<string>x</string>\n\t\t</dict>").utf8
      ).write(to: file)
      let note = "be able to undo this repair or any command before it"
      #expect(try filedb("repair", "--dry-run", in: folder).error.contains(note))
      #expect(try filedb("repair", in: folder).error.contains(note))
      let undo = try filedb("undo", in: folder)
      #expect(undo.status == 1)
      #expect(undo.error == "there is nothing to undo\n")
      #expect(!(try filedb("repair", in: folder).error.contains(note)))
    }
  }
}
