import FileDB
import Foundation
import TestSupport
import Testing

/// What `filedb` leaves to `filedb-extra`.
@Suite struct ExtraProgramTests {
  private func withItems(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let items = try RecordStore(at: folder).table("t")
      try items.add(contentsOf: [["title": "item 10"], ["title": "item 2"], ["title": "Other"]])
      try items.store.checkInvariants()
      try items.store.close()
      try body(folder)
    }
  }

  /// Runs `body` with a `filedb` that is alone in its folder.
  private func withLoneProgram(_ body: (_ filedb: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let copy = folder.appendingPathComponent("filedb").path
      // By a program of its own: see filedbWithoutRights.
      _ = try run(
        "/bin/cp", [program("filedb").path, copy], in: folder, input: "", environment: [:])
      try body(copy)
    }
  }

  @Test func missingProgramIsNamed() throws {
    try withItems { folder in
      try withLoneProgram { filedb in
        for words in [
          ["export", "t", "t.sqlite"], ["show", "t", "--where", "title MATCHES 'item.*'"],
          ["sort", "t", "title", "--localized"],
        ] {
          let result = try run(filedb, words, in: folder, input: "", environment: [:])
          #expect(result.status == 66, "\(words): \(result)")
          #expect(
            result.error.contains("/filedb-extra: this needs the program filedb-extra, which is missing"))
          #expect(result.error.contains("'swift build -c release --product filedb-extra' makes it"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("t.sqlite").path))
        // A word that only looks like one that needs it.
        let result = try run(filedb, ["add", "t", "title=matches"], in: folder, input: "", environment: [:])
        #expect(result == ToolResult(output: "4\n", error: "", status: 0))
      }
    }
  }

  /// It would start itself for ever.
  @Test(arguments: ["cp", "ln", "ln -s"]) func filedbUnderTheOtherNameIsAnError(copy: String) throws {
    try withItems { folder in
      try withLoneProgram { filedb in
        _ = try shell("\(copy) '\(filedb)' '\(filedb)-extra'", in: folder)
        for name in [filedb, filedb + "-extra"] {
          for words in [["export", "t", "t.sqlite"], ["count", "t", "--where", "title MATCHES 'item.*'"]] {
            let result = try run(
              "/usr/bin/timeout", ["-s", "KILL", "60", name] + words, in: folder, input: "", environment: [:])
            #expect(result.status == 66, "\(words): \(result)")
            #expect(
              result.error.contains(
                "needs the program filedb-extra, and here is filedb itself under that name"))
          }
        }
      }
    }
  }

  @Test func regularExpressionsAndLocalizedOrderWork() throws {
    try withItems { folder in
      #expect(try filedb("count", "t", "--where", "title MATCHES 'item [0-9]+'", in: folder).output == "2\n")
      let sorted = try filedb(
        "show", "t", "--sort", "title", "--localized", "--format", "csv", "--fields", "title", in: folder)
      #expect(sorted.output == "id,title\n2,item 2\n1,item 10\n3,Other\n")
      let none = try filedb("count", "t", "--where", "title MATCHES '('", in: folder)
      #expect(none.status == 64)
      #expect(none.error.contains("this is not a regular expression"))
    }
  }

  @Test func inputPassesThrough() throws {
    try withItems { folder in
      let words = ["count", "t", "--where", "title MATCHES $p", "--arg", "p:string=@-"]
      let result = try filedb(words, in: folder, input: "Oth.*")
      #expect(result.output == "1\n")
    }
  }

  @Test func linkFindsTheProgramBesideItsTarget() throws {
    try withItems { folder in
      let link = folder.appendingPathComponent("linked")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: program("filedb"))
      let result = try run(link.path, ["export", "t", "t.sqlite"], in: folder, input: "", environment: [:])
      #expect(result == ToolResult(output: "", error: "3 records exported to 't.sqlite'\n", status: 0))
    }
  }

  /// A program cannot take over in the middle of a transaction, nor read its input twice.
  @Test func scriptRunsAsOneTransaction() throws {
    try withItems { folder in
      try filedb("export", "t", "t.sqlite", in: folder)
      let script = "add t title=first\nimport t.sqlite again --table t\nset t 1 title=changed\n"
      #expect(try filedb("batch", in: folder, input: script).status == 0)
      #expect(try filedb("count", "t", in: folder).output == "4\n")
      #expect(try filedb("count", "again", in: folder).output == "3\n")
      let wrong = "add t title=second\nimport t.sqlite again --table none\n"
      #expect(try filedb("batch", in: folder, input: wrong).status == 1)
      #expect(try filedb("count", "t", in: folder).output == "4\n")
    }
  }

  @Test func versionIsThatOfHelpfulParsing() throws {
    try withTemporaryFolder { folder in
      let version = try filedb("--version", in: folder)
      #expect(version.status == 0)
      #expect(try filedb("--store", ".", "--version", in: folder) == version)
    }
  }
}
