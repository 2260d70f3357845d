import FileDB
import Foundation
import TestSupport
import Testing

/// Commands in a folder that somebody sent.
@Suite struct StrangersFolderTests {
  /// A folder says which shared store it follows, and an older one also where that is. Only the user's own files count.
  @Test func noCommandConnectsToAnAddressThatCameWithTheFolder() throws {
    try withTemporaryFolder { folder in
      let server = try LoopbackSocket()
      try server.listen()
      let own = folder.appendingPathComponent("store/.filedb/replica/.filedb")
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      let environment = ["XDG_STATE_HOME": folder.path, "PGPASSWORD": "geheim", "ETCDCTL_PASSWORD": "geheim"]
      for address in [
        "etcd://127.0.0.1:\(server.port)/tests?store=x", "postgres://127.0.0.1:\(server.port)/db?store=x",
      ] {
        for identity in ["8f14e45f-ceea-467f-a8a5-3e2b1c9d7f60", "../../../etc/passwd", ""] {
          try Data("\(identity)\n\(address)\n".utf8)
            .write(to: folder.appendingPathComponent("store/.filedb/shared"))
          for command in [
            ["show", "t"], ["add", "t", "n=1"], ["shared", "status"], ["shared", "sync"], ["tables"],
            ["check"],
          ] {
            let result = try run(
              program("filedb").path, ["--store", "store"] + command, in: folder, input: "",
              environment: environment)
            #expect(
              result.status == 69
                && (result.error.contains("'filedb shared join ADDRESS DIR'")
                  || result.error.contains("the identity of the shared store is not one")),
              "\(command): \(result)")
          }
        }
      }
      #expect(!server.hasClient)
    }
  }

  /// A file of 1 TB that needs no room on the disk.
  @Test(arguments: [
    "t.plist", "t.schema.plist", ".filedb/journal", ".filedb/lock", ".filedb/queue", ".filedb/counters.plist",
    ".filedb/installed.plist", ".filedb/shared", ".filedb/start",
    ".filedb/conflicts/t.plist",
    ".filedb/undo/1", ".filedb/offsets/t", ".filedb/backups/t.plist", ".filedb/.gitignore",
  ])
  func noCommandTrapsAtAFileThatClaimsToBeHuge(file: String) throws {
    try withTemporaryFolder { folder in
      _ = try shell(
        "filedb create t; filedb add t n=1; filedb add t n=2; filedb checkpoint; filedb set t 1 n=3",
        in: folder)
      let url = folder.appendingPathComponent(file)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
      try #require(truncate(url.path, 1 << 40) == 0)
      for command in [
        "show t", "get t 1", "tables", "info t", "check", "add t n=4", "undo", "conflicts list", "repair t",
        "repair",
        "export t x.csv",
      ] {
        let result = try shell("filedb \(command)", in: folder)
        #expect(result.status < 128, "\(command): \(result)")
        #expect(
          result.status == 0 || (result.output + result.error).contains(url.lastPathComponent),
          "\(command): \(result)")
      }
    }
  }
}
