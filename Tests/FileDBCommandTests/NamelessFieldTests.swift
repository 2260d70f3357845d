import FileDB
import Foundation
import TestSupport
import Testing

/// A field without a name, which another program may have written into a table's file.
@Suite struct NamelessFieldTests {
  private func withNamelessField(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>autoincrement</key><string>2</string>
        <key>data</key><array>
        <dict><key></key><string>x</string><key>n</key><integer>1</integer>
        <key>wgFileDbSecretId</key><string>1</string></dict>
        <dict><key>n</key><integer>2</integer><key>wgFileDbSecretId</key><string>2</string></dict>
        </array>
        </dict></plist>
        """
      try Data(text.utf8).write(to: folder.appendingPathComponent("t.plist"))
      try body(folder)
    }
  }

  private func records(in folder: URL) throws -> String {
    try filedb("show", "t", "--format", "ndjson", in: folder).output
  }

  @Test func checkNamesIt() throws {
    try withNamelessField { folder in
      let result = try filedb("check", "t", in: folder)
      #expect(result.output.contains("record 1: a field has no name"), "\(result)")
      #expect(result.output.contains("filedb field rename t '' NAME"), "\(result)")
      #expect(result.status == 0)
    }
  }

  @Test func otherFieldsOfTheRecordCanBeChanged() throws {
    try withNamelessField { folder in
      try filedb("set", "t", "1", "n:integer=5", in: folder)
      try filedb("move", "t", "1", "--bottom", in: folder)
      #expect(try records(in: folder) == "{\"id\": 2, \"n\": 2}\n{\"id\": 1, \"\": \"x\", \"n\": 5}\n")
    }
  }

  @Test func itCanBeRemovedAndRenamed() throws {
    let cases: [(words: [String], first: String)] = [
      (["unset", "t", "1", ""], "{\"id\": 1, \"n\": 1}"),
      (["unset", "t", "--where", "n > 0", ""], "{\"id\": 1, \"n\": 1}"),
      (["field", "drop", "t", "", "--yes"], "{\"id\": 1, \"n\": 1}"),
      (["field", "rename", "t", "", "name"], "{\"id\": 1, \"n\": 1, \"name\": \"x\"}"),
    ]
    for (words, first) in cases {
      try withNamelessField { folder in
        let result = try filedb(words, in: folder)
        #expect(result.status == 0, "\(words): \(result)")
        #expect(try records(in: folder).hasPrefix(first + "\n"), "\(words)")
        #expect(try filedb("check", "t", in: folder).output.contains("no name") == false)
        #expect(try filedb("undo", in: folder).status == 0)
        #expect(try records(in: folder).contains("\"\": \"x\""))
      }
    }
  }

  /// By no command, and by no file of another program.
  @Test func noCommandMakesOne() throws {
    try withNamelessField { folder in
      try Data("{\"\": 1}".utf8).write(to: folder.appendingPathComponent("f.json"))
      try Data("\"\",n\n1,2\n".utf8).write(to: folder.appendingPathComponent("f.csv"))
      for words in [
        ["add", "t", "=x"], ["set", "t", "2", "=x"], ["field", "rename", "t", "n", ""],
        ["import", "f.json", "t"],
        ["import", "f.json", "new"], ["import", "f.csv", "t"], ["import", "f.csv", "new", "--key", "n"],
        ["import", "f.csv", "t", "--columns", ",n"], ["schema", "t", "", "--required"],
      ] {
        let result = try filedb(words, in: folder)
        #expect([64, 65].contains(result.status), "\(words): \(result)")
      }
      #expect(try records(in: folder) == "{\"id\": 1, \"\": \"x\", \"n\": 1}\n{\"id\": 2, \"n\": 2}\n")
      #expect(try filedb("show", "new", in: folder).status == 1)
    }
  }
}
