import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A socket at a port of this machine that was free. Nobody listens there yet, so clients are refused.
package final class LoopbackSocket: Sendable {
  package let port: Int
  package let descriptor: CInt

  package init() throws {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // Programs that tests start must not hold it longer than this one.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var isOn: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failure = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
      }
    }
    (port, self.descriptor) = (Int(UInt16(bigEndian: address.sin_port)), descriptor)
    guard failure == 0 else { throw BrokenInvariant(description: "there is no free port") }
  }

  deinit { close(descriptor) }

  /// Lets clients connect.
  package func listen() throws {
    #if canImport(Glibc)
      let failure = Glibc.listen(descriptor, 8)
    #else
      let failure = Darwin.listen(descriptor, 8)
    #endif
    guard failure == 0 else { throw BrokenInvariant(description: "nobody can listen at port \(port)") }
  }

  /// Whether a client is waiting to be accepted.
  package var hasClient: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) > 0
  }
}
