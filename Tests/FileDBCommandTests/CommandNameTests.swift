import FileDB
import Foundation
import TestSupport
import Testing

/// How somebody who has never seen `filedb` finds a command.
@Suite struct CommandNameTests {
  @Test func filedbAlonePrintsOneScreen() throws {
    let screen = try filedb([String](), in: packageRoot)
    #expect(screen.status == 0 && screen.error.isEmpty)
    let lines = screen.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(lines.count) lines")
    for words in [["--help"], ["-h"], ["help"]] {
      #expect(try filedb(words, in: packageRoot).output == screen.output)
    }
    let words = Set(screen.output.split { !$0.isLetter })
    for command in try CommandList.read().names {
      for word in command.split(separator: " ") { #expect(words.contains(word), "\(command)") }
    }
  }

  @Test func commandsOfTheScreenRun() throws {
    try withTemporaryFolder { folder in
      let foods = packageRoot.appendingPathComponent("Examples/foods.csv")
      try FileManager.default.copyItem(at: foods, to: folder.appendingPathComponent("foods.csv"))
      let lines = try filedb([String](), in: folder).output.split(separator: "\n").dropFirst().prefix(12)
      for line in lines {
        let command = try #require(line.firstMatch(of: #/^  (.*?)  /#)).1
        let result = try shell("filedb \(command)", in: folder)
        #expect(result.status == 0, "\(command): \(result.error)")
      }
      #expect(FileManager.default.fileExists(atPath: folder.path + "/food.csv"))
      try RecordStore(at: folder).checkInvariants()
    }
  }

  /// Words that are no command, and what they probably mean.
  @Test(arguments: [
    ("rename", "'table rename' or 'field rename'"), ("status", "'shared status'"), ("join", "'shared join'"),
    ("take", "'conflicts take'"), ("revert", "'ship revert'"), ("textconv", "'git textconv'"),
    ("git-setup", "'git setup'"), ("copy-table", "'table copy'"), ("drop-field", "'field drop'"),
    ("shwo", "'show'"), ("renam", "'table rename' or 'field rename'"), ("field renam", "'field rename'"),
    ("conflict list", "'conflicts'"), ("help field renam", "'field rename'"),
  ])
  func mistypedCommandNamesTheFullOne(words: String, meant: String) throws {
    let result = try filedb(words.split(separator: " ").map(String.init), in: packageRoot)
    #expect(result.status == 64 && result.error.contains("Did you mean \(meant)?"), "\(result.error)")
  }

  @Test func nameOfAnOptionLeadsToItsCommand() throws {
    let result = try filedb("search", "milk", in: packageRoot)
    #expect(
      result.status == 64 && result.error.contains("'filedb show' has an option --search"), "\(result.error)")
    let unknown = try filedb("xyzzy", in: packageRoot)
    #expect(unknown.error.contains("'filedb' alone lists the commands"), "\(unknown.error)")
  }

  @Test func groupAloneListsItsCommands() throws {
    for group in ["git", "conflicts", "ship", "shared", "table", "field"] {
      let result = try filedb(group, in: packageRoot)
      #expect(result.status == 0 && result.output.contains("SUBCOMMANDS:"), "\(group): \(result)")
      #expect(try filedb("help", group, in: packageRoot).output == result.output)
    }
  }

  @Test func wrongUsageNamesTheWholeCommand() throws {
    let result = try filedb("field", "rename", "t", in: packageRoot)
    #expect(result.status == 64)
    #expect(result.error.contains("<table> <field> <new-name> [--dry-run]"), "\(result.error)")
    #expect(result.error.contains("See 'filedb field rename --help'"), "\(result.error)")
  }

  @Test func storeMayBeNamedBeforeAndAfterTheCommand() throws {
    try withTemporaryFolder { folder in
      #expect(
        try shell("mkdir s && filedb --store s create t && filedb --store s add t a=1", in: folder).status
          == 0)
      #expect(try filedb("--store", "s", "field", "rename", "t", "a", "b", in: folder).status == 0)
      #expect(try filedb("field", "rename", "t", "b", "c", "--store", "s", in: folder).status == 0)
      #expect(try filedb("--store", "s", "get", "t", "1", "c", in: folder).output == "1\n")
      try RecordStore(at: folder.appendingPathComponent("s")).checkInvariants()
    }
  }
}
