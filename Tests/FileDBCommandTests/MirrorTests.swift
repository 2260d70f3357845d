import FileDB
import Foundation
import TestSupport
import Testing

/// Imports of what other tools write: packed files, any separator, JSON in any form, and files that a table mirrors.
@Suite struct MirrorTests {
  private func withFolder(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func csv(_ table: String, in folder: URL) throws -> String {
    try filedb("show", table, "--format", "csv", in: folder).output
  }

  @Test(arguments: [
    "{\"a\": 1}", "{\n  \"a\": 1\n}\n", "{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n", "{\"a\": 1} {\"a\": 2}",
    "{\"a\":\n1}{\"a\":2}\n",
  ])
  func jsonIsAnyObjects(text: String) throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("x.json")
      try Data(text.utf8).write(to: file)
      let count = text.split(separator: "a").count - 1
      let named = try filedb("import", "x.json", "t", in: folder)
      #expect(named.error == "\(count == 1 ? "1 record" : "2 records") imported into 't'\n")
      #expect(try csv("t", in: folder) == (count == 1 ? "id,a\n1,1\n" : "id,a\n1,1\n2,2\n"))
      try FileManager.default.removeItem(at: file)
    }
  }

  @Test func prettyObjectsComeFromAPipe() throws {
    try withFolder { folder in
      let text = "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n{\n  \"a\": 2\n}\n"
      #expect(
        try filedb("import", "-", "t", in: folder, input: text).error == "2 records imported into 't'\n")
      let wrong = try filedb("import", "-", "t", in: folder, input: "{\n  \"a\": 1\n}\n{\n  \"a\" 2\n}\n")
      #expect(wrong.status == 65 && wrong.error.contains("standard input:5"), "\(wrong.error)")
      let more = try filedb("import", "-", "t", "--format", "json", in: folder, input: "{\"a\": 1} x")
      #expect(more.status == 65 && more.error.contains("more text"))
    }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/gzip"), "needs gzip"))
  func packedFilesAreUnpacked() throws {
    try withFolder { folder in
      let made = try shell(
        """
        printf 'a;b\\n1;2\\n' > x.csv; printf '{"a": 1}' > y.json; gzip x.csv y.json; mkdir d; cp y.json.gz d/z
        filedb import x.csv.gz x && filedb import y.json.gz y && filedb import d/z z
        """, in: folder)
      #expect(made.status == 0, "\(made.error)")
      #expect(try csv("x", in: folder) == "id,a,b\n1,1,2\n")
      #expect(try csv("y", in: folder) == "id,a\n1,1\n" && csv("z", in: folder) == "id,a\n1,1\n")
      let bomb = try shell(
        "yes a,b | head -c 80000000 | gzip > bomb.csv.gz; filedb import bomb.csv.gz bomb", in: folder)
      #expect(bomb.status == 65 && bomb.error.contains("unpacks to more than 256 times its size"))
      let cut = try shell("head -c 20 x.csv.gz > cut.csv.gz; filedb import cut.csv.gz cut", in: folder)
      #expect(cut.status == 65 && cut.error.contains("gzip cannot unpack this file"))
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/cut.plist"))
    }
  }

  @Test func importMirrorsTheFile() throws {
    try withFolder { folder in
      func take(_ text: String, _ options: String...) throws -> ToolResult {
        try filedb(["import", "-", "t"] + options, in: folder, input: text)
      }
      _ = try take("k,v\na,1\nb,2\nc,3\n")
      let mirrored = try take("k,v\na,1\nc,\nd,4\n", "--key", "k", "--delete-missing", "--empty", "clear")
      #expect(mirrored.error == "1 added, 1 changed, 1 deleted, 1 unchanged\n")
      #expect(try csv("t", in: folder) == "id,k,v\n1,a,1\n3,c,\n4,d,4\n")
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try csv("t", in: folder) == "id,k,v\n1,a,1\n2,b,2\n3,c,3\n")
      let kept = try take("k,v\nc,\n", "--key", "k")
      #expect(kept.error == "v: read as integer, as in the table\n0 added, 0 changed, 1 unchanged\n")
      let ids = try take("id,v\n2,5\n", "--ids", "--delete-missing", "--dry-run")
      #expect(ids.error.contains("0 would be added, 1 would be changed, 2 would be deleted, 0 unchanged"))
      for options in [["--delete-missing"], ["--key", "k", "--delete-missing", "--on-error", "skip"]] {
        #expect(try filedb(["import", "-", "t"] + options, in: folder, input: "k\na\n").status == 64)
      }
      #expect(try filedb("count", "t", in: folder).output == "3\n")
    }
  }

  @Test func nullClearsAFieldWhereThatIsAsked() throws {
    try withFolder { folder in
      let text = "[{\"k\": \"a\", \"v\": null, \"in\": {\"x\": null}}]"
      try filedb("import", "-", "t", in: folder, input: "k,v\na,1\n")
      try filedb("import", "-", "t", "--key", "k", in: folder, input: text)
      #expect(try csv("t", in: folder) == "id,in,k,v\n1,{},a,1\n")
      let cleared = try filedb("import", "-", "t", "--key", "k", "--empty", "clear", in: folder, input: text)
      #expect(cleared.error == "0 added, 1 changed, 0 unchanged\n")
      #expect(try csv("t", in: folder) == "id,in,k\n1,{},a\n")
    }
  }
}
