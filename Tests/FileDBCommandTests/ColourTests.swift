import FileDB
import Foundation
import TestSupport
import Testing

/// What people see on a terminal: colours by type, long texts on request, a pager, differences in fields.
@Suite(.enabled(if: hasScript, "needs script(1)")) struct ColourTests {
  private func withTasks(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb(
        "add", "t", "n:integer=42", "done:bool=yes", "due:date=2026-02-03", "name=Tea", "list:json=[1]",
        in: folder)
      try body(folder)
    }
  }

  @Test func showHasColoursByType() throws {
    try withTasks { folder in
      let shown = try filedbOnTerminal("show t", columns: 100, in: folder).output
      for part in [
        "\u{1B}[36m42\u{1B}[0m", "\u{1B}[33mtrue\u{1B}[0m", "\u{1B}[35m2026-02-03\u{1B}[0m",
        "\u{1B}[34m[1]\u{1B}[0m", "  Tea",
      ] {
        #expect(shown.contains(part), "\(shown.debugDescription)")
      }
      #expect(try filedbOnTerminal("get t 1", columns: 100, in: folder).output.contains("\u{1B}[36m42"))
    }
  }

  @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]]) func coloursCanBeTurnedOff(
    environment: [String: String]
  ) throws {
    try withTasks { folder in
      for command in ["show t", "get t 1", "info t", "diff t - < t.plist"] {
        let shown = try filedbOnTerminal(command, columns: 100, in: folder, environment: environment).output
        #expect(!shown.contains("\u{1B}"), "\(command): \(shown.debugDescription)")
      }
    }
  }

  @Test func colouredLinesFitTerminal() throws {
    try withTasks { folder in
      let rows = (0..<600).map { _ in "add t n:integer=123456789 due:date=2026-02-03 name=x\n" }.joined()
      #expect(try filedb("batch", in: folder, input: rows).status == 0)
      let shown = try filedbOnTerminal("show t", columns: 30, in: folder).output
      for line in shown.split(separator: "\n") where !line.contains("more columns") {
        #expect(line.replacing(/\u{1B}\[\d*m/, with: "").count <= 30, "\(line)")
      }
    }
  }

  @Test func longTextIsWholeOnRequest() throws {
    try withTasks { folder in
      let long = String(repeating: "long ", count: 40) + "end"
      try filedb("set", "t", "1", "name=\(long)", in: folder)
      #expect(try !filedbOnTerminal("show t", columns: 60, in: folder).output.contains("end"))
      #expect(try filedbOnTerminal("show t --whole", columns: 60, in: folder).output.contains(long))
    }
  }

  @Test func pagerGetsTheWholeTable() throws {
    try withTasks { folder in
      let long = String(repeating: "long ", count: 40) + "end"
      try filedb("set", "t", "1", "name=\(long)", in: folder)
      let paged = try filedbOnTerminal(
        "show t --page", columns: 60, in: folder, environment: ["PAGER": "sed 's/^/paged /'"])
      let lines = paged.output.split(separator: "\n")
      #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("paged ") }, "\(paged.output)")
      #expect(lines[1].contains(long) && lines[1].contains("\u{1B}[36m42"))
      // Without a terminal there is nothing to scroll.
      let piped = try filedb("show", "t", "--page", in: folder, environment: ["PAGER": "sed 's/^/paged /'"])
      #expect(!piped.output.contains("paged"))
    }
  }

  @Test func diffMarksWhatChangedInAField() throws {
    try withTasks { folder in
      try filedb("set", "t", "1", "name=a green tea", in: folder)
      try FileManager.default.copyItem(atPath: folder.path + "/t.plist", toPath: folder.path + "/.old")
      try filedb("set", "t", "1", "name=a white tea", "n:integer=7", in: folder)
      let shown = try filedbOnTerminal("diff ./.old t", columns: 100, in: folder).output
      #expect(
        shown.contains(
          "\u{1B}[1m    - name: \u{1B}[0m\u{1B}[31ma \u{1B}[0m\u{1B}[31;7mgreen\u{1B}[0m\u{1B}[31m tea\u{1B}[0m"
        ),
        "\(shown.debugDescription)")
      #expect(shown.contains("\u{1B}[31m42\u{1B}[0m") && shown.contains("\u{1B}[32m7\u{1B}[0m"))
      let plain = try filedb("diff", "./.old", "t", in: folder).output
      #expect(plain.contains("    - name: a green tea\n    + name: a white tea\n"))
    }
  }
}
