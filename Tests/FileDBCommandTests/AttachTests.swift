import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct AttachTests {
  @Test func attachedRecordsCanBeChangedAndReverted() throws {
    try withTemporaryFolder { folder in
      try ship(["Apple", "Bread"], in: folder)
      let before = try Data(contentsOf: folder.appendingPathComponent("shipped/foods.plist"))
      func names(_ table: String = "foods", _ options: String...) throws -> ToolResult {
        try filedb(
          ["--store", "user", "--attach", "shipped", "show", table, "--format", "csv"] + options, in: folder)
      }
      #expect(try names().output == "id,name\n1,Apple\n2,Bread\n")
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("user").path))
      let attached = ["--store", "user", "--attach", "shipped"]
      #expect(
        try filedb(attached + ["add", "foods", "name=Tea", "--top"], in: folder).output == "1000000001\n")
      #expect(try filedb(attached + ["set", "foods", "1", "name=Pear"], in: folder).status == 0)
      #expect(try filedb(attached + ["delete", "foods", "2"], in: folder).status == 0)
      #expect(try names().output == "id,name\n1000000001,Tea\n1,Pear\n")
      #expect(try names("main.foods").output == "id,name\n1,Apple\n2,Bread\n")
      let difference = try filedb(attached + ["diff", "main.foods", "foods", "--format", "json"], in: folder)
      #expect(difference.status == 1 && difference.output.contains("Pear"), "\(difference)")
      #expect(try filedb(attached + ["undo"], in: folder).status == 0)
      #expect(try names().output == "id,name\n1000000001,Tea\n1,Pear\n2,Bread\n")
      #expect(
        try filedb(attached + ["ship", "revert", "foods", "1", "2"], in: folder)
          == ToolResult(output: "", error: "", status: 0))
      #expect(try names().output == "id,name\n1000000001,Tea\n1,Apple\n2,Bread\n")
      #expect(
        try filedb(
          "show", "foods", "--attach", "app=shipped", "--store", "new", "--format", "csv", in: folder
        ).output == "id,name\n1,Apple\n2,Bread\n")
      #expect(
        try filedb("count", "app.foods", "--attach", "app=shipped", "--store", "new", in: folder).output
          == "2\n")
      try RecordStore(at: folder.appendingPathComponent("shipped")).table("groups").create()
      let tables = try filedb(attached + ["tables"], in: folder).output
      #expect(
        tables.contains(#/foods +3 +[0-9.]+ (KB|bytes)/#) && tables.contains(#/groups +0 +attached/#),
        "\(tables)"
      )
      let export = try filedb(attached + ["export", "foods", "shipped/foods.plist"], in: folder)
      #expect(export.status == 64, "\(export)")
      let refused = try filedb(attached + ["add", "main.foods", "name=x"], in: folder)
      #expect(
        refused.status == 65
          && refused.error.contains("table 'main.foods': the table is the attached store's"))
      let missing = try filedb("--attach", "nothing", "show", "foods", in: folder)
      #expect(missing.status == 66 && missing.error.contains("there is no store to attach"))
      let unknown = try filedb(attached + ["ship", "revert", "foods", "1000000001"], in: folder)
      #expect(
        unknown.status == 1
          && unknown.error.contains("record 1000000001: no attached store has such a record"))
      #expect(try Data(contentsOf: folder.appendingPathComponent("shipped/foods.plist")) == before)
      let (user, shipped) = (folder.appendingPathComponent("user"), folder.appendingPathComponent("shipped"))
      try RecordStore(at: user, attaching: shipped, as: "main").checkInvariants()
    }
  }

  @Test func batchScriptUsesStoreAttachedByItsCommandLine() throws {
    try withTemporaryFolder { folder in
      try ship(["Apple"], in: folder)
      let script = "add foods name=Tea\nset foods 1 name=Pear\n"
      let run = try filedb("--store", "user", "--attach", "shipped", "batch", "-", in: folder, input: script)
      #expect(run.status == 0, "\(run.error)")
      let shown = try filedb(
        "--store", "user", "--attach", "shipped", "show", "foods", "--format", "csv", in: folder)
      #expect(shown.output == "id,name\n1,Pear\n1000000001,Tea\n")
      let late = try filedb(
        "--store", "user", "batch", "-", in: folder, input: "show foods --attach shipped\n")
      #expect(late.status == 64 && late.error.contains("--attach goes before 'batch'"), "\(late)")
    }
  }

  private func ship(_ names: [String], in folder: URL) throws {
    let store = try RecordStore(at: folder.appendingPathComponent("shipped"))
    try store.table("foods").add(contentsOf: names.map { ["name": .string($0)] })
    try store.close()
  }
}
