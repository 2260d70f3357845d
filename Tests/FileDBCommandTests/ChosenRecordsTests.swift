import FileDB
import Foundation
import TestSupport
import Testing

/// Which records a command changes: by lists of ids, by ids from a pipe, by a condition.
@Suite struct ChosenRecordsTests {
  /// A table with the records 1 to 9, without 6; `n` is the id.
  private func withTable(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let text = "n\n" + (1...9).map { "\($0)\n" }.joined()
      #expect(try filedb("import", "-", "t", in: folder, input: text).status == 0)
      try filedb("delete", "t", "6", in: folder)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func numbers(_ folder: URL, _ condition: String = "TRUE") throws -> [Int64] {
    let table = try RecordStore(at: folder).table("t").snapshot()
    return try table.records(where: RecordPredicate(condition)).compactMap { $0.fields["n"]?.integer }
  }

  /// The same records, in every way of naming them.
  private static let ways: [(words: [String], input: String, isCounted: Bool)] = [
    (["2", "5", "7"], "", false), (["2,5,7"], "", false), (["2", "5-7"], "", true), (["2,5-7"], "", true),
    (["-"], "2\n5\n7\n", true), (["-"], "id\n2,5-7\n", true), (["-"], "2 5\t7", true),
    (["2", "-"], "5\n7\n", true),
    (["--where", "n IN {2, 5, 7}"], "", true),
  ]

  @Test(arguments: ways.indices) func everyCommandTakesEveryWay(index: Int) throws {
    let (words, input, isCounted) = Self.ways[index]
    try withTable { folder in
      func run(_ arguments: [String]) throws -> ToolResult {
        let result = try filedb(arguments, in: folder, input: input)
        #expect(result.status == 0, "\(arguments): \(result.error)")
        return result
      }
      #expect(try run(["set", "t"] + words + ["a=x"]).error == (isCounted ? "3 records changed\n" : ""))
      #expect(try numbers(folder, "a = 'x'") == [2, 5, 7])
      #expect(try run(["unset", "t"] + words + ["a"]).error == (isCounted ? "3 records changed\n" : ""))
      #expect(try numbers(folder, "a = 'x'") == [])
      #expect(try run(["move", "t"] + words + ["--top"]).error == (isCounted ? "3 records moved\n" : ""))
      #expect(try numbers(folder) == [2, 5, 7, 1, 3, 4, 8, 9])
      #expect(try run(["duplicate", "t"] + words + ["--bottom"]).output == "10\n11\n12\n")
      try filedb("undo", in: folder)
      #expect(try run(["delete", "t"] + words).error == (isCounted ? "3 records deleted\n" : ""))
      #expect(try numbers(folder) == [1, 3, 4, 8, 9])
    }
  }

  @Test func whatIsNotThereIsAnErrorUnlessAllowed() throws {
    try withTable { folder in
      let before = try numbers(folder)
      let cases: [(words: [String], input: String, words2: String)] = [
        (["6"], "", "record 6: there is no such record"), (["1,6"], "", "record 6: there is no such record"),
        (["6-6"], "", "no record matches"), (["20-99999999999"], "", "no record matches"),
        (["-"], "", "no record matches"), (["--where", "n = 99"], "", "no record matches"),
      ]
      for command in [
        ["delete", "t"], ["move", "t", "--top"], ["duplicate", "t"], ["set", "t", "a=b"],
        ["unset", "t", "n"],
      ] {
        for (words, input, message) in cases {
          let result = try filedb(command + words, in: folder, input: input)
          #expect(result.status == 1 && result.error.contains(message), "\(command) \(words): \(result)")
          guard message == "no record matches" else { continue }
          let allowed = try filedb(command + words + ["--allow-empty"], in: folder, input: input)
          #expect(allowed.status == 0 && allowed.output == "", "\(command) \(words): \(allowed)")
        }
      }
      #expect(try numbers(folder) == before)
    }
  }

  @Test func wordsThatAreNoIDsAreRefused() throws {
    try withTable { folder in
      let words = ["x", "1,", ",1", "1-", "-1-2", "3-1", "1-2-3", "01", "1.5", "1,x", "1 2", ""]
      // All commands read ids alike.
      let cases = words.map { ("delete", $0) } + [("move", "1,x"), ("duplicate", "3-1")]
      for (command, word) in cases {
        let result = try filedb(command, "t", "--", word, in: folder)
        #expect(result.status == 64, "\(command) \(word): \(result)")
      }
      let piped = try filedb("delete", "t", "-", in: folder, input: "1\nx\n")
      #expect(
        piped.status == 65 && piped.error.contains("standard input: 'x' is not an id"), "\(piped.error)")
      #expect(try numbers(folder).count == 8)
    }
  }

  @Test func outputOfOneCommandChoosesForAnother() throws {
    try withTable { folder in
      let line = "filedb show t --where 'n > 6' --format csv --fields id | filedb delete t -"
      let piped = try shell(line, in: folder)
      #expect(piped.error == "3 records deleted\n")
      #expect(try shell("filedb duplicate t 1,2 | filedb move t - --top", in: folder).status == 0)
      #expect(try numbers(folder) == [1, 2, 1, 2, 3, 4, 5])
    }
  }

  @Test func scriptGoesOnWhereNothingMatches() throws {
    try withTable { folder in
      let wrong = try filedb("batch", in: folder, input: "set t 1 a=b\ndelete t --where 'n = 99'\n")
      #expect(wrong.status == 1 && wrong.error.contains("standard input:2:"), "\(wrong)")
      let right = try filedb(
        "batch", in: folder,
        input: "set t 1 a=b\ndelete t --where 'n = 99' --allow-empty --quiet\nset t 2 a=b\n")
      #expect(right == ToolResult(output: "", error: "", status: 0))
      #expect(try numbers(folder, "a = 'b'") == [1, 2])
    }
  }

  @Test func rangeOfManyIDsTakesThoseThatExist() throws {
    try withTemporaryFolder { folder in
      let text = "n\n" + (1...3_000).map { "\($0)\n" }.joined()
      try filedb("import", "-", "t", in: folder, input: text)
      try filedb("delete", "t", "--where", "n > 10 AND n < 2000", in: folder)
      #expect(try filedb("delete", "t", "5-2100", in: folder).error == "107 records deleted\n")
      #expect(try numbers(folder).first == 1)
      #expect(try numbers(folder).count == 904)
    }
  }

  @Test func quietCommandPrintsOnlyDataAndErrors() throws {
    try withTable { folder in
      for arguments in [
        ["set", "t", "--where", "n > 1", "a=b", "--quiet"],
        ["--quiet", "set", "t", "--where", "n > 1", "a=c"],
        ["undo", "--quiet"], ["set", "t", "1", "b=c", "--dry-run", "--quiet"],
        ["show", "t", "--fields", "nosuch", "--quiet"],
      ] {
        let result = try filedb(arguments, in: folder)
        #expect(result.error == "", "\(arguments)")
      }
      #expect(try filedb("import", "-", "t", "--quiet", in: folder, input: "n\n1.50\n").status == 65)
      #expect(try filedb("import", "-", "u", "--quiet", in: folder, input: "n\n1.50\n").error == "")
      #expect(try filedb("get", "t", "99", "--quiet", in: folder).error.contains("no such record"))
      #expect(try filedb("nosuch", "--quiet", in: folder).error.contains("no command"))
    }
  }

  @Test func lockIsWaitedForAsLongAsAsked() throws {
    try withTable { folder in
      func held(_ words: String) throws -> ToolResult {
        // The shell holds the lock until filedb has ended.
        try shell("exec 9<.filedb/lock; flock 9; filedb \(words)", in: folder)
      }
      for words in ["add t n=1 --wait 0", "--wait 0.05 add t n=1", "undo --wait 0"] {
        let result = try held(words)
        #expect(result.status == 75, "\(words): \(result)")
      }
      #expect(try held("count t --wait 0").output == "8\n", "reading waits for nobody")
      let later = "exec 9<.filedb/lock; flock 9; (sleep 0.2; flock -u 9) & filedb add t n=1 --wait 60"
      #expect(try shell(later, in: folder).output == "10\n")
      for wrong in ["-1", "x", "nan"] {
        #expect(try filedb("count", "t", "--wait", wrong, in: folder).status == 64, "\(wrong)")
      }
    }
  }
}
