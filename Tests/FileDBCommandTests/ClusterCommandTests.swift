import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// `filedb` on stores that several machines share.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct ClusterCommandTests {
  private static let password = "geheim"

  /// Runs `body` with an empty folder, the URL of the database, and the address of a new store in it.
  private func withStore(
    _ body: (_ folder: URL, _ url: String, _ address: String) throws -> Void
  ) throws {
    let server = try #require(PostgresServer.current)
    let url = "postgres://filedb:\(Self.password)@/postgres?host=\(server.folder)"
    let name = UUID().uuidString
    try withTemporaryFolder { folder in
      let made = try filedb("shared", "init", url, name, in: folder)
      #expect(made.status == 0 && made.error.contains("created the store '\(name)'"), "\(made)")
      try body(folder, url, "\(url)&store=\(name)")
    }
  }

  /// Runs `filedb`, which must not repeat the password.
  private func run(_ arguments: String..., in folder: URL, input: String = "") throws -> ToolResult {
    let result = try filedb(arguments, in: folder, input: input)
    #expect(!(result.output + result.error).contains(Self.password), "\(arguments): \(result)")
    return result
  }

  private func bytes(_ path: String, in folder: URL) throws -> Data {
    try Data(contentsOf: folder.appendingPathComponent(path))
  }

  @Test func addressThatIsPrintedLeadsToTheStore() throws {
    try withStore { folder, url, address in
      let name = try #require(address.split(separator: "=").last)
      let again = try run("shared", "init", url, String(name), in: folder)
      #expect(again.status == 0 && again.error == "the store '\(name)' already exists\n")
      let printed = again.output.split(separator: "\n")
      #expect(printed.count == 1 && printed[0].hasPrefix("postgres://"))
      #expect(try run("--store", String(printed[0]), "create", "todo", in: folder).status == 0)
      #expect(try run("--store", address, "tables", "--no-header", in: folder).output.hasPrefix("todo"))
    }
  }

  @Test func commandsTakeAnAddressInPlaceOfAFolder() throws {
    try withStore { folder, url, address in
      #expect(try run("--store", address, "create", "todo", in: folder).status == 0)
      #expect(
        try run("--store", address, "add", "todo", "title=Milk", "n:=1 + 1", in: folder).output == "1\n")
      #expect(try run("add", "todo", "title=Bread", "--top", "--store", address, in: folder).output == "2\n")
      let script = "add todo title=Salt\nset todo 1 done:bool=yes\n"
      #expect(try run("--store", address, "batch", in: folder, input: script).status == 0)
      let shown = try run("--store", address, "show", "todo", "--format", "csv", in: folder)
      #expect(shown.output == "id,done,n,title\n2,,,Bread\n1,true,2,Milk\n3,,,Salt\n", "\(shown)")
      #expect(try run("--store", address, "count", "todo", "--where", "n > 1", in: folder).output == "1\n")
      #expect(try run("--store", address, "delete", "todo", "3", "--dry-run", in: folder).status == 0)
      let info = try run("--store", address, "info", "todo", in: folder)
      #expect(info.status == 0 && info.output.hasPrefix("size     in the database\nrecords  3\n"), "\(info)")
      #expect(try run("--store", address, "export", "todo", "todo.json", in: folder).status == 0)
      let query = try run("--store", address, "sql", "SELECT title FROM todo WHERE n = 2", in: folder)
      #expect(query.output == "title\nMilk\n")
      for command in [
        "check", "repair", "undo", "redo", "checkpoint", "init", "browse", "git setup", "info --waiting",
      ] {
        let result = try filedb(
          ["--store", address] + command.split(separator: " ").map(String.init), in: folder)
        #expect(
          result.status == 66 && result.error.contains("'filedb \(command)' is about the files"), "\(result)")
      }
      #expect(try run("--store", address, "get", "todo", "9", in: folder).status == 1)
      #expect(try run("--store", address + "x", "tables", in: folder).error.contains("has no store"))
      #expect(try run("--store", url, "tables", in: folder).error.contains("names no store"))
      #expect(try run("check", address, in: folder).status == 64)
      #expect(try run("ship", "install", address, "to", "--version", "1", in: folder).status == 64)
    }
  }

  @Test func copyThereAndBackIsTheSameToTheLastByte() throws {
    try withStore { folder, _, address in
      let setup = """
        set -e
        for table in groups todo empty; do filedb --store a create $table; done
        filedb --store a add groups name=Food && filedb --store a add groups name=Home
        for n in 1 2 3 4; do filedb --store a add todo title="Nr. $n" group:integer=2 n:float=$n.5; done
        filedb --store a schema todo group --references groups
        filedb --store a schema todo done --type bool --default no
        filedb --store a move todo 3 --top && filedb --store a delete todo 4
        filedb --store a create old && filedb --store a add old title=1 && filedb --store a drop old --yes
        """
      let made = try shell(setup, in: folder)
      #expect(made.status == 0, "\(made)")
      let copied = try run("copy", "a", address, in: folder)
      #expect(copied == ToolResult(output: "", error: "3 tables with 5 records copied\n", status: 0))
      #expect(try run("diff", "a", address, in: folder) == ToolResult(output: "", error: "", status: 0))
      #expect(try run("copy", address, "b", in: folder).status == 0)
      for table in ["todo", "groups", "empty"] {
        #expect(
          try bytes("a/\(table).plist", in: folder) == bytes("b/\(table).plist", in: folder), "\(table)")
      }
      #expect(try run("--store", address, "add", "todo", "title=5", in: folder).output == "5\n")
      // The first id of a table that was dropped is not given again.
      for store in [address, "b"] {
        #expect(try run("--store", store, "create", "old", in: folder).status == 0)
        #expect(try run("--store", store, "add", "old", "title=2", in: folder).output == "2\n")
      }
      #expect(try run("copy", "a", address, in: folder).error.contains("this store has tables already"))
      #expect(try run("copy", "none", "c", in: folder).status == 66)
      try RecordStore(at: folder.appendingPathComponent("b")).checkInvariants()
    }
  }

  @Test func copySaysWhichTablesNoMachineHolds() async throws {
    let (server, name) = (try #require(PostgresServer.current), UUID().uuidString)
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let log = SharedLog.postgreSQL(server.info, store: name, timeout: longestWait)
    try log.create()
    let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: log)
    try await store.table("todo").add(["title": "Milk"])
    try await store.paged("events").add(["kind": "login"])
    let address = "postgres://filedb@/postgres?host=\(server.folder)&store=\(name)"
    for source in ["a", address] {
      let target = UUID().uuidString
      let copied = try run("copy", source, target, in: folder)
      #expect(copied.status == 0 && copied.error.contains("events: not copied"), "\(copied)")
      #expect(try run("--store", target, "tables", "--no-header", in: folder).output.hasPrefix("todo"))
    }
    #expect(try run("--store", address, "show", "events", in: folder).error.contains("paged"))
    #expect(try run("--store", address, "add", "events", "kind=two", in: folder).error.contains("paged"))
  }

  @Test func folderThatHasJoinedIsAsAnyOther() throws {
    try withStore { folder, _, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      let joined = try run("shared", "join", address, "here", in: folder)
      #expect(joined.status == 0 && joined.error == "the folder has everything up to commit 2\n", "\(joined)")
      #expect(
        try !String(decoding: bytes("here/.filedb/shared", in: folder), as: UTF8.self).contains(Self.password)
      )
      #expect(try run("--store", "here", "get", "todo", "1", "title", in: folder).output == "Milk\n")
      #expect(
        try run("--store", "here", "add", "todo", "title=@-", in: folder, input: "Bread").output == "2\n")
      #expect(try run("--store", "here", "undo", in: folder).status == 0)
      #expect(try run("--store", address, "count", "todo", in: folder).output == "1\n")
      // What others do is read when it is asked for.
      try filedb("--store", address, "add", "todo", "title=Salt", in: folder)
      #expect(try run("--store", "here", "count", "todo", in: folder).output == "1\n")
      let status = try run("--store", "here", "shared", "status", in: folder).output
      #expect(status.contains(/\nbehind +1\n/) && status.contains(/\nstandby +false\n/), "\(status)")
      // An edit becomes a commit.
      let file = folder.appendingPathComponent("here/todo.plist")
      try String(contentsOf: file, encoding: .utf8).replacing("Milk", with: "Oat milk")
        .write(to: file, atomically: true, encoding: .utf8)
      #expect(try run("--store", "here", "shared", "sync", in: folder).status == 0)
      #expect(try run("--store", "here", "count", "todo", in: folder).output == "2\n")
      #expect(try run("--store", address, "get", "todo", "1", "title", in: folder).output == "Oat milk\n")
    }
  }

  @Test func syncSaysThatAnEditIsInConflict() throws {
    try withStore { folder, _, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      #expect(try run("shared", "join", address, "here", in: folder).status == 0)
      let file = folder.appendingPathComponent("here/todo.plist")
      try String(contentsOf: file, encoding: .utf8).replacing("Milk", with: "Oat milk")
        .write(to: file, atomically: true, encoding: .utf8)
      try filedb("--store", address, "set", "todo", "1", "title=Butter", in: folder)
      let news = "edited files and other machines disagree: 1 conflict; 'filedb conflicts list' prints it\n"
      for _ in 1...2 {
        let synced = try run("--store", "here", "shared", "sync", in: folder)
        #expect(synced.status == 0 && synced.error.hasSuffix(news), "\(synced)")
      }
      #expect(try run("--store", "here", "get", "todo", "1", "title", in: folder).output == "Butter\n")
      let list = try run("--store", "here", "conflicts", "list", in: folder)
      #expect(list.status == 1 && list.output.contains("Oat milk"), "\(list)")
      #expect(try run("--store", "here", "conflicts", "take", "theirs", in: folder).status == 0)
      #expect(try run("--store", address, "get", "todo", "1", "title", in: folder).output == "Oat milk\n")
      #expect(try !run("--store", "here", "shared", "sync", in: folder).error.contains("conflict"))
    }
  }

  @Test func folderIsReadWithoutTheServerAndNotWritten() throws {
    try withStore { folder, _, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      #expect(try run("shared", "join", address, "here", in: folder).status == 0)
      let identity = try joined("here", in: folder)
      try JoinedStores().add("postgres:///app?host=\(folder.path)&store=x", of: identity)
      #expect(try run("--store", "here", "get", "todo", "1", "title", in: folder).output == "Milk\n")
      for words in [["add", "todo", "title=Bread"], ["shared", "sync"]] {
        let result = try filedb(["--store", "here"] + words, in: folder)
        #expect(result.status == 69 && result.error.contains("connection to server"), "\(result)")
      }
      let status = try run("--store", "here", "shared", "status", in: folder)
      #expect(status.status == 69 && status.output.contains(/\nfolder commit +2\n/), "\(status)")
      #expect(try run("shared", "join", address, "here", in: folder).status == 0)
      #expect(try run("--store", "here", "add", "todo", "title=Bread", in: folder).output == "2\n")
    }
  }

  @Test func folderThatStartsOverSaysSo() throws {
    try withStore { folder, _, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      #expect(try run("shared", "join", address, "here", in: folder).status == 0)
      for title in ["Bread", "Salt"] {
        try filedb("--store", address, "add", "todo", "title=\(title)", in: folder)
      }
      #expect(try run("--store", address, "shared", "compact", in: folder).error == "0 commits forgotten\n")
      let compacted = try run("--store", address, "shared", "compact", "--older-than", "0", in: folder)
      #expect(compacted.error == "4 commits forgotten\n")
      let synced = try run("--store", "here", "shared", "sync", in: folder)
      #expect(
        synced.error.contains("the folder had commit 2")
          && synced.error.contains("read again, up to commit 4"))
      #expect(
        try run("--store", "here", "shared", "sync", in: folder).error
          == "the folder has everything up to commit 4\n")
      let status = try run("--store", "here", "shared", "status", "--format", "json", in: folder)
      #expect(
        status.output.contains("\"started_over\": ") && status.output.contains("\"behind\": 0"), "\(status)")
      #expect(try run("--store", "here", "count", "todo", in: folder).output == "3\n")
    }
  }

  @Test func watchSeesWhatOtherMachinesDo() async throws {
    let server = try #require(PostgresServer.current)
    let (url, name) = ("postgres://filedb@/postgres?host=\(server.folder)", UUID().uuidString)
    let address = "\(url)&store=\(name)"
    let folders = try (0..<3).map { _ in try makeTemporaryFolder() }
    defer { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
    let folder = folders[0]
    try filedb("shared", "init", url, name, in: folder)
    try filedb("--store", address, "create", "todo", in: folder)
    for machine in ["a", "b"] { try filedb("shared", "join", address, machine, in: folder) }
    let watching = try zip(["a", address], folders.dropFirst()).map { store, scratch in
      try RunningTool(
        ["--store", store, "watch", "todo", "--format", "ndjson"], in: folder, scratch: scratch)
    }
    for tool in watching { try await tool.waitForError("^C ends") }
    try filedb("--store", "b", "add", "todo", "title=Milk", in: folder)
    for tool in watching {
      try await tool.waitForLine { $0.contains("\"insert\"") && $0.contains("Milk") }
      tool.interrupt()
      #expect(try await tool.status() == 0)
    }
  }
}

/// What needs no server.
@Suite struct ClusterUsageTests {
  @Test func passwordsAreNotRepeated() throws {
    try withTemporaryFolder { folder in
      let address = "postgres://me:geheim@localhost:1/app?store=todo"
      for words in [
        ["--store", address, "show", "todo"], ["show", address], ["get", "todo", address],
        ["show", "todo", "--store=\(address)", "--nothing"], ["copy", address, "to"],
        ["--store", "postgres://me:geheim@[::/a?store=%zz", "show", "todo"],
        ["shared", "join", address, "here"],
        ["--attach", address, "show", "todo"], ["diff", ".", address], ["shared", "status", address],
      ] {
        let result = try filedb(words, in: folder)
        #expect(
          result.status != 0 && !(result.output + result.error).contains("geheim"), "\(words): \(result)")
      }
    }
  }

  @Test func folderThatNobodySharesHasNoStatus() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "todo", in: folder)
      for action in ["status", "sync", "compact"] {
        let result = try filedb("shared", action, in: folder)
        #expect(
          result.status == 66 && result.error.contains("this store is not shared between machines"),
          "\(result)")
      }
      #expect(try filedb("shared", "join", in: folder).status == 64)
      #expect(try filedb("copy", ".", "copy", in: folder).error == "1 table with 0 records copied\n")
      let script = try filedb("batch", in: folder, input: "shared status\n")
      #expect(script.status == 64 && script.error.contains("is not a command for a script"))
    }
  }

  @Test func copyOfADroppedTableGivesNoIDTwice() throws {
    try withTemporaryFolder { folder in
      for words in [
        ["create", "old"], ["add", "old", "n=1"], ["drop", "old", "--yes"], ["create", "todo"],
      ] {
        #expect(try filedb(["--store", "a"] + words, in: folder, input: "").status == 0)
      }
      #expect(try filedb("copy", "a", "b", in: folder).error == "1 table with 0 records copied\n")
      #expect(try filedb("--store", "b", "create", "old", in: folder).status == 0)
      #expect(try filedb("--store", "b", "add", "old", "n=2", in: folder).output == "2\n")
      try RecordStore(at: folder.appendingPathComponent("b")).checkInvariants()
    }
  }

  @Test func keysOfOtherProgramsAreNamed() throws {
    try withTemporaryFolder { folder in
      try filedb("--store", "a", "create", "todo", in: folder)
      let file = folder.appendingPathComponent("a/todo.plist")
      try String(contentsOf: file, encoding: .utf8).replacing(
        "<key>autoincrement</key>", with: "<key>colour</key>\n<string>red</string>\n<key>autoincrement</key>"
      ).write(to: file, atomically: true, encoding: .utf8)
      let copied = try filedb("copy", "a", "b", in: folder)
      #expect(
        copied.status == 0 && copied.error.contains("in the file's root were not copied: colour"), "\(copied)"
      )
    }
  }
}
