import FileDB
import Foundation
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import FileDBBrowse

/// How long the server waits for a client. The time passes only when a test says so.
@Suite struct TimeLimitTests {
  private static let limits = Limits()

  @Test(arguments: ["", "GET", "POST /api/undo HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"])
  func clientThatSendsNoWholeRequestIsDisconnected(beginning: String) async throws {
    try await withServer { server in
      let client = try await Client(of: server.serving)
      try await client.send(beginning)
      try await client.expectEnd(after: Self.limits.requestTime)
    }
  }

  @Test func clientThatDoesNotSendTheBodyIsDisconnected() async throws {
    try await withServer { server in
      let client = try await Client(of: server.serving)
      let head = server.writeHeaders.joined(separator: "\r\n")
      try await client.send("POST /api/tables/todo/delete HTTP/1.1\r\n\(head)\r\nContent-Length: 13\r\n\r\n")
      // The time begins with the head, and more of the body does not prolong it.
      await client.pass(Self.limits.requestTime - .seconds(1))
      try await client.send("{")
      try await client.expectEnd(after: .seconds(1))
    }
  }

  @Test func clientThatWasAnsweredMayWaitLongerBeforeItsNextRequest() async throws {
    try await withServer { server in
      let client = try await Client(of: server.serving)
      for _ in 1...2 {
        await client.pass(Self.limits.requestTime - .seconds(1))
        try await client.send(
          "GET /api/store HTTP/1.1\r\n\(server.headers.joined(separator: "\r\n"))\r\n\r\n")
        #expect(try await client.answer().hasPrefix("HTTP/1.1 200"))
      }
      try await client.expectEnd(after: Self.limits.idleTime)
    }
  }

  @Test func refusedClientThatDoesNotHangUpIsDisconnected() async throws {
    try await withServer { server in
      let client = try await Client(of: server.serving)
      try await client.send("GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n")
      #expect(try await client.answer().hasPrefix("HTTP/1.1 403"))
      await client.pass(Self.limits.partingTime - .seconds(1))
      try await client.send("\r\n")  // Servers skip empty lines before a request.
      try await client.expectEnd(after: .seconds(1))
    }
  }

  private struct Server {
    let serving: Serving
    let headers: [String]

    var writeHeaders: [String] {
      headers + ["Origin: http://127.0.0.1:80", "Content-Type: application/json"]
    }
  }

  /// Runs `body` with a server that listens nowhere.
  private func withServer(_ body: (Server) async throws -> Void) async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try RecordStore(at: folder)
    let serving = Serving(store, access: .readAndWrite, limits: Self.limits)
    for threads in [serving.reading, serving.writing] { threads.start() }
    defer { stop(serving) }
    let entrance = try await Client(of: serving)
    let invitation = serving.gatekeeper.link.drop { $0 != "=" }.dropFirst()
    try await entrance.send(
      """
      POST /api/token HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r
      Authorization: Bearer \(invitation)\r\n\r\n
      """)
    let token = try #require(try await entrance.answer().firstMatch(of: #/"token":"(\w+)"/#)).1
    try await body(
      Server(serving: serving, headers: ["Host: 127.0.0.1:80", "Authorization: Bearer \(token)"]))
    try store.checkInvariants()
  }

  private func stop(_ serving: Serving) {
    for threads in [serving.reading, serving.writing] { try? threads.syncShutdownGracefully() }
  }
}

/// A client in memory. It never hangs up.
private final class Client: Sendable {
  private let channel = NIOAsyncTestingChannel()
  private let received = Mutex("")

  init(of server: Serving) async throws {
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 80)
    channel.localAddress = address
    try await channel.testingEventLoop.executeInContext { [self] in
      let end = ClientEnd { [self] text in received.withLock { $0 += text } }
      try channel.pipeline.syncOperations.addHandler(end)
      try server.accept(channel)
    }
    try await channel.connect(to: address)
  }

  func send(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

  /// The head of the next answer, and what comes with it.
  func answer() async throws -> String {
    try await wait(for: "an answer") { received.withLock { $0.contains("\r\n\r\n") } }
    return received.withLock { text in
      defer { text = "" }
      return text
    }
  }

  /// Lets the time pass.
  func pass(_ time: TimeAmount) async { await channel.testingEventLoop.advanceTime(by: time) }

  /// Fails unless the server closes the connection exactly then.
  func expectEnd(after time: TimeAmount, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    await pass(time - .nanoseconds(1))
    #expect(channel.isActive, sourceLocation: sourceLocation)
    await pass(.nanoseconds(1))
    #expect(!channel.isActive, sourceLocation: sourceLocation)
  }
}

/// Receives what the server sends. It lets a server end its own side of the connection, as a socket does; a channel in
/// memory would end both sides.
private final class ClientEnd: ChannelOutboundHandler {
  typealias OutboundIn = IOData

  private let receive: (String) -> Void

  init(_ receive: @escaping (String) -> Void) { self.receive = receive }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .byteBuffer(let bytes) = Self.unwrapOutboundIn(data) { receive(String(buffer: bytes)) }
    promise?.succeed()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode != .output else {
      promise?.succeed()
      return
    }
    context.close(mode: mode, promise: promise)
  }
}
