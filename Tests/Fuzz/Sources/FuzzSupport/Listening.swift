import Foundation

/// Serves each connection to a new port of this machine in a thread of its own.
/// - Parameters:
///   - answer: takes the requests that are complete out of the bytes that have arrived, and returns their answers.
/// - Returns: the port.
public func listen<Client>(
  _ begin: @escaping @Sendable () -> Client,
  answer: @escaping @Sendable (_ received: inout [UInt8], _ client: inout Client) -> [UInt8]
) -> UInt16 {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      guard bind(listener, $0, length) == 0, listen(listener, 8) == 0, getsockname(listener, $0, &length) == 0
      else { fail("no socket") }
    }
  }
  Thread.detachNewThread {
    while true {
      let connection = accept(listener, nil, nil)
      Thread.detachNewThread {
        var client = begin()
        serve(connection) { answer(&$0, &client) }
      }
    }
  }
  return UInt16(bigEndian: address.sin_port)
}

private func serve(_ connection: Int32, _ answer: (inout [UInt8]) -> [UInt8]) {
  var (received, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
  while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
    received += buffer[..<count]
    let bytes = answer(&received)
    // All at once: a second piece would wait until the client has confirmed the first.
    guard send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
  }
  close(connection)
}
