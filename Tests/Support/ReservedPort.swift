import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A port of this machine that no other program gets, for as long as this exists.
///
/// Nobody listens at it, so connections are refused. But a server that is told to may listen at it, since servers set
/// `SO_REUSEADDR`.
package final class ReservedPort: Sendable {
  package let number: Int
  private let descriptor: CInt

  package init() throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    #else
      descriptor = socket(AF_INET6, SOCK_STREAM, 0)
    #endif
    var (isOn, isOff): (CInt, CInt) = (1, 0)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
    // For IPv4 as well.
    setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &isOff, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let descriptor = descriptor
    let failure = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    number = Int(UInt16(bigEndian: address.sin6_port))
    guard failure == 0 else { throw BrokenInvariant(description: "no port can be reserved") }
  }

  deinit { close(descriptor) }
}
