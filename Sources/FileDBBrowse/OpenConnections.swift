import NIOCore
import Synchronization

/// The open connections, up to a maximum.
///
/// If there is no room, it closes the connection that has been without a request for the longest time. So a client that
/// opens a thousand connections and sends nothing keeps nobody out.
final class OpenConnections: Sendable {
  private struct Connection {
    let channel: any Channel
    /// `nil` while a request is being handled.
    var waitingSince: NIODeadline?
  }

  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// - Returns: whether there is room for it.
  func admit(_ channel: any Channel) -> Bool {
    let (isAdmitted, evicted): (Bool, (any Channel)?) = state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      var evicted: (any Channel)?
      if state.connections.count >= limit {
        let longest = state.connections.compactMap { id, connection in
          connection.waitingSince.map { (id: id, since: $0) }
        }.min { $0.since < $1.since }
        guard let longest else { return (false, nil) }
        evicted = state.connections.removeValue(forKey: longest.id)?.channel
      }
      state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, waitingSince: .now())
      return (true, evicted)
    }
    evicted?.close(promise: nil)
    return isAdmitted
  }

  func requestBegan(on channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)]?.waitingSince = nil }
  }

  func requestEnded(on channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)]?.waitingSince = .now() }
  }

  func remove(_ channel: any Channel) {
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// Closes all connections, and admits no more.
  func closeAll() {
    let channels = state.withLock { state in
      state.isClosed = true
      return state.connections.values.map(\.channel)
    }
    for channel in channels { channel.close(promise: nil) }
  }
}

/// Tells a client that there are too many connections.
final class NoRoom: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    context.close(promise: nil)
  }
}
