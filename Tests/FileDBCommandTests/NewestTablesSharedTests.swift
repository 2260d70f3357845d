import Foundation
import TestSupport
import Testing

/// A command that writes knows what other machines have done before it reads anything.
@Suite(.serialized, .enabled(if: !SharedEngine.available.isEmpty, SharedEngine.isMissing))
struct NewestTablesSharedTests {
  /// Each finds a table that another machine has just made. `T` is its name.
  private static let commands = [
    "add T title=Salt", "set T 1 title=Salt", "unset T 1 title", "delete T 1", "duplicate T 1",
    "move T 2 --top", "sort T title", "schema T title --type string", "schema T --migrate",
    "field rename T title name", "field drop T title --yes", "table rename T T-new", "table copy T T-copy",
    "import rows.csv T --key title", "batch script", "edit T 1", "truncate T --yes", "drop T --yes",
    "set T --where 'title == \"Milk\"' done:bool=yes", "delete T --where 'title == \"Milk\"'",
  ]

  @Test(arguments: SharedEngine.available) func commandFindsTheTableThatAnotherMachineHasMade(
    engine: SharedEngine
  ) throws {
    try engine.withStore { folder, address in
      // An empty folder would catch up in any case.
      #expect(try filedb("--store", address, "create", "first", in: folder).status == 0)
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      try Data("title,n\nMilk,1\n".utf8).write(to: folder.appendingPathComponent("rows.csv"))
      for (number, command) in Self.commands.enumerated() {
        let table = "t\(number)"
        try Data("schema \(table) --remove\nset \(table) 1 n=1\n".utf8)
          .write(to: folder.appendingPathComponent("script"))
        let made = try filedb(
          "--store", address, "batch", in: folder,
          input: "create \(table)\nadd \(table) title=Milk\nadd \(table) title=Bread\n"
            + "schema \(table) n --default 0\n")
        #expect(made.status == 0, "\(made)")
        for trial in [" --dry-run", ""] {
          let line = "EDITOR='sed -i s/Milk/Oat/' filedb --store here \(command)\(trial)"
          let result = try shell(line.replacing(" T", with: " \(table)"), in: folder)
          #expect(result.status == 0, "\(command)\(trial): \(result)")
        }
      }
      #expect(try filedb("--store", address, "create", "last", in: folder).status == 0)
      let created = try filedb("--store", "here", "create", "last", in: folder)
      #expect(created.status == 65 && created.error.contains("exists"), "\(created)")
    }
  }

  @Test(arguments: SharedEngine.available) func valuesHaveTheTypesOfTheNewestSchema(
    engine: SharedEngine
  ) throws {
    try engine.withStore { folder, address in
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      for (table, command) in ["a": "add a zip=01067", "b": "set b 1 zip=01067", "c": "batch"] {
        for line in ["create \(table)", "add \(table)", "schema \(table) zip --type integer"] {
          #expect(try shell("filedb --store '\(address)' \(line)", in: folder).status == 0)
        }
        #expect(try filedb("--store", "here", "shared", "sync", in: folder).status == 0)
        #expect(try filedb("--store", address, "schema", table, "zip", "--remove", in: folder).status == 0)
        let result = try shell("echo set c 1 zip=01067 | filedb --store here \(command)", in: folder)
        #expect(result.status == 0, "\(result)")
        let zip = try filedb("--store", "here", "get", table, table == "a" ? "2" : "1", "zip", in: folder)
        #expect(zip.output == "01067\n", "\(command)")
      }
    }
  }

  /// Reading needs no server.
  @Test(arguments: SharedEngine.available) func commandThatOnlyReadsAsksNoServer(engine: SharedEngine) throws
  {
    try engine.withStore { folder, address in
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      for line in ["create t", "add t zip:integer=1", "schema t zip --type integer"] {
        #expect(try shell("filedb --store here \(line)", in: folder).status == 0)
      }
      try engine.loseServer(of: "here", in: folder)
      for command in [
        "tables", "show t", "get t 1", "count t", "info t", "info --waiting", "check", "schema t",
        "schema t --suggest", "schema t zip", "schema t --frictionless", "undo --list", "redo --list",
        "conflicts list", "export t -", "diff t t", "sql 'SELECT zip FROM t'",
      ] {
        let result = try shell("filedb --store here \(command)", in: folder)
        #expect(result.status == 0, "\(command): \(result)")
      }
      for command in ["add t zip=2", "add t zip=2 --dry-run", "undo", "undo --dry-run", "schema t --remove"] {
        let result = try shell("filedb --store here \(command)", in: folder)
        #expect(result.status == 69, "\(command): \(result)")
      }
    }
  }
}
