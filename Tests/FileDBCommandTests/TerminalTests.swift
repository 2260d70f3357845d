import FileDB
import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: hasScript, "needs script(1)")) struct TerminalTests {
  @Test(arguments: [20, 40, 60, 200]) func wideTableFitsTerminal(columns: Int) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      let long = String(repeating: "wörd 漢字 ", count: 20)
      try filedb(["add", "t", "n:integer=5"] + (0..<12).map { "field\($0)=\(long)" }, in: folder)
      let result = try filedbOnTerminal("show t", columns: columns, in: folder)
      let lines = result.output.split(separator: "\n").map(String.init)
      #expect(lines.count >= 2)
      for line in lines {
        // Each of these characters takes two columns; styles take none.
        let plain = line.replacing(/\u{1B}\[\d*m/, with: "")
        let width = plain.count + plain.count { "漢字".contains($0) }
        #expect(width <= columns || plain.contains("more columns"), "\(width) columns: \(plain)")
      }
      #expect(result.output.contains("…"))
    }
  }

  @Test(arguments: ["table", "csv", "tsv", "ndjson", "plist"]) func controlCharactersNeverReachTerminal(
    format: String
  ) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=x\u{9B}31my\u{7F}z\r\u{202E}w", "n\u{9B}=1", in: folder)
      let result = try filedbOnTerminal("show t --format \(format)", columns: 100, in: folder)
      let plain = result.output.replacing(/\u{1B}\[\d*m/, with: "")
      let raw = plain.unicodeScalars.filter { scalar in
        scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
          || scalar == "\u{202E}"
      }
      #expect(raw.isEmpty, "\(plain.debugDescription)")
      let value = try filedbOnTerminal("get t 1 a", columns: 100, in: folder)
      #expect(value.output == "x\\u{9b}31my\\u{7f}z\\r\\u{202e}w\n")
    }
  }

  @Test func pipeGetsControlCharactersUnchanged() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=x\u{9B}y\r", in: folder)
      #expect(try filedb("get", "t", "1", "a", in: folder).output == "x\u{9B}y\r\n")
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"))
  func fullOutputDeviceIsAnError() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      let result = try shell("filedb show t --format json >/dev/full", in: folder)
      #expect(result.status == 74)
      #expect(result.error.contains("standard output") && !result.error.contains("is done"))
      let added = try shell("filedb add t n=1 >/dev/full", in: folder)
      #expect(added.status == 74)
      #expect(added.error.contains("what the command did to the store is done"))
      #expect(try filedb("count", "t", in: folder).output == "1\n")
    }
  }

  @Test func argumentThatIsNotUTF8IsRefused() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      for command in [#"add t "n=$(printf 'caf\351')""#, #"--store "$(printf 'caf\351')" create t"#] {
        let result = try shell("filedb \(command)", in: folder)
        #expect(result.status == 64)
        #expect(result.error.contains("is not UTF-8"))
      }
      #expect(try filedb("count", "t", in: folder).output == "0\n")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [".filedb", "t.plist"])
    }
  }

  @Test func messagesShowControlCharactersOfTheWordsThatTheyRepeat() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      let words = [
        ("x\u{1B}[31my", "x\\u{1b}[31my"), ("x\u{9B}31my", "x\\u{9b}31my"), ("x\u{202E}y", "x\\u{202e}y"),
        ("x\ny", "x\\ny"),
      ]
      for (word, shown) in words {
        try Data("a\n1\n".utf8).write(to: folder.appendingPathComponent("a.csv"))
        for words in [
          ["import", "a.csv", "t", "--encoding", word], ["add", "t", "n:int=\(word)"],
          [word], ["show", word],
        ] {
          let result = try filedb(words, in: folder)
          #expect(result.status != 0)
          #expect(!result.error.contains(word), "\(result.error.debugDescription)")
          #expect(result.error.contains(shown), "\(result.error.debugDescription)")
        }
      }
    }
  }

  @Test func outputIsStyledOnlyOnTerminalWithColor() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=1", in: folder)
      #expect(try filedbOnTerminal("show t", columns: 80, in: folder).output.contains("\u{1B}[1m"))
      #expect(try filedb("show", "t", in: folder).output == "id  a\n 1  1\n")
      let plain = try filedbOnTerminal("show t", columns: 80, in: folder, environment: ["NO_COLOR": "1"])
      #expect(!plain.output.contains("\u{1B}"))
    }
  }

  @Test func deletingMostOfATableOnTerminalNeedsConfirmation() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      for number in 1...4 { try filedb("add", "t", "n:integer=\(number)", in: folder) }
      func delete(_ words: String..., typing: String = "") throws -> ToolResult {
        try filedbOnTerminal(
          "delete t " + words.joined(separator: " "), columns: 80, in: folder, input: typing)
      }
      let refused = try delete("--where", "'n > 1'", typing: "n\n")
      #expect(
        refused.status == 1 && refused.output.contains("Delete 3 of 4 records of 't'? [y/N]"), "\(refused)")
      #expect(try filedb("count", "t", in: folder).output == "4\n")
      #expect(try !delete("--where", "'n > 2'").output.contains("[y/N]"))
      #expect(try delete("--where", "'n > 1'", typing: "y\n").status == 0)
      #expect(try !delete("--where", "'n == 1'", "--yes").output.contains("[y/N]"))
      // Without a terminal, nobody is asked.
      for number in 1...4 { try filedb("add", "t", "n:integer=\(number)", in: folder) }
      #expect(try filedb("delete", "t", "--where", "n > 0", in: folder).error == "4 records deleted\n")
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func dropOnTerminalNeedsConfirmation() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      for (answer, status) in [("n", Int32(1)), ("", 1), ("y", 0)] {
        let result = try filedbOnTerminal("drop t", columns: 80, in: folder, input: answer + "\n")
        #expect(result.status == status, "'\(answer)'")
        #expect(result.output.contains("Remove 't' with its 0 records? [y/N]"))
      }
      #expect(try filedb("count", "t", in: folder).status == 1)
    }
  }
}
