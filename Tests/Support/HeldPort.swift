import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A port of this machine that no other program can get. A server may listen there, as often as it likes.
///
/// A port that was only found free may be another program's before the server listens. This one is bound all the time,
/// but nobody listens: a client is refused. The system lets a server have the same port, because both use
/// `SO_REUSEADDR`. It does not give it to somebody who asks for any free port.
package final class HeldPort: Sendable {
  package let number: Int
  private let descriptor: CInt

  package init() throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // Programs that tests start must not hold it longer than this one.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var isOn: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let failure = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
      }
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    guard failure == 0 else { throw BrokenInvariant(description: "there is no free port") }
  }

  deinit { close(descriptor) }
}
