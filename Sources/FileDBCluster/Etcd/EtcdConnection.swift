import FileDB
import FileDBEssentials
import Synchronization

/// The host and port where clients reach a member of the cluster.
struct EtcdEndpoint: Hashable, Sendable, CustomStringConvertible {
  let host: String
  let port: Int

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

struct EtcdRequest: Sendable {
  var path: String
  /// `nil` to get a page.
  var body: [UInt8]?
  /// The token that ``EtcdClient`` got for its user and password.
  var token: String?
}

struct EtcdResponse: Sendable {
  let status: Int
  let body: [UInt8]
}

/// The end of a wait during which nothing moves. Each piece that moves puts it off.
struct IdleDeadline {
  let timeout: Duration
  private var end: ContinuousClock.Instant

  init(_ timeout: Duration, from now: ContinuousClock.Instant) {
    (self.timeout, end) = (timeout, now + timeout)
  }

  mutating func putOff(from now: ContinuousClock.Instant) { end = now + timeout }

  /// The time that is left; `nil` if there is none.
  func timeLeft(at now: ContinuousClock.Instant) -> Duration? { now < end ? end - now : nil }
}

/// A connection to one endpoint, by libcurl. It carries one request at a time. libcurl connects with the first request,
/// keeps the connection open for the next ones, and connects again if the server has closed it.
///
/// Safe without isolation: its owner sends from one thread at a time, and ``interrupt()`` may come from any thread.
final class EtcdConnection: @unchecked Sendable {
  let endpoint: EtcdEndpoint
  private let security: EtcdSecurity?
  private let curl: LibCurl
  private let request: LibCurl.Request
  private let connections: LibCurl.Connections
  private let isInterrupted = Atomic(false)

  /// This does not connect yet.
  /// - Parameter security: `nil` to send everything in plain text.
  /// - Throws: ``EtcdFailure/unreachable(_:)`` if libcurl is not installed.
  init(to endpoint: EtcdEndpoint, _ security: EtcdSecurity?) throws(EtcdFailure) {
    (self.endpoint, self.security) = (endpoint, security)
    do throws(StoreError) { curl = try LibCurl.load() } catch { throw .unreachable(error.message) }
    guard let request = curl.makeRequest() else { throw .unreachable("there is not enough memory") }
    guard let connections = curl.makeConnections() else {
      curl.freeRequest(request)
      throw .unreachable("libcurl cannot make a connection; perhaps this process has too many open files")
    }
    (self.request, self.connections) = (request, connections)
  }

  deinit {
    // The end of TLS is a message, too.
    withoutBrokenPipes {
      curl.freeRequest(request)
      _ = curl.freeConnections(connections)
    }
  }

  /// Sends a request, and waits for the whole answer.
  /// - Parameter timeout: how long to wait while nothing moves. A large answer may take longer.
  /// - Throws: ``EtcdFailure/unreachable(_:)`` or ``EtcdFailure/lost(_:)``.
  func send(_ request: EtcdRequest, within timeout: Duration) throws(EtcdFailure) -> EtcdResponse {
    var body: [UInt8] = []
    let status = try perform(request, within: timeout) { body += $0 }
    return EtcdResponse(status: status, body: body)
  }

  /// Sends a request whose answer goes on until the connection ends or ``interrupt()`` is called.
  func stream(_ request: EtcdRequest, receive: (UnsafeRawBufferPointer) -> Void) {
    _ = try? perform(request, within: nil, receive)
  }

  /// Ends ``stream(_:receive:)`` in another thread.
  func interrupt() {
    isInterrupted.store(true, ordering: .releasing)
    _ = curl.wakeUp(connections)
  }

  private func perform(
    _ what: EtcdRequest, within timeout: Duration?, _ receive: (UnsafeRawBufferPointer) -> Void
  ) throws(EtcdFailure) -> Int {
    try withoutActuallyEscaping(receive) { receive throws(EtcdFailure) in
      let exchange = EtcdExchange(sending: what.body ?? [], receive)
      let headers = prepare(what, exchange, timeout)
      // Otherwise the request would keep pointers to the exchange.
      defer { curl.reset(request) }
      let result = withoutBrokenPipes {
        Result { () throws(EtcdFailure) in try run(exchange, within: timeout) }
      }
      curl.freeList(headers)
      let code = try result.get()
      guard code == 0 else { throw failure(code, exchange) }
      return curl.status(of: request)
    }
  }

  /// - Returns: the list of headers, which must live as long as the request.
  private func prepare(_ what: EtcdRequest, _ exchange: EtcdExchange, _ timeout: Duration?) -> LibCurl.List? {
    curl.reset(request)
    curl.set(.url, "\(security == nil ? "http" : "https")://\(endpoint)\(what.path)", of: request)
    curl.set(.httpVersion, LibCurl.http1, of: request)
    // No proxy of the environment: it would see the commits.
    curl.set(.proxy, "", of: request)
    curl.set(.noSignal, 1, of: request)
    curl.set(.keepAlive, 1, of: request)
    curl.set(.keepAliveIdle, 5, of: request)
    curl.set(.keepAliveInterval, 2, of: request)
    if let timeout {
      curl.set(.connectTimeout, CLong(min(timeout / .milliseconds(1), 1e9).rounded(.up)), of: request)
      // Do not wait for a name server that does not answer.
      curl.set(.quickExit, 1, of: request)
    }
    if let security { secure(by: security) }
    exchange.connect(to: curl, request)
    curl.set(what.body == nil ? .httpGet : .post, 1, of: request)
    if let body = what.body { curl.set(.bodySize, size: body.count, of: request) }
    // Otherwise, libcurl would ask before it sends a large body.
    var headers = ["Content-Type: application/json", "Expect:"]
    if let token = what.token { headers.append("Authorization: \(token)") }
    let list = headers.reduce(nil) { curl.append($0, $1) }
    curl.set(.headers, list.map { UnsafeRawPointer($0) }, of: request)
    return list
  }

  private func secure(by security: EtcdSecurity) {
    let files = security.files(ProcessInfo.processInfo.environment)
    for (option, file) in files { curl.set(option, file, of: request) }
    // libcurl would trust the system's authorities beside the given one.
    if files.contains(where: { $0.0 == .authority }) { curl.set(.authorities, nil, of: request) }
    // A key with a password is an error. Nobody is asked for it.
    curl.set(.keyPassword, "", of: request)
  }

  /// - Returns: libcurl's result; 0 if the whole answer has arrived.
  private func run(_ exchange: EtcdExchange, within timeout: Duration?) throws(EtcdFailure) -> CInt {
    _ = curl.add(connections, request)
    defer { _ = curl.remove(connections, request) }
    var deadline = timeout.map { IdleDeadline($0, from: .now) }
    while true {
      var running: CInt = 0
      _ = curl.perform(connections, &running)
      if running == 0 { return result() }
      if isInterrupted.load(ordering: .acquiring) { throw .lost("\(endpoint): the wait was ended") }
      if exchange.takeMovement() { deadline?.putOff(from: .now) }
      var wait = Duration.seconds(60)
      if let deadline {
        guard let left = deadline.timeLeft(at: .now) else { throw late(deadline.timeout, exchange) }
        wait = min(wait, left)
      }
      _ = curl.poll(connections, nil, 0, CInt((wait / .milliseconds(1)).rounded(.up)), nil)
    }
  }

  private func result() -> CInt {
    var left: CInt = 0
    while let message = curl.nextMessage(connections, &left) {
      if message.pointee.kind == LibCurl.isDone { return message.pointee.data.result }
    }
    preconditionFailure("libcurl ended a request without a result")
  }

  // MARK: Failures

  private func late(_ timeout: Duration, _ exchange: EtcdExchange) -> EtcdFailure {
    exchange.hasBegun
      ? .lost("\(endpoint) did not answer within \(timeout)")
      : .unreachable("\(endpoint) cannot be reached: no answer within \(timeout)")
  }

  private func failure(_ code: CInt, _ exchange: EtcdExchange) -> EtcdFailure {
    let system = curl.systemError(of: request)
    let text = exchange.errorText ?? curl.describe(code).map { String(cString: $0) } ?? "error \(code)"
    let reason =
      switch code {
      case LibCurl.noHost: "there is no such host"
      case LibCurl.noConnection where system != 0: String(cString: strerror(system))
      case LibCurl.noHandshake:
        "\(text.trimmingPrefix("OpenSSL ")) (perhaps it does not use TLS at this port)"
      case LibCurl.noAnswer:
        security == nil
          ? "it closed the connection without an answer; if it expects TLS, write etcds:// in the address"
          : "it closed the connection without an answer, as etcd does if it does not accept the client's certificate"
      default: text
      }
    return exchange.hasBegun
      ? .lost("\(endpoint): \(reason)") : .unreachable("\(endpoint) cannot be reached: \(reason)")
  }
}

/// What libcurl calls while it carries a request.
private final class EtcdExchange {
  private var rest: ArraySlice<UInt8>
  private let receive: (UnsafeRawBufferPointer) -> Void
  /// Whether something of the body may have been sent, so that the server may carry out the request.
  private(set) var hasBegun = false
  private var hasMoved = false
  private let errorBytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 256)

  init(sending body: [UInt8], _ receive: @escaping (UnsafeRawBufferPointer) -> Void) {
    (rest, self.receive) = (body[...], receive)
    errorBytes.initialize(repeating: 0)
  }

  deinit { errorBytes.deallocate() }

  /// libcurl's explanation, if it gave one.
  var errorText: String? {
    guard let start = errorBytes.baseAddress, start.pointee != 0 else { return nil }
    return String(cString: start)
  }

  /// Whether anything has been sent or received since the last call.
  func takeMovement() -> Bool {
    defer { hasMoved = false }
    return hasMoved
  }

  private typealias Piece =
    @convention(c) (UnsafeMutableRawPointer?, Int, Int, UnsafeMutableRawPointer?) -> Int

  func connect(to curl: LibCurl, _ request: LibCurl.Request) {
    let me = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    let receive: Piece = { bytes, _, count, me in
      EtcdExchange.from(me).received(UnsafeRawBufferPointer(start: bytes, count: count))
      return count
    }
    let receiveHeader: Piece = { _, _, count, me in
      EtcdExchange.from(me).hasMoved = true
      return count
    }
    let send: Piece = { buffer, size, count, me in
      EtcdExchange.from(me).send(to: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }
    // libcurl sends a request again by itself if a connection that it has kept breaks before the answer. But etcd may
    // have carried out the first one. Without going back to the start of the body, libcurl reports the break instead.
    let rewind: @convention(c) (UnsafeMutableRawPointer?, Int64, CInt) -> CInt = { _, _, _ in
      LibCurl.rewindingFails
    }
    for option in [LibCurl.Option.receiver, .headerReceiver, .sender, .rewinder] {
      curl.set(option, me, of: request)
    }
    curl.set(.receive, unsafeBitCast(receive, to: UnsafeRawPointer.self), of: request)
    curl.set(.receiveHeader, unsafeBitCast(receiveHeader, to: UnsafeRawPointer.self), of: request)
    curl.set(.send, unsafeBitCast(send, to: UnsafeRawPointer.self), of: request)
    curl.set(.rewind, unsafeBitCast(rewind, to: UnsafeRawPointer.self), of: request)
    curl.set(.errorText, UnsafeRawPointer(errorBytes.baseAddress), of: request)
  }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> EtcdExchange {
    guard let pointer else { preconditionFailure("libcurl returns the pointer that it got") }
    return Unmanaged.fromOpaque(pointer).takeUnretainedValue()
  }

  private func received(_ bytes: UnsafeRawBufferPointer) {
    hasMoved = true
    receive(bytes)
  }

  /// - Returns: the number of bytes for libcurl to send.
  private func send(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    // All of it was sent, so this would be for a second time.
    if hasBegun && rest.isEmpty { return LibCurl.abortSending }
    (hasBegun, hasMoved) = (true, true)
    let piece = rest.prefix(buffer.count)
    buffer.copyBytes(from: piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }
}

/// Runs `body`, and ignores the signal of a connection that the server has closed: some versions of libcurl with OpenSSL
/// raise it.
private func withoutBrokenPipes<Result>(_ body: () -> Result) -> Result {
  #if canImport(Darwin)
    // Apple's sockets do not raise it for libcurl.
    return body()
  #else
    var (signals, former, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigpending(&pending)
    pthread_sigmask(SIG_BLOCK, &signals, &former)
    let result = body()
    var now = timespec()
    if sigismember(&pending, SIGPIPE) == 0 { _ = sigtimedwait(&signals, nil, &now) }
    pthread_sigmask(SIG_SETMASK, &former, nil)
    return result
  #endif
}
