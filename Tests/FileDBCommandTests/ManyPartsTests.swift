import FileDB
import Foundation
import TestSupport
import Testing

/// Files and command lines with very many parts. Work that grew with the square of their number would not end in time.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ManyPartsTests {
  /// The numbers must have the same length: the fields of a record are sorted.
  private static let numbers = 100_000..<125_000

  private func withFolder(_ body: (_ filedb: ([String]) throws -> String, URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try body(
        { words in
          let result = try run(program("filedb").path, words, in: folder, input: "", environment: [:])
          #expect(result.status == 0, "\(words.prefix(3)): \(result.error.prefix(200))")
          return result.output
        }, folder)
    }
  }

  @Test(arguments: ["json", "csv"]) func recordHasVeryManyFields(format: String) throws {
    try withFolder { filedb, folder in
      let names = Self.numbers.shuffled().map { "k\($0)" }
      let text =
        format == "json"
        ? "[{" + names.map { "\"\($0)\": 1" }.joined(separator: ",") + "}]"
        : names.joined(separator: ",") + "\n" + names.map { _ in "1" }.joined(separator: ",") + "\n"
      try Data(text.utf8).write(to: folder.appendingPathComponent("many.\(format)"))
      _ = try filedb(["import", "many.\(format)", "t"])
      _ = try filedb(["set", "t", "1", "k100000=2"])
      #expect(try filedb(["get", "t", "1"]).utf8.split(separator: 0x0A).count == names.count + 1)
      #expect(try filedb(["check"]) == "t: sound\n")
      _ = try filedb(["export", "t", "out.\(format)"])
      _ = try filedb(["schema", "t", "--suggest"])
      #expect(try filedb(["repair"]) == "t: sound\n")
      _ = try filedb(["field", "drop", "t", "k100001", "--yes"])
      _ = try filedb(["undo"])
      #expect(try filedb(["get", "t", "1", "k100001"]) == "1\n")
    }
  }

  @Test func commandLineHasVeryManyWords() throws {
    try withFolder { filedb, folder in
      let count = 12_000
      let rows = (1...count).map { "{\"a\": \($0)}" }.joined(separator: "\n")
      try Data(rows.utf8).write(to: folder.appendingPathComponent("many.ndjson"))
      _ = try filedb(["import", "many.ndjson", "t"])
      let ids = (2...count).shuffled().map(String.init)
      _ = try filedb(["set", "t", "b=1"] + ids)
      _ = try filedb(["unset", "t"] + ids + ["a"])
      _ = try filedb(["move", "--top", "t"] + ids)
      #expect(
        try filedb(["show", "t", "--format", "ndjson", "--limit", "1"])
          == "{\"id\": \(ids[0]), \"b\": \"1\"}\n")
      _ = try filedb(["set", "t", "1"] + (1...count).map { "f\($0)=\($0)" })
      #expect(try filedb(["get", "t", "1", "f777"]) == "777\n")
      _ = try filedb(["delete", "t"] + ids)
      #expect(try filedb(["show", "t", "--format", "ndjson", "--fields", "a"]) == "{\"id\": 1, \"a\": 1}\n")
    }
  }
}
