import FileDB
import Foundation
import TestSupport
import Testing

/// Text of strangers that becomes part of a command, of SQL or of another syntax. A mark with an accent is one
/// `Character` in Swift, but the reader of that syntax sees the mark.
@Suite struct SyntaxTests {
  /// All ASCII characters that may be in a file's name, a dozen in each, with and without an accent. After each, a
  /// command of a shell would leave a trace: the file `t`.
  private static let names: [String] = {
    let marks = (1..<128).filter { $0 != 0x2F }.map { String(Unicode.Scalar(UInt8($0))) }
    return stride(from: 0, to: marks.count, by: 12).flatMap { start -> [String] in
      ["", "\u{301}"].map { accent in
        "a" + marks[start..<min(start + 12, marks.count)].map { "\($0)\(accent);>t;" }.joined()
      }
    }
  }()

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/gzip"), "needs gzip"))
  func nameOfAPackedFileIsNoCommand() throws {
    try withTemporaryFolder { folder in
      _ = try shell("printf 'n\\n1\\n' | gzip > packed", in: folder)
      for name in Self.names {
        let file = folder.appendingPathComponent(name)
        try FileManager.default.moveItem(at: folder.appendingPathComponent("packed"), to: file)
        let result = try filedb(
          "import", "./" + name, "t", "--format", "csv", "--dry-run", in: folder)
        #expect(result.status == 0, "\(name.debugDescription): \(result.error)")
        try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("packed"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["packed"])
    }
  }

  @Test func nameOfAnEditedTableIsNoCommand() throws {
    try withTemporaryFolder { folder in
      let environment = ["EDITOR": "test -f", "TMPDIR": folder.path, "VISUAL": ""]
      for name in Self.names {
        let store = folder.appendingPathComponent("store")
        guard (try? RecordStore(at: store).table(name).add(["n": 1])) != nil else { continue }
        let result = try filedb("edit", name, "1", "--store", "store", in: folder, environment: environment)
        #expect(
          result == ToolResult(output: "", error: "nothing was changed\n", status: 0),
          "\(name.debugDescription)")
        try FileManager.default.removeItem(at: store)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  /// `schema --suggest` prints commands that a person pastes into a shell.
  @Test(.enabled(if: hasBash, "needs bash")) func proposedCommandsMeanWhatTheyName() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      var tried = 0
      for name in Self.names {
        guard (try? store.table(name).add(["n": 1])) != nil else { continue }
        let proposal = try filedb("schema", name, "--suggest", in: folder).output
        let line = "PATH='\(program("filedb").deletingLastPathComponent().path)':$PATH; filedb \(proposal)"
        let result = try run("/bin/bash", ["-c", line], in: folder, input: "", environment: [:])
        #expect(
          result.status == 0,
          "\(proposal.debugDescription): \(result.output.debugDescription) \(result.error.debugDescription)")
        #expect(try store.table(name).snapshot().schema?["n"]?.type == .integer, "\(name.debugDescription)")
        tried += 1
      }
      #expect(tried > 15)
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("t").path))
    }
  }
}
