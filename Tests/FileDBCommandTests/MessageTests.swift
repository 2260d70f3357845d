import FileDB
import Foundation
import TestSupport
import Testing

/// Messages that say what is wrong and what to do, and nothing that is not so.
@Suite struct MessageTests {
  @Test func wrongValueIsNotBuriedInHelp() throws {
    try withTableOfOneRecord { folder in
      let cases: [(arguments: [String], line: String)] = [
        (
          ["set", "t", "1", "x"],
          "Error: The value 'x' is invalid for '<id|field=value>': Expected FIELD=VALUE."
        ),
        (["add", "t", "x"], "Error: The value 'x' is invalid for '<fields>': Expected FIELD=VALUE."),
        (["get", "t", "x"], "Error: The value 'x' is invalid for '<id>'"),
        (["show", "t", "--limit", "x"], "Error: The value 'x' is invalid for '--limit <n>'"),
        (["get", "t"], "Error: Missing expected argument '<id>'"),
        (["copy"], "Error: Name the folder or the database that gets the tables: filedb copy [FROM] TO."),
      ]
      for (arguments, line) in cases {
        let result = try filedb(arguments, in: folder)
        #expect(result.status == 64, "\(arguments)")
        let lines = result.error.split(separator: "\n").map(String.init)
        #expect(lines.first == line, "\(result.error)")
        #expect(lines.dropFirst().first?.hasPrefix("Usage: filedb") == true, "\(result.error)")
        #expect(lines.count <= 4 && !result.error.contains("Help:"), "\(result.error)")
      }
      #expect(try filedb("set", "--help", in: folder).output.contains("FIELD:TYPE=VALUE"))
    }
  }

  @Test(arguments: [
    ("ls", "'tables' or 'show'"), ("list", "'tables' or 'show'"), ("rm", "'delete' or 'drop'"),
    ("update", "'set'"),
    ("insert", "'add' or 'import'"), ("select", "'sql' or 'show'"), ("mv", "'move' or 'table rename'"),
    ("cp", "'duplicate' or 'copy'"), ("shwo", "'show'"), ("rename", "'table rename' or 'field rename'"),
  ])
  func commandsOfOtherProgramsAreKnown(name: String, meant: String) throws {
    try withTableOfOneRecord { folder in
      let result = try filedb(name, "t", in: folder)
      #expect(result.status == 64)
      #expect(
        result.error.hasPrefix("Error: There is no command '\(name)'. Did you mean \(meant)?\n"),
        "\(result.error)")
    }
  }

  @Test func recordThatWasNotAddedHasNoID() throws {
    try withTableOfOneRecord { folder in
      try filedb("schema", "t", "n", "--type", "integer", "--minimum", "1", "--unique", in: folder)
      #expect(try filedb("add", "t", "n=5", in: folder).output == "2\n")
      let cases: [(arguments: [String], input: String, message: String)] = [
        (["add", "t", "n=0"], "", "filedb: table 't': field 'n': 0 is below the minimum, 1\n"),
        (["add", "t", "n=5"], "", "filedb: table 't': field 'n': record 2 has 5 already"),
        (["duplicate", "t", "2"], "", "filedb: table 't': field 'n': "),
        (
          ["batch"], "add t n=0\n",
          "filedb: standard input:1: table 't': field 'n': 0 is below the minimum, 1\n"
        ),
        (["batch"], "add t n=7\nset t 3 n=0\n", "filedb: standard input:2: table 't': field 'n': 0 is below"),
        (
          ["set", "t", "2", "n=0"], "", "filedb: table 't': record 2: field 'n': 0 is below the minimum, 1\n"
        ),
        (["set", "t", "9", "n=1"], "", "filedb: table 't': record 9: there is no such record\n"),
      ]
      for (arguments, input, message) in cases {
        let result = try filedb(arguments, in: folder, input: input)
        #expect(result.status != 0 && result.error.hasPrefix(message), "\(arguments): \(result.error)")
      }
    }
  }

  @Test func boundSaysWhatItCannotCompare() throws {
    try withTableOfOneRecord { folder in
      try filedb("schema", "t", "p", "--minimum", "1", "--maximum", "9", in: folder)
      let text = try filedb("add", "t", "p=5", in: folder)
      #expect(
        text.error
          == "filedb: table 't': field 'p': '5' is a string, which cannot be compared with the minimum, 1\n")
      let nan = try filedb("add", "t", "p:float=nan", in: folder)
      #expect(nan.error.contains("cannot be compared with the minimum, 1"), "\(nan.error)")
      #expect(try filedb("add", "t", "p:integer=5", in: folder).status == 0)
      #expect(try filedb("add", "t", "p:float=9.5", in: folder).error.contains("9.5 is above the maximum, 9"))
    }
  }

  @Test func linkThatLeadsNowhereIsCalledThat() throws {
    try withTableOfOneRecord { folder in
      let link = folder.appendingPathComponent("d.plist")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "nowhere.plist")
      for arguments in [
        ["show", "d"], ["add", "d", "a=1"], ["info", "d"], ["get", "d", "1"], ["check", "d"], ["check"],
      ] {
        let result = try filedb(arguments, in: folder)
        #expect(result.status == 1, "\(arguments)")
        #expect(
          result.error.contains("table 'd': its file is a link to 'nowhere.plist', which does not exist"),
          "\(arguments): \(result.error)")
      }
      let tables = try filedb("tables", in: folder)
      #expect(tables.status == 0 && tables.output.contains("its file is a link to"), "\(tables.output)")
      try FileManager.default.removeItem(at: link)
    }
  }

  @Test func headerThatEncodingLacksIsAnError() throws {
    try withTableOfOneRecord { folder in
      try filedb("add", "t", "ć=b", in: folder)
      for encoding in ["latin-1", "windows-1252"] {
        let result = try filedb("export", "t", "x.csv", "--encoding", encoding, in: folder)
        #expect(result.status == 65, "\(result)")
        #expect(result.error.hasPrefix("filedb: field 'ć': "), "\(result.error)")
        #expect(result.error.contains("has no character 'ć', which is in the name of the field"))
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("x.csv").path))
      }
    }
  }

  @Test func binaryPropertyListSaysWhatReadsIt() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("w.plist")
      for (bytes, words) in [
        ("bplist00", "'filedb import FILE TABLE' reads it"),
        ("bplist01abc", "of version 01, which FileDB does not read"),
        ("bplist1", "of version 1,"),
      ] {
        try Data(bytes.utf8).write(to: file)
        #expect(try filedb("show", "w", in: folder).error.contains(words), "\(bytes)")
      }
      #expect(try filedb("import", "w.plist", "v", in: folder).error.contains("of version 1,"))
    }
  }

  @Test func undoListNamesFields() throws {
    try withTableOfOneRecord { folder in
      try filedb("set", "t", "1", "a=2", "b=3", in: folder)
      try filedb("set", "t", "1", "a=2", "b=4", in: folder)
      try filedb("unset", "t", "1", "b", in: folder)
      try filedb("set", "t", "1", "c=1", "d=1", "e=1", "f=1", "g=1", in: folder)
      let list = try filedb("undo", "--list", "--format", "csv", in: folder).output.split(separator: "\n")
      #expect(
        list.dropFirst().prefix(4).map { $0.split(separator: ",", maxSplits: 2).last.map(String.init) } == [
          "\"change of 1 record in t (c, d, e, …)\"", "change of 1 record in t (b)",
          "change of 1 record in t (b)",
          "\"change of 1 record in t (a, b)\"",
        ])
    }
  }

  @Test func undoListSaysWhatWasSeenOverAttachedStore() throws {
    try withTemporaryFolder { folder in
      let (base, own) = (folder.appendingPathComponent("base"), folder.appendingPathComponent("own"))
      for place in [base, own] {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      }
      try filedb("create", "z", in: base)
      for text in ["a=1", "a=2", "a=3"] { try filedb("add", "z", text, in: base) }
      for arguments in [
        ["move", "z", "2", "--top"], ["set", "z", "1", "a=5"], ["delete", "z", "3"], ["add", "z", "a=9"],
      ] {
        #expect(try filedb(["--attach", base.path] + arguments, in: own).status == 0, "\(arguments)")
      }
      let names = try filedb("--attach", base.path, "undo", "--list", in: own).output.split(separator: "\n")
        .compactMap {
          $0.split(separator: " ", maxSplits: 2).last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
      #expect(
        names == [
          "addition of 1 record to z", "deletion of 1 record from z", "change of 1 record in z (a)",
          "move of 1 record in z",
        ])
      let undone = try (0..<4).map { _ in try filedb("--attach", base.path, "undo", in: own).error }
      #expect(undone.last == "undone: move of 1 record in z\n")
      #expect(
        try filedb("--attach", base.path, "show", "z", "--format", "csv", in: own).output
          == "id,a\n1,1\n2,2\n3,3\n")
    }
  }

  @Test func creationIsNotCalledUndoneWhereTableStays() throws {
    try withTemporaryFolder { folder in
      for place in ["base", "own"] {
        try FileManager.default.createDirectory(
          at: folder.appendingPathComponent(place), withIntermediateDirectories: false)
      }
      try filedb("--store", "base", "create", "c", in: folder)
      try filedb("--store", "own", "create", "c", in: folder)
      let over = try filedb("--store", "own", "--attach", "base", "undo", in: folder)
      #expect(over.status == 65 && over.error.contains("--skip"), "\(over)")
      #expect(try filedb("--store", "own", "undo", in: folder).error == "undone: creation of c\n")
      #expect(try RecordStore(at: folder.appendingPathComponent("own")).tableNames == [])
    }
  }

  @Test func sameColumnTwiceIsRefusedWhereOneWouldBeLost() throws {
    try withTableOfOneRecord { folder in
      for format in ["json", "ndjson", "plist"] {
        let result = try filedb("sql", "SELECT 1 AS a, 2 AS a", "--format", format, in: folder)
        #expect(result.status == 64 && result.error.contains("Two columns are called 'a'"), "\(result)")
      }
      #expect(
        try filedb("sql", "SELECT 1 AS a, 2 AS a", "--format", "csv", in: folder).output == "a,a\n1,2\n")
    }
  }

  @Test func copyTakesCurrentStore() throws {
    try withTableOfOneRecord { folder in
      let copy = folder.appendingPathComponent("copy")
      #expect(try filedb("copy", "copy", in: folder).error == "1 table with 1 record copied\n")
      #expect(try RecordStore(at: copy).table("t").count == 1)
      #expect(try filedb("--store", "copy", "copy", "again", in: folder).status == 0)
      #expect(try filedb("copy", "copy", "third", in: folder).status == 0)
      for wrong in [["copy"], ["copy", "a", "b", "c"], ["copy", "a", "b", "--store", "copy"]] {
        #expect(try filedb(wrong, in: folder).status == 64, "\(wrong)")
      }
      for name in ["copy", "again", "third"] {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
    }
  }

  @Test func fieldDropAsksAsDropDoes() throws {
    try withTableOfOneRecord { folder in
      let silent = try filedb("field", "drop", "t", "a", in: folder)
      #expect(silent.status == 64 && silent.error.contains("Give --yes"), "\(silent)")
      #expect(try filedb("field", "drop", "t", "a", "--dry-run", in: folder).status == 0)
      #expect(try filedb("get", "t", "1", "a", in: folder).output == "1\n")
      #expect(try filedb("field", "drop", "t", "a", "--yes", in: folder).error == "1 record changed\n")
    }
  }

  @Test(.enabled(if: hasScript)) func fieldDropAsksOnTerminal() throws {
    try withTableOfOneRecord { folder in
      let no = try filedbOnTerminal("field drop t a", columns: 80, in: folder, input: "n\n")
      #expect(no.output.contains("Remove 'a' from the 1 record of 't'? [y/N]"), "\(no)")
      #expect(try filedb("get", "t", "1", "a", in: folder).output == "1\n")
      _ = try filedbOnTerminal("field drop t a", columns: 80, in: folder, input: "y\n")
      #expect(try filedb("get", "t", "1", "a", in: folder).status == 1)
    }
  }

  @Test func localTimeIsPrintedWhereAsked() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "at:date=2026-07-01T12:00:00Z", "day:date=2026-07-01", in: folder)
      try filedb("add", "t", "at:date=2026-01-01T12:00:00Z", in: folder)
      func show(_ zone: String...) throws -> String {
        try filedb(["show", "t", "--no-id", "--fields", "at,day"] + zone, in: folder).output
      }
      #expect(
        try show() == "at                    day\n2026-07-01T12:00:00Z  2026-07-01\n2026-01-01T12:00:00Z\n")
      #expect(
        try show("--zone", "Europe/Berlin")
          == "at                         day\n2026-07-01T14:00:00+02:00  2026-07-01\n2026-01-01T13:00:00+01:00\n"
      )
      #expect(try show("--zone", "America/St_Johns").contains("2026-07-01T09:30:00-02:30"))
      #expect(
        try filedb(
          "get", "t", "1", "at", "--zone", "local", in: folder, environment: ["TZ": "Asia/Kolkata"]
        ).output == "2026-07-01T17:30:00+05:30\n")
      #expect(
        try filedb("show", "t", "--zone", "Europe/Berlin", "--format", "csv", in: folder).output.contains(
          "2026-07-01T12:00:00Z"), "for programs, it stays UTC")
      for wrong in ["Europe/Atlantis", "", "/etc/passwd", "../zoneinfo/UTC", "Europe"] {
        let result = try filedb("show", "t", "--zone", wrong, in: folder)
        #expect(result.status == 64 && result.error.contains("There is no time zone"), "\(wrong): \(result)")
      }
    }
  }
}
