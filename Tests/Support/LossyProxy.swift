import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Stands between a client and a server, until the client sends a certain request. What becomes of that one depends on
/// the ``Loss``. Then the proxy cuts the connections and is gone, as if somebody had pulled the cable.
package final class LossyProxy: Sendable {
  package enum Loss: CaseIterable, Sendable {
    /// The server carries the request out, and its answer is lost.
    case answer
    /// The request never arrives.
    case request
    /// The request arrives when ``LossyProxy/deliver()`` is called.
    case delay
  }

  package enum Server: Sendable {
    case socket(path: String)
    case port(Int)
  }

  /// What the proxy looks for in the bytes that a client sends.
  package struct Request: Sendable {
    let part: [UInt8]
    /// How it ends.
    let end: [UInt8]

    /// A commit to PostgreSQL. It ends with a message of the kind `Sync`.
    package static let commitToPostgreSQL = Request(
      part: Array("filedb.append(".utf8), end: [UInt8(ascii: "S"), 0, 0, 0, 4])
    /// A commit to etcd: a transaction with a condition.
    package static let commitToEtcd = Request(part: Array("\"compare\":[{".utf8), end: Array("}".utf8))
  }

  private let listener: LoopbackSocket
  private let (server, request, loss): (Server, Request, Loss)
  /// The request that is late, and the open connection to the server.
  private let late = Mutex<(server: CInt, bytes: [UInt8])?>(nil)

  package var port: Int { listener.port }

  package init(to server: Server, losing loss: Loss, of request: Request) throws {
    (self.server, self.loss, self.request) = (server, loss, request)
    listener = try LoopbackSocket()
    try listener.listen()
    let descriptor = listener.descriptor
    Thread.detachNewThread { [self] in
      while case let client = accept(descriptor, nil, nil), client >= 0 {
        Thread.detachNewThread { [self] in
          serve(client)
          close(client)
        }
      }
    }
  }

  /// Sends the request that is late, and waits until the server has answered.
  package func deliver() throws {
    guard let (server, bytes) = late.withLock({ $0 }) else {
      throw BrokenInvariant(description: "no request is late")
    }
    Self.send(bytes, to: server)
    var answer = [UInt8](repeating: 0, count: 1 << 12)
    let count = recv(server, &answer, answer.count, 0)
    close(server)
    guard count > 0 else { throw BrokenInvariant(description: "the server did not answer") }
  }

  private func serve(_ client: CInt) {
    let server = connect()
    guard server >= 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      var sources = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&sources, 2, -1) > 0 else { break }
      if sources[1].revents != 0 {
        let count = recv(server, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        Self.send(Array(buffer[..<count]), to: client)
      }
      guard sources[0].revents != 0 else { continue }
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      var bytes = Array(buffer[..<count])
      guard bytes.firstRange(of: request.part) != nil else {
        Self.send(bytes, to: server)
        continue
      }
      while !bytes.suffix(request.end.count).elementsEqual(request.end),
        case let more = recv(client, &buffer, buffer.count, 0), more > 0
      {
        bytes += buffer[..<more]
      }
      return lose(bytes, server)
    }
    close(server)
  }

  private func lose(_ bytes: [UInt8], _ server: CInt) {
    switch loss {
    case .answer:
      Self.send(bytes, to: server)
      var answer: UInt8 = 0
      _ = recv(server, &answer, 1, 0)
      close(server)
    case .request: close(server)
    case .delay: late.withLock { $0 = (server, bytes) }
    }
    shutdown(listener.descriptor, CInt(SHUT_RDWR))
  }

  private func connect() -> CInt {
    #if canImport(Glibc)
      let stream = CInt(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    switch server {
    case .port(let port):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return Self.connect(socket(AF_INET, stream, 0), &address)
    case .socket(let path):
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
      return Self.connect(socket(AF_UNIX, stream, 0), &address)
    }
  }

  private static func connect<Address>(_ descriptor: CInt, _ address: inout Address) -> CInt {
    let failure = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    return failure == 0 ? descriptor : -1
  }

  private static func send(_ bytes: [UInt8], to descriptor: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
