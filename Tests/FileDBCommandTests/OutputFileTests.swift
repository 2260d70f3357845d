import FileDB
import Foundation
import TestSupport
import Testing

/// Where a command writes if the user names something that is not a regular file.
@Suite struct OutputFileTests {
  private func withTable(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let table = try RecordStore(at: folder).table("t")
      try table.add(contentsOf: [["n": 1], ["n": 2]])
      try table.store.checkpoint()
      try table.store.close()
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent("t.plist"), to: folder.appendingPathComponent("copy"))
      try body(folder)
    }
  }

  /// The commands that write a file which the user names, and how what they write begins. `OUT` is the file.
  private static let writers: [(command: String, beginning: String)] = [
    ("filedb export t OUT --format csv", "id,n\n1,1\n2,2\n"),
    ("filedb export t OUT --format json", "[\n  {\"id\": 1"),
    ("filedb export t OUT --format plist", "<?xml"),
    ("filedb export t OUT --format binary-plist", "bplist00"),
    ("filedb export t OUT --where 'n = 2' --no-id --format ndjson", "{\"n\": 2}\n"),
    ("filedb export t other.csv --schema OUT", "{\n"),
    ("filedb merge copy copy copy --output OUT", "<?xml"),
  ]

  /// How a shell leads what is written there into the file `out`, which has a line already. Replacing `out`, or
  /// writing from its start, would lose that line.
  private static let places: [(shell: String, place: String)] = [
    ("COMMAND >>out", "/dev/stdout"), ("COMMAND >>out", "/dev/fd/1"), ("COMMAND 3>>out", "/dev/fd/3"),
    ("COMMAND | cat >>out", "/dev/stdout"), ("COMMAND 2>>out", "/dev/stderr"),
    ("{ echo more; COMMAND; } >>out", "/dev/stdout"), ("COMMAND >>out", "link"),
    ("mkfifo pipe; cat pipe >>out & COMMAND; wait", "pipe"),
    ("COMMAND; while test ! -s done; do sleep 0.01; done", ">(cat >>out; echo >done)"),
  ]

  @Test(.enabled(if: hasBash, "needs bash"), arguments: places.indices)
  func whatIsNotARegularFileIsWrittenTo(place: Int) throws {
    let (shellLine, path) = Self.places[place]
    for (command, beginning) in Self.writers {
      try withTable { folder in
        let out = folder.appendingPathComponent("out")
        try Data("first\n".utf8).write(to: out)
        try FileManager.default.createSymbolicLink(
          atPath: folder.appendingPathComponent("link").path, withDestinationPath: "/dev/stdout")
        let inode = try FileManager.default.attributesOfItem(atPath: out.path)[.systemFileNumber] as? Int
        let script = shellLine.replacing("COMMAND", with: command.replacing("OUT", with: path))
        let name = folder.appendingPathComponent("script")
        try Data("set -e\n\(script)\n".utf8).write(to: name)
        let result = try shell("bash script", in: folder)
        #expect(result.status == 0, "\(script): \(result)")
        let text = String(decoding: try Data(contentsOf: out), as: UTF8.self)
        let before = "first\n" + (script.contains("echo more") ? "more\n" : "")
        // Messages go to standard error.
        let isAfter = path == "/dev/stderr" ? text.contains(beginning) : text.hasPrefix(before + beginning)
        #expect(text.hasPrefix(before) && isAfter, "\(script): \(text)")
        #expect(
          try FileManager.default.attributesOfItem(atPath: out.path)[.systemFileNumber] as? Int == inode)
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
            !$0.contains(".filedb-")
          })
      }
    }
  }

  @Test func deviceIsWrittenTo() throws {
    try withTable { folder in
      for (command, _) in Self.writers {
        let line = command.replacing("OUT", with: "/dev/null")
        #expect(try shell(line, in: folder).status == 0, "\(line)")
        let full = command.replacing("OUT", with: "/dev/full")
        let result = try shell(full, in: folder)
        #expect(result.status == 74 && result.error.contains("/dev/full"), "\(full): \(result)")
      }
    }
  }

  @Test func readerOfAStreamGetsItsEndAlsoIfNothingMatches() throws {
    try withTable { folder in
      let result = try filedb(
        "export", "t", "/dev/stdout", "--where", "n = 9", "--format", "json", in: folder)
      #expect(result.status == 1 && result.output == "[]\n", "\(result)")
    }
  }

  @Test func regularFileIsReplacedAsAWhole() throws {
    try withTable { folder in
      // A property list beside a table would be taken for one.
      let file = folder.appendingPathComponent("other/out")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: false)
      for (command, beginning) in Self.writers {
        try Data("former, and longer than anything that is written\n".utf8).write(to: file)
        #expect(try shell(command.replacing("OUT", with: "other/out"), in: folder).status == 0)
        #expect(
          String(decoding: try Data(contentsOf: file), as: UTF8.self).hasPrefix(beginning), "\(command)")
      }
    }
  }

  @Test func databaseCannotBeAStream() throws {
    try withTable { folder in
      let result = try filedb("export", "t", "/dev/stdout", "--format", "sqlite", in: folder)
      #expect(result.status == 64 && result.error.contains("cannot be a stream"), "\(result)")
    }
  }

  @Test func schemaDoesNotReplaceATable() throws {
    try withTable { folder in
      let table = folder.appendingPathComponent("t.plist")
      let before = try Data(contentsOf: table)
      try FileManager.default.createSymbolicLink(
        at: folder.appendingPathComponent("s.json"), withDestinationURL: table)
      for schema in ["t.plist", "s.json", "new.plist", "missing/s.json"] {
        let result = try filedb("export", "t", "other.csv", "--schema", schema, in: folder)
        #expect([64, 66].contains(result.status), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("other.csv").path))
        #expect(try Data(contentsOf: table) == before)
      }
      let other = try filedb(
        "export", "t", "/dev/stdout", "--format", "plist", "--schema", "s2.json", in: folder)
      #expect(other.status == 0, "\(other)")
    }
  }
}
