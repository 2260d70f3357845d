import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct BadInputTests {
  @Test func wrongCommandsGiveExitCodeAndMessage() throws {
    let cases: [(arguments: [String], status: Int32, words: String)] = [
      (["get", "t", "7"], 1, "table 't': record 7: there is no such record"),
      (["get", "t", "1", "b"], 1, "field 'b': the record has no such field"),
      (["show", "nosuch"], 1, "table 'nosuch': there is no such table; 'filedb create nosuch' makes it"),
      (["add", "nosuch", "a=b"], 1, "there is no such table"),
      (["move", "t", "1", "--index", "1"], 1, "there is no index 1; the table has 1 record"),
      (["delete", "t", "1", "7"], 1, "record 7"),
      (["get", "t", "-1"], 64, "<id>"), (["get", "t", "x"], 64, "'x' is invalid"), (["nosuch"], 64, "nosuch"),
      (["add", "t", "novalue"], 64, "novalue"), (["add", "t", "=x"], 64, "=x"),
      (
        ["add", "t", "a:flaot=5"], 64,
        "There is no type 'flaot'; did you mean 'float'? The types are string, integer,"
      ),
      (
        ["set", "t", "1", "a:x=5"], 64,
        "There is no type 'x'. The types are string, integer, float, bool, date, data, json"
      ),
      (["count", "t", "--where", "a = $x", "--arg", "x:int=5"], 64, "did you mean 'integer'?"),
      (["shwo", "t"], 64, "There is no command 'shwo'. Did you mean 'show'?"),
      (["help", "nope"], 64, "There is no command 'nope'."), (["help", "shwo"], 64, "Did you mean 'show'?"),
      (["--store", "x", "help", "nope"], 64, "There is no command 'nope'."),
      (["show", "tt"], 1, "there is no such table; did you mean 't'?"),
      (["get", "t", "1", "A"], 1, "field 'A': the record has no such field; did you mean 'a'?"),
      (["move", "t", "1", "--index", "-1"], 1, "there is no index -1; the table has 1 record"),
      (["add", "t", "a=1", "--index", "-1"], 1, "there is no index -1"),
      (["show", "t", "--limit", "-1"], 64, "not be negative"),
      (["show", "t", "--offset", "-1"], 64, "not be negative"),
      (["sort", "t", "a", "--nosuch", "--", "b"], 64, "--nosuch"), (["sort", "t", "--"], 64, "key"),
      (["drop", "t"], 64, "Give --yes"), (["truncate", "t"], 64, "Give --yes"),
      (["drop", "none", "--if-exists"], 64, "Give --yes"),
      (["truncate", "none", "--if-exists"], 64, "Give --yes"),
      (["add", "t", "a=1", "a=2"], 64, "The field 'a' is given twice."),
      (["add", "t", "--top", "--bottom"], 64, "Give only one of"), (["move", "t", "1"], 64, "Say where"),
      (["add", "t", "wgFileDbSecretId=5"], 64, "keeps the record's id"),
      (["sort", "t"], 64, "key"), (["sort", "t", "--nosuch"], 64, "--nosuch"),
      (["create", ".hidden"], 64, "must not begin with '.'"),
      (["create", "nofolder/t"], 66, "a table's name has no '/'"),
      (["add", "../nofolder/t.plist", "a=1"], 66, "a table's name has no '/'"),
      (["create", "t"], 65, "the table exists already"),
      (["add", "t", "a:integer=x"], 65, "'x' is not a whole number"),
      (["add", "t", "a:date=2024-02-30"], 65, "not a date"),
      (["add", "t", "a=\u{1B}[0m"], 65, "XML cannot hold the character U+001B"),
      (["add", "t", "a:data=@nofile"], 66, "nofile: there is no such file"),
      (["--store", "nofolder", "tables"], 66, "there is no such folder"),
      (["--store", "", "tables"], 64, "The name of the store is empty."),
      (["--store", "", "add", "t", "a=1"], 64, "The name of the store is empty."),
      (["copy", "", "x"], 64, "is empty"),
      (["copy", ".", ""], 64, "is empty"), (["ship", "install", "", "x", "--version", "1"], 64, "is empty"),
      (["--attach", "", "tables"], 64, "is empty"),
      (["import", "nofile", "t", "--header"], 66, "there is no such file"),
      (["import", "t.csv", "t", "--no-header"], 64, "name the columns: --columns"),
      (["import", "t.csv", "t", "--separator", "ab"], 64, "--separator"),
      (
        ["import", "t.csv", "t", "--types", "a=int"], 64,
        "There is no type 'int'; did you mean 'integer'? The types are string, integer, float"
      ),
      (["import", "t.csv", "t", "--types", "a:integer"], 64, "not 'a:integer'"),
      (["import", "t.plist", "t", "--separator", ";"], 64, "for csv and tsv"),
      (["import", "t.json", "t", "--detect"], 64, "for csv and tsv"),
      (["import", "t.csv", "t", "--key", "a", "--ids"], 64, "one of --key and --ids"),
      (["export", "t", "t.plist"], 64, "taken for a table"),
      (["export", "t", "bare", "--format", "plist"], 64, "taken for a table"),
      (["export", "t", "nowhere/t.csv"], 66, "/nowhere: there is no such folder\n"),
      (["export", "t", "nowhere/t.db"], 66, "/nowhere: there is no such folder\n"),
      (["import", ".", "t"], 66, "this is a folder, not a file"),
      (["import", ".", "t", "--format", "sqlite"], 66, "this is a folder, not a file"),
      (["add", "t", "n:integer=0x10"], 65, "'0x10' is not a whole number"),
      (["--store", "x", "nosuch", "t"], 64, "There is no command 'nosuch'"),
      (["nosuch", "t"], 64, "There is no command 'nosuch'"),
      (["import", "t.csv", "t", "--types", "a"], 64, "Usage: filedb import "),
      (["sort", "t", "--nosuch"], 64, "Usage: filedb sort "),
      (["--store", ".", "export", "t", "t.plist"], 64, "See 'filedb export --help' for more information."),
      (["show", "t", "--limit=-1"], 64, "not be negative"), (["show", "t", "--format", "xml"], 64, "xml"),
    ]
    try withTableOfOneRecord { folder in
      for (arguments, status, words) in cases {
        let result = try filedb(arguments, in: folder)
        #expect(result.status == status, "\(arguments): \(result.error)")
        #expect(result.error.contains(words), "\(arguments): \(result.error)")
        #expect(result.output == "", "\(arguments)")
      }
      #expect(try filedb("drop", "nofolder/t", "--if-exists", "--yes", in: folder).status == 0)
    }
  }

  @Test func filesThatAreNotTablesAreRefusedUnchanged() throws {
    try withTemporaryFolder { folder in
      for (name, text, words) in [
        ("empty", "", "the file is empty"), ("json", "{\"a\": 1}", "JSON"),
        ("old", "{ a = 1; }", "old-style"),
        ("binary", "bplist00", "plutil -convert xml1"), ("cut", "<plist version=\"1.0\"><dict>", "cut off"),
        ("other", "<plist version=\"1.0\"><dict/></plist>", "no 'data' key"),
        ("text", "hello", "not an XML property list"),
      ] {
        let file = folder.appendingPathComponent("\(name).plist")
        try Data(text.utf8).write(to: file)
        for arguments in [["show", name], ["add", name, "a=b"], ["info", name]] {
          let result = try filedb(arguments, in: folder)
          #expect(result.status == 65, "\(arguments): \(result.error)")
          #expect(
            result.error.contains(words) && result.error.contains(file.path), "\(arguments): \(result.error)")
        }
        #expect(try Data(contentsOf: file) == Data(text.utf8))
      }
      let check = try filedb("check", in: folder)
      #expect(check.status == 65)
      #expect(check.output.split(separator: "\n").count == 7)
      let tables = try filedb("tables", in: folder)
      #expect(tables.status == 0)
      #expect(tables.output.contains("the file is empty"))
    }
  }

  @Test func writeToLockedStoreExitsWithTemporaryFailure() throws {
    try withTableOfOneRecord { folder in
      let lock = try SystemDisk().lock(folder.path + "/.filedb/lock", timeout: .zero)
      let result = try filedb("add", "t", "a=2", in: folder)
      #expect(result.status == 75)
      #expect(result.error.contains("another writer has the store locked"))
      #expect(try filedb("count", "t", in: folder).output == "1\n", "reading goes on")
      withExtendedLifetime(lock) {}
    }
  }

  @Test(.enabled(if: geteuid() != 0 || hasSetpriv, "needs setpriv when run by root"))
  func readOnlyFolderIsReadButNotWritten() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store")
      try FileManager.default.createDirectory(at: store, withIntermediateDirectories: false)
      try Data(
        """
        <plist version="1.0"><dict><key>autoincrement</key><string>1</string><key>data</key><array>
        <dict><key>a</key><string>x</string><key>wgFileDbSecretId</key><string>1</string></dict></array></dict></plist>
        """.utf8
      ).write(to: store.appendingPathComponent("t.plist"))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: store.path)
      defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store.path) }
      #expect(try filedbWithoutRights("get", "t", "1", "a", in: store).output == "x\n")
      #expect(try filedbWithoutRights("add", "t", "a=y", "--dry-run", in: store).output == "2\n")
      let write = try filedbWithoutRights("add", "t", "a=y", in: store)
      #expect(write.status == 77)
      #expect(write.error.contains("Permission denied"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == ["t.plist"])

      try FileManager.default.setAttributes(
        [.posixPermissions: 0o000], ofItemAtPath: store.appendingPathComponent("t.plist").path)
      let unreadable = try filedbWithoutRights("show", "t", in: store)
      #expect(unreadable.status == 77)
      #expect(unreadable.error.contains("t.plist"))
    }
  }
}
