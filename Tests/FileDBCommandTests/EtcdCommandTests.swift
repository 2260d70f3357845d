import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// `filedb` on stores that several machines share over etcd.
@Suite(
  .serialized,
  .enabled(if: EtcdCluster.current != nil, "needs the etcd clusters of Tests/Cluster/with-servers"))
struct EtcdCommandTests {
  /// Runs `body` with an empty folder, and the address of a new store.
  private func withStore(_ body: (_ folder: URL, _ address: String) throws -> Void) throws {
    let (url, name) = ("\(try #require(EtcdCluster.current).address)/tests", UUID().uuidString)
    try withTemporaryFolder { folder in
      let made = try filedb("shared", "init", url, name, in: folder)
      #expect(made.status == 0 && made.error == "created the store '\(name)'\n", "\(made)")
      #expect(made.output == "\(url)?store=\(name)\n")
      #expect(try filedb("shared", "init", url, name, in: folder).error.contains("already exists"))
      try body(folder, "\(url)?store=\(name)")
    }
  }

  @Test func commandsTakeAnAddressInPlaceOfAFolder() throws {
    try withStore { folder, address in
      #expect(try filedb("--store", address, "create", "todo", in: folder).status == 0)
      #expect(
        try filedb("--store", address, "add", "todo", "title=Milk", "n:=1 + 1", in: folder).output == "1\n")
      #expect(
        try filedb("add", "todo", "title=Bread", "--top", "--store", address, in: folder).output == "2\n")
      let script = "add todo title=Salt\nset todo 1 done:bool=yes\n"
      #expect(try filedb("--store", address, "batch", in: folder, input: script).status == 0)
      let shown = try filedb("--store", address, "show", "todo", "--format", "csv", in: folder)
      #expect(shown.output == "id,done,n,title\n2,,,Bread\n1,true,2,Milk\n3,,,Salt\n", "\(shown)")
      #expect(try filedb("--store", address, "undo", in: folder).status == 66)
      #expect(try filedb("--store", address + "x", "tables", in: folder).error.contains("has no store"))
    }
  }

  @Test(arguments: ["etcd", "etcds"]) func addressThatCannotBeReachedIsNotRepeated(scheme: String) throws {
    try withTemporaryFolder { folder in
      let result = try filedb("--store", "\(scheme)://me:geheim@127.0.0.1:1/x?store=s", "tables", in: folder)
      #expect(result.status == 69 && result.error.contains("127.0.0.1:1 cannot be reached"), "\(result)")
      #expect(!result.error.contains("geheim"))
    }
  }

  /// A proxy would see the commits.
  @Test func proxyOfTheEnvironmentIsNotUsed() throws {
    try withStore { folder, address in
      let proxies = "http_proxy=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1"
      let made = try shell("\(proxies) filedb --store '\(address)' create todo", in: folder)
      #expect(made.status == 0, "\(made)")
    }
  }

  @Test func copyThereAndBackIsTheSameToTheLastByte() throws {
    try withStore { folder, address in
      let setup = """
        set -e
        for table in groups todo empty; do filedb --store a create $table; done
        filedb --store a add groups name=Food && filedb --store a add groups name=Home
        for n in 1 2 3 4; do filedb --store a add todo title="Nr. $n" group:integer=2 n:float=$n.5; done
        filedb --store a schema todo group --references groups
        filedb --store a move todo 3 --top && filedb --store a delete todo 4
        """
      let made = try shell(setup, in: folder)
      #expect(made.status == 0, "\(made)")
      #expect(try filedb("copy", "a", address, in: folder).error == "3 tables with 5 records copied\n")
      #expect(
        try filedb("--store", address, "shared", "compact", "--older-than", "0", in: folder).status == 0)
      #expect(try filedb("copy", address, "b", in: folder).status == 0)
      for table in ["todo", "groups", "empty"] {
        let files = try ["a", "b"].map { store in
          try Data(contentsOf: folder.appendingPathComponent("\(store)/\(table).plist"))
        }
        #expect(files[0] == files[1], "\(table)")
      }
      #expect(try filedb("--store", address, "add", "todo", "title=5", in: folder).output == "5\n")
    }
  }

  @Test func folderThatHasJoinedFollowsAndStartsOver() throws {
    try withStore { folder, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      let joined = try filedb("shared", "join", address, "here", in: folder)
      #expect(joined.status == 0 && joined.error == "the folder has everything up to commit 2\n", "\(joined)")
      #expect(try filedb("--store", "here", "add", "todo", "title=Bread", in: folder).output == "2\n")
      #expect(try filedb("--store", "here", "undo", in: folder).status == 0)
      try filedb("--store", address, "add", "todo", "title=Salt", in: folder)
      let status = try filedb("--store", "here", "shared", "status", in: folder).output
      #expect(status.contains(/\nbehind +1\n/) && status.contains(/\nmembers +3\n/), "\(status)")
      #expect(status.contains(/\nleader +m[123]\n/) && status.contains(/\nrecords +2\n/), "\(status)")
      let compacted = try filedb("--store", address, "shared", "compact", "--older-than", "0", in: folder)
      #expect(compacted.error == "5 commits forgotten\n", "\(compacted)")
      let synced = try filedb("--store", "here", "shared", "sync", in: folder)
      #expect(synced.error.contains("the folder had commit 4") && synced.error.contains("up to commit 5"))
      #expect(try filedb("--store", "here", "count", "todo", in: folder).output == "2\n")
    }
  }

  @Test func folderIsReadWithoutEtcdAndNotWritten() throws {
    try withStore { folder, address in
      try filedb("--store", address, "create", "todo", in: folder)
      try filedb("--store", address, "add", "todo", "title=Milk", in: folder)
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      let identity = try joined("here", in: folder)
      #expect(JoinedStores().address(of: identity) == address)
      try JoinedStores().add("etcd://127.0.0.1:1/tests?store=x", of: identity)
      #expect(try filedb("--store", "here", "get", "todo", "1", "title", in: folder).output == "Milk\n")
      for words in [["add", "todo", "title=Bread"], ["shared", "sync"], ["shared", "status"]] {
        let result = try filedb(["--store", "here"] + words, in: folder)
        #expect(result.status == 69 && result.error.contains("127.0.0.1:1 cannot be reached"), "\(result)")
      }
    }
  }

  @Test func watchSeesWhatOtherMachinesDo() async throws {
    let (url, name) = (try #require(EtcdCluster.current).address, UUID().uuidString)
    let address = "\(url)?store=\(name)"
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
