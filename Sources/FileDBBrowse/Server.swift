import FileDB
import FileDBEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// What a connection needs from its server.
struct Serving: Sendable {
  let limits: Limits
  let gatekeeper: Gatekeeper
  let site: Site
  let connections: OpenConnections
  let events: EventStreams
  let reading: NIOThreadPool
  let writing: NIOThreadPool

  init(
    _ store: RecordStore, access: BrowseServer.Access, shared: BrowseServer.SharedStore? = nil, limits: Limits
  ) {
    (self.limits, gatekeeper) = (limits, Gatekeeper())
    site = Site(store, access: access, shared: shared, largeFrom: limits.largeTable)
    (connections, events) = (
      OpenConnections(limit: limits.connections), EventStreams(limit: limits.eventStreams)
    )
    (reading, writing) = (NIOThreadPool(numberOfThreads: 4), NIOThreadPool(numberOfThreads: 1))
  }

  /// Writes wait for each other and for other programs. Reading waits for nobody.
  func threads(for request: Request) -> NIOThreadPool { Site.isWrite(request) ? writing : reading }

  /// Serves a new connection, or tells it that there is no room.
  func accept(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    guard connections.admit(channel) else { return try pipeline.addHandler(NoRoom()) }
    let headLimit = HeadLimit(limits.headBytes)
    try pipeline.addHandler(headLimit)
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
    try pipeline.addHandler(HTTPConnection(self, headLimit))
  }
}

/// Shows a store in the browser. It serves pages and answers their requests, on this machine alone.
///
///     let server = try BrowseServer(store)
///     print(server.url)  // open it, once
///     …
///     server.stop()
///
/// The server keeps to itself: it listens on the loopback only, and tells nobody of the store but the tab that opened
/// the link ``url``. The article Browsing describes what it does, and what it guards against.
public final class BrowseServer: Sendable {
  /// What pages may do.
  public enum Access: Sendable {
    case readAndWrite
    case readOnly
  }

  /// The shared store that the store's folder follows.
  public struct SharedStore: Sendable {
    /// Where it is, without a password.
    public var address: String
    /// Returns the names of the tables whose files somebody has edited, if the shared store does not have the edits yet.
    public var editedTables: @Sendable () -> [String]

    /// Describes a shared store to the pages.
    public init(address: String, editedTables: @escaping @Sendable () -> [String]) {
      (self.address, self.editedTables) = (address, editedTables)
    }
  }

  /// The link that opens the pages, in one tab and once.
  public let url: URL
  private let serving: Serving
  private let listener: any Channel
  private let group: MultiThreadedEventLoopGroup
  private let feed: ChangeFeed
  private let heartbeat: RepeatedTask
  private let isStopped = Atomic(false)

  /// Starts to serve.
  /// - Parameters:
  ///   - store: the store to show. Keep it open until the server has stopped.
  ///   - port: where to listen; 0 for any free port. `nil` is a port that stays the same for the store, because a
  ///     browser keeps how the columns are arranged for each port; if that is taken, any free one.
  ///   - access: what pages may do.
  ///   - shared: the shared store that the folder follows. The pages show it, and what keeps the folder behind.
  /// - Throws: ``StoreError/Code/inputOutput`` if the port is taken or not allowed.
  public convenience init(
    _ store: RecordStore, port: Int? = nil, access: Access = .readAndWrite, shared: SharedStore? = nil
  ) throws {
    try self.init(store, port: port, access: access, shared: shared, limits: Limits())
  }

  init(_ store: RecordStore, port: Int?, access: Access, shared: SharedStore?, limits: Limits) throws {
    serving = Serving(store, access: access, shared: shared, limits: limits)
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      listener = try Self.listen(on: port, of: store, Self.bootstrap(group, serving))
    } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
    guard let actualPort = listener.localAddress?.port,
      let url = URL(string: "http://127.0.0.1:\(actualPort)\(serving.gatekeeper.link)")
    else { preconditionFailure("a listening socket has a port") }
    self.url = url
    serving.reading.start()
    serving.writing.start()
    feed = ChangeFeed(of: serving.site, to: serving.events)
    feed.start()
    heartbeat = group.next().scheduleRepeatedTask(initialDelay: limits.heartbeat, delay: limits.heartbeat) {
      [serving, feed] _ in
      serving.events.sendHeartbeat()
      feed.tellSharedState()
    }
  }

  private static func listen(
    on port: Int?, of store: RecordStore, _ bootstrap: ServerBootstrap
  ) throws -> any Channel {
    func listen(on port: Int) throws -> any Channel {
      do { return try bootstrap.bind(host: "127.0.0.1", port: port).wait() } catch {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        throw StoreError(.inputOutput, "the server cannot listen on port \(port): \(reason)")
      }
    }
    if let port { return try listen(on: port) }
    return try (try? listen(on: ownPort(of: store.url))) ?? listen(on: 0)
  }

  /// One of the ports that no service has by default. It depends only on the store's path.
  static func ownPort(of url: URL) -> Int {
    // FNV-1a. Swift's own hash differs with each start.
    let hash = url.standardizedFileURL.path.utf8.reduce(UInt32(2_166_136_261)) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    return 49_152 + Int(hash % 16_384)
  }

  private static func bootstrap(_ group: MultiThreadedEventLoopGroup, _ serving: Serving) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 128)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try serving.accept(channel) }
      }
  }

  /// Stops serving: ends the connections, and waits for the write that is going on. The store stays open.
  public func stop() {
    guard !isStopped.exchange(true, ordering: .relaxed) else { return }
    feed.stop()
    heartbeat.cancel()
    try? listener.close().wait()
    serving.connections.closeAll()
    try? serving.reading.syncShutdownGracefully()
    try? serving.writing.syncShutdownGracefully()
    try? group.syncShutdownGracefully()
  }
}
