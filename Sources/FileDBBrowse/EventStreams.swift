import NIOCore
import NIOHTTP1
import Synchronization

/// The browsers that receive server-sent events.
final class EventStreams: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var haveBegun = false
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var areWatched: Bool { state.withLock { !$0.channels.isEmpty } }

  /// - Returns: whether there is room for it.
  func add(_ channel: any Channel) -> Bool {
    let (isAdded, haveBegun) = state.withLock { state in
      guard state.channels.count < limit else { return (false, false) }
      state.channels[ObjectIdentifier(channel)] = channel
      return (true, state.haveBegun)
    }
    if isAdded, haveBegun { Self.send(Self.heartbeat, to: channel) }
    return isAdded
  }

  func remove(_ channel: any Channel) {
    state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// From now on, every change is sent. The first heartbeat tells the browser so.
  func begin() {
    state.withLock { $0.haveBegun = true }
    sendHeartbeat()
  }

  func send(_ event: String, _ data: JSON) {
    // JSON has line ends only between its strings, and inside strings they are escaped.
    send(ByteBuffer(bytes: Array("event: \(event)\ndata: ".utf8) + data.bytes + Array("\n\n".utf8)))
  }

  /// Sends a comment. It tells the browser that the server is alive, and tells the server whether the browser is.
  func sendHeartbeat() { if state.withLock({ $0.haveBegun }) { send(Self.heartbeat) } }

  private static let heartbeat = ByteBuffer(string: ":\n\n")

  private func send(_ bytes: ByteBuffer) {
    for channel in state.withLock({ Array($0.channels.values) }) { Self.send(bytes, to: channel) }
  }

  private static func send(_ bytes: ByteBuffer, to channel: any Channel) {
    channel.eventLoop.execute {
      // Do not wait for a browser that does not read. It connects again, and then reads everything.
      guard channel.isWritable else { return channel.close(promise: nil) }
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
    }
  }
}
