import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// What a server said, byte by byte.
package struct RawAnswer {
  package let status: Int
  /// The names in small letters.
  package let headers: [String: String]
  package let body: [UInt8]

  package var text: String { String(decoding: body, as: UTF8.self) }
}

/// A connection to a server on this machine, on which a test says what no well-behaved client would.
package final class RawConnection {
  package struct Ended: Error {}

  private let descriptor: CInt
  private var received: [UInt8] = []

  /// - Parameter host: the address, by default 127.0.0.1.
  package init(port: Int, address host: UInt32 = 0x7F00_0001) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = host.bigEndian
    let failure = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard failure == 0 else { throw Ended() }  // It is released, and so closed.
    #if canImport(Darwin)
      var isOn: CInt = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
    #endif
    var patience = timeval(tv_sec: Int(longestWait.components.seconds), tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  deinit { close(descriptor) }

  /// - Throws: ``Ended`` if the server does not take it.
  package func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Self.flags) }
      guard count > 0 else {
        if errno == EAGAIN { throw WaitedInVain(for: "a server to read what a client sends", #fileID, #line) }
        throw Ended()
      }
      rest = rest.dropFirst(count)
    }
  }

  #if canImport(Darwin)
    private static let flags: CInt = 0
  #else
    private static let flags = CInt(MSG_NOSIGNAL)
  #endif

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// The next answer.
  /// - Parameter method: of the request, since the answer to HEAD has no body.
  /// - Throws: ``Ended`` if the connection ends before.
  package func answer(to method: String = "GET") throws -> RawAnswer {
    let lines = String(decoding: try take(through: "\r\n\r\n"), as: UTF8.self).split(separator: "\r\n")
    let status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
    guard let status else { throw Ended() }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
    }
    let body = try method == "HEAD" ? [] : body(headers)
    return RawAnswer(status: status, headers: headers, body: body)
  }

  private func body(_ headers: [String: String]) throws -> [UInt8] {
    if let length = headers["content-length"].flatMap({ Int($0) }) { return try take(length) }
    guard headers["transfer-encoding"] == "chunked" else { return try takeAll() }
    var body: [UInt8] = []
    while true {
      let line = String(decoding: try take(through: "\r\n").dropLast(2), as: UTF8.self)
      guard let length = Int(line, radix: 16) else { throw Ended() }
      body += try take(length)
      _ = try take(2)
      if length == 0 { return body }
    }
  }

  /// Waits until the server has said this, and passes over it.
  package func waits(for text: String) throws -> String {
    String(decoding: try take(through: text), as: UTF8.self)
  }

  /// The rest, up to the end of the connection.
  package func takeAll() throws -> [UInt8] {
    while try receive(before: "the end of a connection") {}
    defer { received = [] }
    return received
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while received.count < count { guard try receive(before: "\(count) bytes") else { throw Ended() } }
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  private func take(through text: String) throws -> [UInt8] {
    let mark = Array(text.utf8)
    let (end, what) = (ContinuousClock.now + longestWait, text.debugDescription)
    while true {
      if let range = received.firstRange(of: mark) { return try take(range.upperBound) }
      // Signs of life may come forever.
      guard ContinuousClock.now < end else { throw WaitedInVain(for: what, #fileID, #line) }
      guard try receive(before: what) else { throw Ended() }
    }
  }

  /// - Parameter what: what the test waits for.
  /// - Returns: whether there was more.
  private func receive(before what: String) throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    // Where bytes that the server never read are lost, the connection is reset.
    if count == 0 || count < 0 && errno == ECONNRESET { return false }
    if count < 0, errno == EAGAIN { throw WaitedInVain(for: what, #fileID, #line) }
    guard count > 0 else { throw Ended() }
    received += buffer[..<count]
    return true
  }
}
