import FileDB
import Foundation
import TestSupport
import Testing

/// `filedb diff`.
@Suite struct DiffTests {
  /// A folder with two stores, `old` and `new`, of which the second one has gone further.
  private func withStores(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let script = """
        mkdir old && cd old && filedb create todo && filedb create same
        filedb add todo title=Milk note=fresh && filedb add todo title=Bread && filedb add todo title=Salt
        cd .. && cp -R old new && cd new
        filedb delete todo 2 && filedb add todo title=Tea --top && filedb move todo 3 --top
        filedb set todo 1 title=Cream n:integer=1 && filedb unset todo 1 note && filedb create tags
        """
      #expect(try shell(script, in: folder).status == 0)
      try body(folder)
    }
  }

  private let todo = """
    - record 2, index 1
        - title: Bread
    + record 4, index 1
        + title: Tea
    > record 1, index 0 to 2
    ~ record 1, index 2
        + n: 1
        - note: fresh
        - title: Milk
        + title: Cream

    """

  @Test func diffListsEveryChangedRecord() throws {
    try withStores { folder in
      let result = try filedb("diff", "old/todo.plist", "new/todo.plist", in: folder)
      #expect(result == ToolResult(output: "todo\n" + todo, error: "", status: 1))
    }
  }

  @Test func diffComparesStoresTableByTable() throws {
    try withStores { folder in
      let result = try filedb("diff", "old", "new", in: folder)
      #expect(result == ToolResult(output: "tags: only in B\ntodo\n" + todo, error: "", status: 1))
      #expect(try filedb("diff", "new", "new", in: folder) == ToolResult(output: "", error: "", status: 0))
    }
  }

  @Test func diffFindsTablesOfStoreByName() throws {
    try withStores { folder in
      let result = try filedb("--store", "new", "diff", "todo", "tags", in: folder)
      #expect(result.status == 1)
      #expect(result.output.contains("- record 4, index 1\n    - title: Tea\n"))
    }
  }

  @Test func diffReadsTableFilesOfAnyName() throws {
    try withStores { folder in
      #expect(try shell("mv new/todo.plist .blob_1; rm -r new/.filedb", in: folder).status == 0)
      let result = try filedb("diff", "old/todo.plist", ".blob_1", in: folder)
      #expect(result == ToolResult(output: "todo → .blob_1\n" + todo, error: "", status: 1))
    }
  }

  @Test(.enabled(if: hasBash, "needs bash")) func diffReadsPipes() throws {
    try withStores { folder in
      let lines = [
        "cat old/todo.plist | filedb --store new diff - todo",
        "filedb diff <(cat old/todo.plist) new/todo.plist",
        "filedb diff old/todo.plist <(cat new/todo.plist)",
      ]
      for line in lines {
        let result = try shell("bash -c '\(line)'", in: folder)
        #expect(result.status == 1 && result.error == "", "\(line): \(result.error)")
        #expect(
          result.output.hasSuffix(" → todo\n" + todo) || result.output.hasPrefix("todo → /dev/fd/"), "\(line)"
        )
        #expect(result.output.hasSuffix(todo))
      }
      let broken = try shell("head -c 300 old/todo.plist | filedb diff - new/todo.plist", in: folder)
      #expect(broken.status == 65 && broken.error.contains("standard input:"), "\(broken.error)")
    }
  }

  @Test func diffIncludesCommitsInJournal() throws {
    try withStores { folder in
      let url = folder.appendingPathComponent("new")
      let store = try RecordStore(at: url, options: StoreOptions(checkpoints: .manual))
      try store.table("todo").set(["title": "Sugar"], of: 3)
      let result = try filedb("diff", "old/todo.plist", "new/todo.plist", in: folder)
      #expect(result.output.contains("+ title: Sugar"))
    }
  }

  @Test func diffJSONListsEveryDifference() throws {
    try withStores { folder in
      let result = try filedb("diff", "old", "new", "--format", "json", in: folder)
      #expect(
        result.output == """
          [
            {"table": "tags", "kind": "create"},
            {"table": "todo", "kind": "delete", "id": 2, "index": 1, "old": {"title": "Bread"}},
            {"table": "todo", "kind": "move", "id": 1, "index": 1, "from": 0},
            {"table": "todo", "kind": "insert", "id": 4, "index": 1, "new": {"title": "Tea"}},
            {"table": "todo", "kind": "update", "id": 1, "index": 2, "old": {"note": "fresh", "title": "Milk"}, \
          "new": {"n": 1, "title": "Cream"}}
          ]

          """)
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(result.output.utf8)) }
      let same = try filedb("diff", "old", "old", "--format", "json", in: folder)
      #expect(same == ToolResult(output: "[]\n", error: "", status: 0))
    }
  }

  @Test func diffShowsChangedType() throws {
    try withStores { folder in
      let line = "cp -R old third && filedb --store third set todo 1 n=1 && filedb diff new third"
      let output = try shell(line, in: folder).output
      #expect(
        output.contains("    - n: 1 (integer)\n    + n: 1 (string)\n"))
    }
  }

  @Test func diffOfMissingOrUnsuitableFilesIsAnError() throws {
    try withStores { folder in
      for other in ["nowhere", "nowhere.plist", "new/nowhere.plist"] {
        let result = try filedb("diff", "old/todo.plist", other, in: folder)
        #expect(result.status == 66, "\(other)")
        #expect(result.error.contains("there is no such table, file or store"))
      }
      #expect(try filedb("diff", "old", "new/todo.plist", in: folder).status == 64)
      try Data("no table".utf8).write(to: folder.appendingPathComponent("text"))
      #expect(try filedb("diff", "old/todo.plist", "text", in: folder).status == 65)
    }
  }

  @Test(.enabled(if: hasScript, "needs script(1)")) func diffIsColoredOnTerminal() throws {
    try withStores { folder in
      let command = "diff old/todo.plist new/todo.plist"
      let shown = try filedbOnTerminal(command, columns: 80, in: folder).output
      #expect(shown.contains("\u{1B}[31m- record 2, index 1\u{1B}[0m"))
      #expect(shown.contains("\u{1B}[1m    + title: \u{1B}[0m\u{1B}[32mTea\u{1B}[0m"))
      let plain = try filedbOnTerminal(command, columns: 80, in: folder, environment: ["NO_COLOR": "1"])
        .output
      #expect(plain == "todo\n" + todo)
    }
  }
}
