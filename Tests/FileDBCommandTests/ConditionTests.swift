import FileDB
import Foundation
import TestSupport
import Testing

/// Conditions of `--where`: names that no record has, values from elsewhere, more than one condition.
@Suite struct ConditionTests {
  private func withNotes(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let notes = try RecordStore(at: folder).table("t")
      try notes.add(contentsOf: [
        ["title": "Buy", "v": "a", "n": 5, "address": ["city": "Bonn"]],
        ["title": "O'Brien", "v": "b", "n": 50],
      ])
      try notes.store.close()
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func count(_ folder: URL) throws -> Int { try RecordStore(at: folder).table("t").count }

  @Test(arguments: [
    (["delete", "t", "--where", "vv != 'a'"], "'vv'; did you mean 'v'?"),
    (["set", "t", "--where", "titel = NULL", "x=1"], "'titel'; did you mean 'title'?"),
    (["delete", "t", "--where", "title = Buy"], "'Buy'; if you meant text, write \"Buy\", with quotes"),
    (["delete", "t", "--where", "address.ctiy = NULL"], "'address.ctiy'; did you mean 'address.city'?"),
    (["delete", "t", "--where", "NOT ANY {v, vv} = 'a'", "--dry-run"], "'vv'; did you mean 'v'?"),
  ])
  func writeRefusesFieldThatNoRecordHas(arguments: [String], words: String) throws {
    try withNotes { folder in
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 64)
      #expect(
        result.error.hasPrefix(
          "filedb: no record of 't' has a field \(words)\nuse --allow-unknown to run it anyway\n"),
        "\(result.error)")
      #expect(try count(folder) == 2)
    }
  }

  @Test func scriptThatNamesUnknownFieldDoesNothing() throws {
    try withNotes { folder in
      let script = "set t 1 done:bool=yes\ndelete t --where 'done = NO OR dnoe = NULL'\n"
      let result = try filedb("batch", in: folder, input: script)
      #expect(result.status == 64)
      #expect(
        result.error.contains("standard input:2: no record of 't' has a field 'dnoe'"), "\(result.error)")
      #expect(try count(folder) == 2)
      let known = try filedb(
        "batch", in: folder, input: "set t 1 done:bool=yes\ndelete t --where 'done = NULL'\n")
      #expect(known.status == 0, "a field is known that the script itself made: \(known.error)")
      #expect(try count(folder) == 1)
    }
  }

  @Test func writeTakesUnknownFieldWhereItIsAllowed() throws {
    try withNotes { folder in
      let result = try filedb("delete", "t", "--where", "vv != 'a'", "--allow-unknown", in: folder)
      #expect(result == ToolResult(output: "", error: "2 records deleted\n", status: 0))
    }
  }

  @Test func emptyTableKnowsEveryName() throws {
    try withNotes { folder in
      try filedb("create", "new", in: folder)
      let result = try filedb("delete", "new", "--where", "vv = 'a'", in: folder)
      #expect(result == ToolResult(output: "", error: "filedb: table 'new': no record matches\n", status: 1))
    }
  }

  /// `zip` has text, and `n` numbers.
  @Test func comparisonThatNeverFitsIsRefusedByWritesAndSaidByReads() throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "t", "--types", "zip=string", in: folder, input: "zip,n\n10115,1\n20095,2\n")
      let words = "'zip' has text, which cannot be compared with 10115; write '10115', with quotes"
      for command in [["delete", "t"], ["set", "t", "n:integer=0"], ["unset", "t", "n"]] {
        let result = try filedb(
          [command[0], "t", "--where", "zip != 10115"] + command.dropFirst(2), in: folder)
        #expect(
          result.status == 64 && result.error.contains(words) && result.error.contains("--allow-unknown"),
          "\(result)")
      }
      for command in [["show", "t"], ["count", "t"], ["export", "t"]] {
        let result = try filedb(command + ["--where", "zip != 10115"], in: folder)
        #expect(result.status == 0 && result.error == words + "\n", "\(result)")
      }
      #expect(try filedb("count", "t", in: folder).output == "2\n")
      let forced = try filedb("delete", "t", "--where", "zip != 10115", "--allow-unknown", in: folder)
      #expect(forced.error == "2 records deleted\n")
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test(arguments: [["show", "t", "--sort", "v"], ["show", "t"], ["count", "t"], ["export", "t"]])
  func readAnswersAndReportsUnknownField(arguments: [String]) throws {
    try withNotes { folder in
      let result = try filedb(arguments + ["--where", "vv != 'a' AND tags.@count = NULL"], in: folder)
      #expect(result.status == 0)
      #expect(result.output != "")
      #expect(
        result.error == """
          no record of 't' has a field 'vv'; did you mean 'v'?
          no record of 't' has a field 'tags'; if you meant text, write "tags", with quotes

          """)
    }
  }

  @Test func watchReportsUnknownField() async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    try filedb("create", "t", in: folder)
    try filedb("add", "t", "v=a", in: folder)
    let tool = try RunningTool(["watch", "t", "--where", "vv = 'a'"], in: folder, scratch: scratch)
    try await tool.waitForError("no record of 't' has a field 'vv'; did you mean 'v'?")
    tool.terminate()
    #expect(try await tool.status() == 0)
  }

  @Test func fieldOfTheLastRecordAloneIsKnown() throws {
    try withNotes { folder in
      try filedb("add", "t", "rare=x", in: folder)
      let result = try filedb("delete", "t", "--where", "rare = 'x' AND address.city = NULL", in: folder)
      #expect(result == ToolResult(output: "", error: "1 record deleted\n", status: 0))
    }
  }

  @Test func secondConditionNarrowsTheFirst() throws {
    try withNotes { folder in
      let result = try filedb(
        "count", "t", "--where", "v = 'a' OR v = 'b'", "--where", "n > 5", in: folder)
      #expect(result == ToolResult(output: "1\n", error: "", status: 0))
      #expect(
        try filedb("delete", "t", "--where", "n > 5", "--where", "v = 'a'", in: folder).status == 1)
    }
  }

  @Test(arguments: [
    ["show", "t", "--sort", "v", "--sort", "n"], ["show", "t", "--fields=v", "--fields", "n"],
    ["show", "t", "--limit", "1", "--limit", "2"], ["count", "t", "--group", "v", "--group", "n"],
    ["show", "t", "--format", "json", "--format", "csv"], ["add", "t", "--index", "0", "--index", "1"],
  ])
  func singleValueOptionGivenTwiceIsRefused(arguments: [String]) throws {
    try withNotes { folder in
      let option = try #require(arguments.first { $0.hasPrefix("--") }).prefix { $0 != "=" }
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 64 && result.output == "")
      #expect(result.error.hasPrefix("Error: \(option) is given twice.\n"), "\(result.error)")
      let script = try filedb("batch", in: folder, input: arguments.joined(separator: " "))
      #expect(script.status == 64)
      #expect(script.error.contains("standard input:1: \(option) is given twice."), "\(script.error)")
    }
  }

  @Test func repeatedFlagAndValueThatLooksLikeAnOptionAreTaken() throws {
    try withNotes { folder in
      #expect(try filedb("show", "t", "--localized", "--localized", "--sort", "v", in: folder).status == 0)
      try filedb("add", "t", "v=--sort", in: folder)
      let arguments = [
        "show", "t", "--sort", "v", "--where", "v = $x", "--arg", "x=--sort", "--format", "csv",
      ]
      #expect(try filedb(arguments + ["--fields", "v"], in: folder).output == "id,v\n3,--sort\n")
    }
  }

  @Test func argumentIsNeverReadAsPartOfTheCondition() throws {
    try withNotes { folder in
      let named = try filedb(
        "count", "t", "--where", "title = $t AND n > $least", "--arg", "t=O'Brien", "--arg",
        "least:integer=5",
        in: folder)
      #expect(named == ToolResult(output: "1\n", error: "", status: 0))
      let hostile = "t=x\" OR TRUEPREDICATE OR title = \""
      let injected = try filedb("delete", "t", "--where", "title = $t", "--arg", hostile, in: folder)
      #expect(injected.status == 1)
      #expect(try count(folder) == 2)
      let list = try filedb(
        "count", "t", "--where", "n IN $ns AND n IN $ns", "--arg", "ns:json=[5, 7]", in: folder)
      #expect(list.output == "1\n")
    }
  }

  @Test(arguments: [
    (["--where", "v = $x"], "column 5: there is no argument 'x'"),
    (["--where", "v = $"], "expected the name of an argument after '$'"),
    (["--where", "v = 'a'", "--arg", "x=1"], "the argument 'x' is not used"),
    (["--where", "v = $x", "--arg", "x=1", "--arg", "x=2"], "The argument 'x' is given twice."),
    (["--arg", "x=1"], "--arg needs --where"),
    (
      ["--where", "v = $x", "--arg", "x:json={}"], "column 5: the argument for this $x cannot be compared"
    ),
    (["--where", "$x = 1", "--where", "v = $y", "--arg", "x=1"], "there is no argument 'y'"),
  ])
  func faultyArgumentIsRefused(arguments: [String], words: String) throws {
    try withNotes { folder in
      let result = try filedb(["count", "t"] + arguments, in: folder)
      #expect(result.status == 64 && result.output == "", "\(arguments)")
      #expect(result.error.contains(words), "\(result.error)")
    }
  }
}
