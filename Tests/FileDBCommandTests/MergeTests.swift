import FileDB
import Foundation
import TestSupport
import Testing

/// `filedb merge` without git, on files of any name.
@Suite struct MergeTests {
  /// Makes the three versions from what is done to a table, and calls `body` with a folder that has them.
  private func withVersions(
    ours: [[String]], theirs: [[String]], _ body: (URL) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      for (name, commands) in [("base", []), ("ours", ours), ("theirs", theirs)] {
        let store = folder.appendingPathComponent("store-\(name)")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try filedb("create", "t", in: store)
        try filedb("add", "t", "title=Milk", "note=fresh", in: store)
        try filedb("add", "t", "title=Bread", in: store)
        for command in commands { #expect(try filedb(command, in: store).status == 0) }
        try FileManager.default.moveItem(
          at: store.appendingPathComponent("t.plist"), to: folder.appendingPathComponent(".file_\(name)"))
        try FileManager.default.removeItem(at: store)
      }
      try body(folder)
    }
  }

  private let files = [".file_base", ".file_ours", ".file_theirs"]

  private func show(_ file: String, in folder: URL) throws -> [String] {
    let table = try TableSnapshot<Fields>(contentsOf: folder.appendingPathComponent(file))
    return table.map { "\($0.id) \($0.fields)" }
  }

  @Test func mergeWithoutConflictIsSilent() throws {
    try withVersions(
      ours: [["set", "t", "1", "title=Oat milk"]],
      theirs: [["set", "t", "1", "note=cold"], ["add", "t", "title=Salt", "--top"]]
    ) { folder in
      let result = try filedb(["merge"] + files, in: folder)
      #expect(result == ToolResult(output: "", error: "", status: 0))
      #expect(
        try show(".file_ours", in: folder) == [
          #"3 ["title": "Salt"]"#, #"1 ["note": "cold", "title": "Oat milk"]"#, #"2 ["title": "Bread"]"#,
        ])
      #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(files))
    }
  }

  /// A pipe reports no size, but must not count as an empty base.
  @Test(.enabled(if: hasBash, "needs bash")) func mergeReadsPipes() throws {
    try withVersions(ours: [["delete", "t", "1"]], theirs: [["set", "t", "2", "note=cold"]]) { folder in
      let line = "filedb merge <(cat .file_base) .file_ours <(cat .file_theirs)"
      let result = try shell("bash -c '\(line)'", in: folder)
      #expect(result == ToolResult(output: "", error: "", status: 0))
      #expect(try show(".file_ours", in: folder) == [#"2 ["note": "cold", "title": "Bread"]"#])
    }
  }

  @Test func conflictReportsBothSidesAndLeavesWholeTable() throws {
    try withVersions(
      ours: [["set", "t", "1", "title=Oat milk"], ["delete", "t", "2"]],
      theirs: [["set", "t", "1", "title:integer=7"], ["set", "t", "2", "title=Rye bread"]]
    ) { folder in
      let result = try filedb(["git", "merge"] + files + ["my todo.plist"], in: folder)
      #expect(result.status == 1)
      #expect(
        result.error == """
          CONFLICT my todo.plist: record 1: both sides changed 'title'; ours is kept
            base:   "Milk"
            ours:   "Oat milk"
            theirs: 7
          CONFLICT my todo.plist: record 2: ours deleted it, theirs changed it; it is kept as theirs has it
            base:   {"title": "Bread"}
            theirs: {"title": "Rye bread"}
          my todo.plist: 2 conflicts; the file can be used as it is. 'filedb conflicts list' shows them, 'filedb conflicts take' \
          settles them

          """)
      let merged = try show(".file_ours", in: folder)
      #expect(merged == [#"1 ["note": "fresh", "title": "Oat milk"]"#, #"2 ["title": "Rye bread"]"#])
    }
  }

  @Test(arguments: [0, 1, 2]) func unreadableFileLeavesOursUnchanged(broken: Int) throws {
    try withVersions(ours: [["set", "t", "1", "title=x"]], theirs: []) { folder in
      let file = folder.appendingPathComponent(files[broken])
      try Data(try Data(contentsOf: file).dropLast(30)).write(to: file)
      let before = try Data(contentsOf: folder.appendingPathComponent(".file_ours"))
      let result = try filedb(["git", "merge"] + files + ["todo.plist"], in: folder)
      #expect(result.status == 65)
      #expect(result.error.contains("todo.plist (\(["base", "ours", "theirs"][broken])):"))
      #expect(try Data(contentsOf: folder.appendingPathComponent(".file_ours")) == before)
    }
  }

  @Test(arguments: [true, false]) func missingBaseCountsAsEmptyTable(isEmptyFile: Bool) throws {
    try withVersions(ours: [], theirs: [["add", "t", "title=Salt"]]) { folder in
      let base = folder.appendingPathComponent(".file_base")
      if isEmptyFile { try Data().write(to: base) } else { try FileManager.default.removeItem(at: base) }
      let result = try filedb(["merge"] + files, in: folder)
      #expect(result.status == 0)
      // Records that both sides added alike become one.
      #expect(try show(".file_ours", in: folder) == show(".file_theirs", in: folder))
    }
  }

  @Test func mergeWritesToGivenOutput() throws {
    try withVersions(ours: [], theirs: [["delete", "t", "1"]]) { folder in
      let before = try show(".file_ours", in: folder)
      let trial = try filedb(["merge", "--dry-run"] + files, in: folder)
      #expect(trial == ToolResult(output: "", error: "dry run: nothing was written\n", status: 0))
      #expect(try filedb(["merge", "--output", "result"] + files, in: folder).status == 0)
      #expect(try show(".file_ours", in: folder) == before)
      #expect(try show("result", in: folder) == show(".file_theirs", in: folder))
      #expect(try filedb("merge", ".", ".file_ours", ".file_theirs", in: folder).status == 66)
      #expect(try filedb("merge", ".file_base", "nowhere", ".file_theirs", in: folder).status == 66)
    }
  }
}
