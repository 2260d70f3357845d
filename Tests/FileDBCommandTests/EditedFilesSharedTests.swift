import Foundation
import TestSupport
import Testing

/// Files that people edit, or damage, in the folder of a shared store.
@Suite(.serialized, .enabled(if: !SharedEngine.available.isEmpty, SharedEngine.isMissing))
struct EditedFilesSharedTests {
  /// Runs `body` with a folder `here` that has the tables `t` and `u`, each with a record.
  private func withFolder(
    of engine: SharedEngine, _ body: (_ folder: URL, _ address: String) throws -> Void
  ) throws {
    try engine.withStore { folder, address in
      for line in ["create t", "create u", "add t a=Milk", "add u b=1"] {
        #expect(try shell("filedb --store '\(address)' \(line)", in: folder).status == 0)
      }
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      try body(folder, address)
    }
  }

  private func here(_ line: String, in folder: URL) throws -> ToolResult {
    try shell("filedb --store here \(line)", in: folder)
  }

  private func edit(_ folder: URL, _ old: String, _ new: String) throws {
    let file = folder.appendingPathComponent("here/t.plist")
    try String(contentsOf: file, encoding: .utf8).replacing(old, with: new)
      .write(to: file, atomically: true, encoding: .utf8)
  }

  /// What can happen to the file `t.plist`, as a line of shell.
  private static let damage = [
    "echo garbage >> t.plist", "head -c 300 t.plist > x; cat x > t.plist; rm x", ": > t.plist",
    "printf '\\377\\376\\377' > t.plist", "cp t.plist t", "rm t.plist; mkdir t.plist",
    "rm t.plist; ln -s nowhere t.plist", "sed -i s,/array,/arrow, t.plist",
  ]

  @Test(arguments: SharedEngine.available, damage) func damagedFileHoldsBackNoOtherTable(
    engine: SharedEngine, damage: String
  ) throws {
    try withFolder(of: engine) { folder, address in
      #expect(try shell("cd here && \(damage)", in: folder).status == 0)
      #expect(try filedb("--store", address, "add", "u", "b=2", in: folder).status == 0)
      let synced = try here("shared sync", in: folder)
      let file = folder.appendingPathComponent("here/u.plist")
      #expect(try String(contentsOf: file, encoding: .utf8).contains("<string>2</string>"), "\(synced)")
      #expect(try here("get u 2 b", in: folder).output == "2\n")
      #expect(try here("add u b=3", in: folder).status == 0)
      #expect(try here("shared sync", in: folder).status == synced.status)
      #expect(try String(contentsOf: file, encoding: .utf8).contains("<string>3</string>"))
      // Whatever became of the file, nothing of the table is lost.
      #expect(try filedb("--store", address, "get", "t", "1", "a", in: folder).output == "Milk\n")
    }
  }

  @Test(arguments: SharedEngine.available) func checkAndRepairLookAtTheFileThatPeopleSee(
    engine: SharedEngine
  ) throws {
    for damage in Self.damage.prefix(2) {
      try withFolder(of: engine) { folder, address in
        #expect(try shell("cd here && \(damage)", in: folder).status == 0)
        #expect(try here("shared sync", in: folder).status == 65)
        let checked = try here("check", in: folder)
        #expect(checked.status == 65 && checked.output.contains("here/t.plist:"), "\(checked)")
        #expect(checked.output.contains("u: sound") && !checked.output.contains("t: sound"))
        let trial = try here("repair --dry-run", in: folder)
        #expect(trial.output.contains("t: ") && !trial.output.contains("t: sound"), "\(trial)")
        #expect(try here("shared sync", in: folder).status == 65)
        let repaired = try here("repair", in: folder)
        #expect(repaired.output.contains("t: the original is kept as"), "\(repaired)")
        #expect(repaired.output.contains("u: sound"), "\(repaired)")
        let synced = try here("shared sync", in: folder)
        #expect(synced.status == 0, "\(synced)")
        #expect(
          try here("check", in: folder) == ToolResult(output: "t: sound\nu: sound\n", error: "", status: 0))
        // A record that the damaged file lacks is not deleted for all.
        #expect(try filedb("--store", address, "get", "t", "1", "a", in: folder).output == "Milk\n")
        #expect(try here("repair", in: folder).output == "t: sound\nu: sound\n")
      }
    }
  }

  @Test(arguments: SharedEngine.available) func fileThatCannotBeRepairedCanBeRemoved(engine: SharedEngine)
    throws
  {
    try withFolder(of: engine) { folder, _ in
      #expect(try shell("cd here && echo nothing > t.plist", in: folder).status == 0)
      #expect(try here("check", in: folder).output.contains("here/t.plist"))
      let repaired = try here("repair", in: folder)
      #expect(repaired.status == 65 && repaired.error.contains("if you remove the file"), "\(repaired)")
      #expect(try shell("rm here/t.plist", in: folder).status == 0)
      #expect(try here("shared sync", in: folder).status == 0)
      #expect(try here("check", in: folder).output == "t: sound\nu: sound\n")
      #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("here/t.plist").path))
    }
  }

  /// A table that exists only as a file is an edit, too.
  @Test(arguments: SharedEngine.available) func fileOfANewTableIsChecked(engine: SharedEngine) throws {
    try withFolder(of: engine) { folder, address in
      #expect(try shell("cd here && sed s/Milk/Bread/ t.plist > new.plist", in: folder).status == 0)
      let checked = try here("check", in: folder)
      #expect(checked.status == 0 && checked.output == "new: sound\nt: sound\nu: sound\n", "\(checked)")
      #expect(checked.error == Self.edited("new"))
      #expect(try here("show new", in: folder).error.hasPrefix(Self.edited("new")))
      #expect(try here("shared sync", in: folder).status == 0)
      #expect(try filedb("--store", address, "get", "new", "1", "a", in: folder).output == "Bread\n")
    }
  }

  private static func edited(_ table: String) -> String {
    "the file of '\(table)' was edited; 'filedb shared sync' puts the edit into the store\n"
  }

  @Test(arguments: SharedEngine.available) func commandsThatLookSayThatAnEditWaits(
    engine: SharedEngine
  ) throws {
    try withFolder(of: engine) { folder, address in
      let looks = [
        "show t", "get t 1", "count t", "info t", "export t -", "check t", "check", "shared status",
      ]
      for look in looks { #expect(try here(look, in: folder).error == "", "\(look)") }
      // As long as before: not even the size tells that it was edited.
      try edit(folder, "Milk", "Silk")
      for look in looks + looks {
        let result = try here(look, in: folder)
        #expect(result.status == 0 && result.error == Self.edited("t"), "\(look): \(result)")
        #expect(try here("--quiet \(look)", in: folder).error == "", "\(look)")
      }
      for look in ["show u", "get u 1", "check u"] {
        #expect(try here(look, in: folder).error == "", "\(look)")
      }
      #expect(try here("get t 1 a", in: folder).output == "Milk\n")
      #expect(try here("shared sync", in: folder).status == 0)
      for look in looks { #expect(try here(look, in: folder).error == "", "\(look)") }
      #expect(try here("get t 1 a", in: folder).output == "Silk\n")
      #expect(try filedb("--store", address, "set", "t", "1", "a=Bread", in: folder).status == 0)
      #expect(try here("shared sync", in: folder).status == 0)
      for look in looks { #expect(try here(look, in: folder).error == "", "\(look)") }
    }
  }

  @Test(arguments: SharedEngine.available) func conflictSaysWhoseVersionsAreWhich(engine: SharedEngine) throws
  {
    try withFolder(of: engine) { folder, address in
      try edit(folder, "Milk", "Silk")
      #expect(try filedb("--store", address, "set", "t", "1", "a=Bread", in: folder).status == 0)
      #expect(try here("shared sync", in: folder).status == 0)
      let list = try here("conflicts list", in: folder)
      #expect(
        list.status == 1 && list.output.contains(/ours: +"?Bread/) && list.output.contains(/theirs: +"?Silk/))
      #expect(
        list.error.contains("'ours' is what the store has, 'theirs' what the file in this folder had"),
        "\(list)")
    }
  }
}
