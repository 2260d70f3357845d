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
}
