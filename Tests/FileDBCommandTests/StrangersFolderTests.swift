import FileDB
import Foundation
import TestSupport
import Testing

/// Commands in a folder that somebody sent.
@Suite struct StrangersFolderTests {
  /// A folder says which shared store it follows, and an older one also where that is. Only the user's own files count.
  @Test func noCommandConnectsToAnAddressThatCameWithTheFolder() throws {
    try withTemporaryFolder { folder in
      let server = try Listener()
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
      #expect(!server.hasConnection)
    }
  }
}

/// A port on which somebody waits for connections.
private final class Listener {
  let port: Int
  private let descriptor: CInt

  init() throws {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failure = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | listen(descriptor, 8) | getsockname(descriptor, $0, &length)
      }
    }
    (port, self.descriptor) = (Int(UInt16(bigEndian: address.sin_port)), descriptor)
    try #require(failure == 0)
  }

  deinit { close(descriptor) }

  /// Whether a client has connected, or is waiting to.
  var hasConnection: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) > 0
  }
}
