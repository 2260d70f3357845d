import NIOCore

/// Closes a connection if the head of its request is too long, before it fills the memory.
final class HeadLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let limit: Int
  /// The number of bytes since the last request; `nil` after the head of this one is complete.
  private var received: Int? = 0

  init(_ limit: Int) { self.limit = limit }

  func headIsComplete() { received = nil }
  func expectHead() { received = 0 }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received? += Self.unwrapInboundIn(data).readableBytes
    // The decoder after this one reports when a head ends in these bytes.
    context.fireChannelRead(data)
    guard let received, received > limit, context.channel.isActive else { return }
    let answer =
      "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    context.close(promise: nil)
  }
}
