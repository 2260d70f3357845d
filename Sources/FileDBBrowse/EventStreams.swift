import NIOCore
import NIOHTTP1
import Synchronization

/// The browsers that are told what happens, as server-sent events.
final class EventStreams: Sendable {
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var areWatched: Bool { channels.withLock { !$0.isEmpty } }

  /// - Returns: whether there is room for it.
  func add(_ channel: any Channel) -> Bool {
    let isAdded = channels.withLock { channels in
      guard channels.count < limit else { return false }
      channels[ObjectIdentifier(channel)] = channel
      return true
    }
    if isAdded { Self.send(Self.heartbeat, to: channel) }
    return isAdded
  }

  func remove(_ channel: any Channel) {
    channels.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  func send(_ event: String, _ data: JSON) {
    // JSON has no line ends outside of its texts, and in these they are escaped.
    send(ByteBuffer(bytes: Array("event: \(event)\ndata: ".utf8) + data.bytes + Array("\n\n".utf8)))
  }

  /// A comment, by which a browser knows that the server is there, and the server that the browser is.
  func sendHeartbeat() { send(Self.heartbeat) }

  private static let heartbeat = ByteBuffer(string: ":\n\n")

  private func send(_ bytes: ByteBuffer) {
    for channel in channels.withLock({ Array($0.values) }) { Self.send(bytes, to: channel) }
  }

  private static func send(_ bytes: ByteBuffer, to channel: any Channel) {
    channel.eventLoop.execute {
      // Who does not read is not waited for. It connects anew, and then reads everything.
      guard channel.isWritable else { return channel.close(promise: nil) }
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
    }
  }
}
