import NIOCore
import NIOEmbedded
import Testing

@testable import FileDBEtcd

/// How long a client waits for an answer of etcd. The time passes only when a test says so.
@Suite struct EtcdTimeoutTests {
  private static let timeout = TimeAmount.seconds(2)
  private static let answer = ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "ab", "cd", "ef"]

  /// Sends a request to a member that a test plays.
  private func send(through channel: EmbeddedChannel) throws -> EventLoopFuture<EtcdResponse> {
    try EtcdConnection.addHandlers(to: channel, EtcdEndpoint(host: "m1", port: 2379))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2379)).wait()
    let answer = channel.eventLoop.makePromise(of: EtcdResponse.self)
    let request = EtcdRequest(path: "/v3/kv/txn")
    let exchange = EtcdExchange(request: request, timeout: .seconds(2), answer: answer)
    channel.writeAndFlush(exchange, promise: nil)
    return answer.futureResult
  }

  /// The whole answer takes four times as long as the timeout.
  @Test func slowNetworkDoesNotEndALargeAnswer() throws {
    let channel = EmbeddedChannel()
    let response = try send(through: channel)
    for piece in Self.answer {
      channel.embeddedEventLoop.advanceTime(by: Self.timeout - .nanoseconds(1))
      try channel.writeInbound(ByteBuffer(string: piece))
    }
    #expect(try response.wait().body == Array("abcdef".utf8))
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive, "the connection waits for the next request")
  }

  @Test(arguments: 0...3) func silenceEndsTheRequest(after count: Int) throws {
    let channel = EmbeddedChannel()
    let response = try send(through: channel)
    for piece in Self.answer.prefix(count) { try channel.writeInbound(ByteBuffer(string: piece)) }
    channel.embeddedEventLoop.advanceTime(by: Self.timeout - .nanoseconds(1))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
    #expect(!channel.isActive)
    let failure = #expect(throws: EtcdFailure.self) { try response.wait() }
    guard case .lost(let message) = failure else {
      Issue.record("the request may have reached etcd")
      return
    }
    #expect(message == "m1:2379 did not answer within 2.0 seconds")
  }
}
