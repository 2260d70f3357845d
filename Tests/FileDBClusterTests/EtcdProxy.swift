import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Stands between a client and a member of etcd, and changes some of the member's answers.
final class EtcdProxy: Sendable {
  struct Answer {
    var status: Int
    var body: [UInt8]

    init(_ answer: RawAnswer) { (status, body) = (answer.status, answer.body) }

    init(status: Int, _ text: String) { (self.status, body) = (status, Array(text.utf8)) }
  }

  typealias Change = @Sendable (_ request: String, _ answer: RawAnswer) -> Answer

  var port: Int { socket.port }
  private let socket: LoopbackSocket

  /// - Parameters:
  ///   - member: the port of the member.
  ///   - change: gets the body of each request, after the member has answered it.
  init(to member: Int, _ change: @escaping Change) throws {
    socket = try LoopbackSocket()
    try socket.listen()
    // The thread holds the socket. Otherwise it could accept clients of the next one with the same descriptor.
    Thread.detachNewThread { [socket] in
      while case let client = accept(socket.descriptor, nil, nil), client >= 0 {
        Thread.detachNewThread {
          try? Self.serve(client, member, change)
          close(client)
        }
      }
    }
  }

  deinit { shutdown(socket.descriptor, CInt(SHUT_RDWR)) }

  private static func serve(_ client: CInt, _ member: Int, _ change: Change) throws {
    let server = try RawConnection(port: member)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += buffer[..<count]
      guard let head = received.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).lowercased().split(
        separator: "\r\n")
      let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
      guard received.count >= head.upperBound + length else { continue }
      try server.send(received)
      let answer = change(
        String(decoding: received[head.upperBound...], as: UTF8.self), try server.answer(to: "POST"))
      received = []
      send(answer, to: client)
    }
  }

  private static func send(_ answer: Answer, to client: CInt) {
    let head = "HTTP/1.1 \(answer.status) Changed\r\nContent-Length: \(answer.body.count)\r\n\r\n"
    var rest = (Array(head.utf8) + answer.body)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(client, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
