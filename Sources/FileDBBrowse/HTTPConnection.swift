import NIOCore
import NIOHTTP1

/// A connection. It handles one request after another.
final class HTTPConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case waiting
    case receiving(HTTPRequestHead, body: ByteBuffer)
    case answering
    /// The request was answered before it was completely read. It is the last one.
    case parting
  }

  private var state = State.waiting
  private var timer: Scheduled<Void>?
  private let headLimit: HeadLimit
  private let server: Serving

  init(_ server: Serving, _ headLimit: HeadLimit) { (self.server, self.headLimit) = (server, headLimit) }

  func channelActive(context: ChannelHandlerContext) {
    endUnless(within: server.limits.requestTime, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    server.connections.remove(context.channel)
    server.events.remove(context.channel)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (Self.unwrapInboundIn(data), state) {
    case (.head(let head), .waiting): begin(head, context)
    case (.body(let bytes), .receiving(let head, let body)): add(bytes, to: body, of: head, context)
    case (.end, .receiving(let head, let body)): answer(head, body, context)
    case (_, .parting): break
    // A second request came before the answer to the first. No browser does this.
    default: context.close(promise: nil)
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    headLimit.headIsComplete()
    // There is more time between requests.
    endUnless(within: server.limits.requestTime, context)
    let length = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    if length > server.limits.headBytes {
      return part(with: .page(.requestHeaderFieldsTooLarge, "The request's head is too long."), context)
    }
    let port = context.localAddress?.port ?? 0
    if let answer = server.gatekeeper.answer(to: head, at: port) { return part(with: answer, context) }
    if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }),
      length > server.limits.bodyBytes
    {
      return part(with: Self.tooLong, context)
    }
    server.connections.requestBegan(on: context.channel)
    state = .receiving(head, body: ByteBuffer())
  }

  private func add(
    _ bytes: ByteBuffer, to body: ByteBuffer, of head: HTTPRequestHead, _ context: ChannelHandlerContext
  ) {
    guard body.readableBytes + bytes.readableBytes <= server.limits.bodyBytes else {
      return part(with: Self.tooLong, context)
    }
    state = .waiting  // Otherwise there would be two references, and the bytes would be copied.
    var (body, bytes) = (consume body, bytes)
    body.writeBuffer(&bytes)
    state = .receiving(head, body: body)
  }

  private static let tooLong = Response.error(
    RequestError(.payloadTooLarge, "tooLong", "This is more than the server takes at once, 32 MB."))

  private func answer(_ head: HTTPRequestHead, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    timer?.cancel()
    state = .answering
    guard let request = Request(head, body: Array(body.readableBytesView)) else {
      return write(.error(.malformed("The address cannot be read.")), to: head, context)
    }
    let (loop, channel) = (context.eventLoop, context.channel)
    let bound = NIOLoopBound((self, context), eventLoop: loop)
    let server = server
    server.threads(for: request).submit { state in
      guard case .active = state else { return channel.close(promise: nil) }
      let response = server.site.answer(request)
      loop.execute {
        let (connection, context) = bound.value
        guard context.channel.isActive else { return }
        connection.write(response, to: head, context)
      }
      guard case .pieces(let produce) = response.body, head.method != .HEAD else { return }
      let writer = PieceWriter(channel: channel, patience: server.limits.writeTime)
      do {
        try produce(writer.send)
        loop.execute { bound.value.0.finish(head, bound.value.1) }
      } catch {
        // Without its end, nobody takes the answer for complete.
        channel.close(promise: nil)
      }
    }
  }

  /// Answers a request without reading it to its end.
  private func part(with response: Response, _ context: ChannelHandlerContext) {
    state = .parting
    server.connections.requestEnded(on: context.channel)
    var head = Self.head(of: response)
    head.headers.add(name: "Connection", value: "close")
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    if case .bytes(let bytes) = response.body {
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
    }
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    // If a connection with unread bytes is closed immediately, it is reset, and the client would not see the answer.
    context.close(mode: .output, promise: nil)
    endUnless(within: server.limits.partingTime, context)
  }

  private func write(_ response: Response, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if case .events = response.body, head.method != .HEAD, !server.events.add(context.channel) {
      return write(Self.tooMany, to: head, context)
    }
    var answer = Self.head(of: response)
    if !head.isKeepAlive { answer.headers.add(name: "Connection", value: "close") }
    context.write(Self.wrapOutboundOut(.head(answer)), promise: nil)
    if head.method == .HEAD, !response.hasKnownLength {
      // A HEAD answer ends with the connection. An end of the body would be taken for a part of the answer.
      context.flush()
      return context.close(promise: nil)
    }
    switch response.body {
    case .bytes(let bytes):
      if head.method != .HEAD {
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
      }
      finish(head, context)
    case .pieces: context.flush()
    case .events: context.flush()
    }
  }

  private static let tooMany = Response.error(
    RequestError(.serviceUnavailable, "tooMany", "Too many pages of the store are open."))

  private static func head(of response: Response) -> HTTPResponseHead {
    var headers = Response.commonHeaders
    for header in response.headers { headers.replaceOrAdd(name: header.name, value: header.value) }
    if case .bytes(let bytes) = response.body {
      headers.add(name: "Content-Length", value: bytes.count.description)
    }
    return HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
  }

  private func finish(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    let channel = context.channel
    let end = context.writeAndFlush(Self.wrapOutboundOut(.end(nil)))
    guard head.isKeepAlive else { return end.whenComplete { _ in channel.close(promise: nil) } }
    state = .waiting
    headLimit.expectHead()
    server.connections.requestEnded(on: channel)
    endUnless(within: server.limits.idleTime, context)
  }

  /// Closes the connection after some time, unless this is called again or the timer is cancelled.
  private func endUnless(within time: TimeAmount, _ context: ChannelHandlerContext) {
    timer?.cancel()
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}

/// Sends an answer piece by piece from a thread that may wait. It sends each piece when the previous one is on its way.
private struct PieceWriter {
  let channel: any Channel
  let patience: TimeAmount

  func send(_ bytes: [UInt8]) throws {
    let tooLate = channel.eventLoop.scheduleTask(in: patience) { [channel] in channel.close(promise: nil) }
    defer { tooLate.cancel() }
    try channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes)))).wait()
  }
}
