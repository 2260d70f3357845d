import FileDBEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// The host and port where clients reach a member of the cluster.
struct EtcdEndpoint: Hashable, Sendable, CustomStringConvertible {
  let host: String
  let port: Int

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A connection to one endpoint. It carries one request at a time, and closes when a request fails.
final class EtcdConnection: Sendable {
  let endpoint: EtcdEndpoint
  private let channel: any Channel

  /// - Throws: ``EtcdFailure/unreachable(_:)``.
  init(to endpoint: EtcdEndpoint, within timeout: Duration) throws(EtcdFailure) {
    self.endpoint = endpoint
    do {
      channel = try ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(TimeAmount(timeout))
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try Self.addHandlers(to: channel, endpoint) }
        }
        .connect(host: endpoint.host, port: endpoint.port).wait()
    } catch {
      throw .unreachable("\(endpoint) cannot be reached: \(Self.reason(error))")
    }
  }

  static func addHandlers(to channel: any Channel, _ endpoint: EtcdEndpoint) throws {
    try channel.pipeline.syncOperations.addHTTPClientHandlers()
    try channel.pipeline.syncOperations.addHandler(EtcdExchanges(endpoint))
  }

  deinit { channel.close(promise: nil) }

  var isOpen: Bool { channel.isActive }

  /// Sends a request, and waits for the whole answer.
  /// - Parameter timeout: how long to wait for each piece of the answer.
  /// - Throws: ``EtcdFailure/lost(_:)``.
  func send(_ request: EtcdRequest, within timeout: Duration) throws(EtcdFailure) -> EtcdResponse {
    let answer = channel.eventLoop.makePromise(of: EtcdResponse.self)
    // If the channel has just closed, its handler is gone and can't report the failure.
    channel.writeAndFlush(EtcdExchange(request: request, timeout: timeout, answer: answer)).whenFailure {
      answer.fail($0)
    }
    do { return try answer.futureResult.wait() } catch let failure as EtcdFailure {
      throw failure
    } catch {
      throw .lost("\(endpoint): \(Self.reason(error))")
    }
  }

  /// Sends a request whose answer continues until the connection closes.
  /// - Parameter receive: called with each piece of the answer, and with `nil` at the end.
  func stream(_ request: EtcdRequest, receive: @escaping @Sendable ([UInt8]?) -> Void) {
    channel.writeAndFlush(EtcdStream(request: request, receive: receive), promise: nil)
  }

  func close() { channel.close(promise: nil) }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError:
      error.connectionErrors.first.map { reason($0.error) }
        ?? (error.dnsAError ?? error.dnsAAAAError).map { _ in "there is no such host" }
        ?? "no connection"
    case is ChannelError: "the connection was closed, or took too long"
    default: "\(error)"
    }
  }
}

struct EtcdRequest: Sendable {
  var method = HTTPMethod.POST
  var path: String
  var body: [UInt8] = []
  /// The token that ``EtcdClient`` got for its user and password.
  var token: String?
}

struct EtcdResponse: Sendable {
  let status: Int
  let body: [UInt8]
}

struct EtcdExchange: Sendable {
  let request: EtcdRequest
  let timeout: Duration
  let answer: EventLoopPromise<EtcdResponse>
}

private struct EtcdStream: Sendable {
  let request: EtcdRequest
  let receive: @Sendable ([UInt8]?) -> Void
}

/// Writes one request after another, and collects the pieces of each answer.
private final class EtcdExchanges: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundIn = Any
  typealias OutboundOut = HTTPClientRequestPart

  private enum State {
    case idle
    case exchange(EventLoopPromise<EtcdResponse>, status: Int, body: ByteBuffer)
    case stream(@Sendable ([UInt8]?) -> Void)
  }

  private let endpoint: EtcdEndpoint
  private var state = State.idle
  /// Fails the exchange if nothing arrives for too long.
  private var timer: Scheduled<Void>?
  private var timeout = Duration.zero

  init(_ endpoint: EtcdEndpoint) { self.endpoint = endpoint }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch Self.unwrapOutboundIn(data) {
    case let exchange as EtcdExchange:
      state = .exchange(exchange.answer, status: 0, body: ByteBuffer())
      timeout = exchange.timeout
      startTimer(context)
      write(exchange.request, context, promise)
    case let stream as EtcdStream:
      state = .stream(stream.receive)
      write(stream.request, context, promise)
    default: preconditionFailure("an unknown kind of request")
    }
    // If the connection has just closed, no answer will come.
    if !context.channel.isActive { end(context) }
  }

  private func startTimer(_ context: ChannelHandlerContext) {
    timer?.cancel()
    let channel = context.channel
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [self] in
      guard case .exchange(let answer, _, _) = state else { return }
      state = .idle
      answer.fail(EtcdFailure.lost("\(endpoint) did not answer within \(timeout)"))
      channel.close(promise: nil)
    }
  }

  private func write(
    _ request: EtcdRequest, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    var headers: HTTPHeaders = [
      "Host": endpoint.description, "Content-Type": "application/json",
      "Content-Length": request.body.count.description,
    ]
    if let token = request.token { headers.add(name: "Authorization", value: token) }
    let head = HTTPRequestHead(
      version: .http1_1, method: request.method, uri: request.path, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !request.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: request.body)))), promise: nil)
    }
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (Self.unwrapInboundIn(data), state) {
    case (.head(let head), .exchange(let answer, _, let body)):
      startTimer(context)
      state = .exchange(answer, status: Int(head.status.code), body: body)
    case (.body(let bytes), .exchange(let answer, let status, var body)):
      startTimer(context)
      state = .idle  // With a second owner, each append would copy the buffer.
      body.writeImmutableBuffer(bytes)
      state = .exchange(answer, status: status, body: body)
    case (.end, .exchange(let answer, let status, let body)):
      state = .idle
      timer?.cancel()
      answer.succeed(EtcdResponse(status: status, body: Array(body.readableBytesView)))
    case (.body(let bytes), .stream(let receive)): receive(Array(bytes.readableBytesView))
    case (.end, .stream): context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func end(_ context: ChannelHandlerContext) {
    switch state {
    case .idle: break
    case .exchange(let answer, _, _):
      answer.fail(EtcdFailure.lost("\(endpoint) closed the connection"))
    case .stream(let receive): receive(nil)
    }
    state = .idle
  }
}

extension TimeAmount {
  fileprivate init(_ duration: Duration) {
    self = .nanoseconds(
      duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000)
  }
}
