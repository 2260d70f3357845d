import FileDB
import FileDBEssentials

/// Why a request to PostgreSQL failed.
enum PostgresFailure: Error {
  /// There is no connection. Nothing was sent.
  case unreachable(String)
  /// The connection broke, or the time ran out, before the answer came. The server may have carried out the request.
  case lost(String)
  /// The server refused the request. Nothing has changed.
  case refused(state: String, String)
}

/// The value of a statement's parameter.
enum PostgresValue {
  case null
  case number(UInt64)
  case text(String)
  case bytes([UInt8])
  case texts([String])
  case numbers([UInt64])
  case flags([Bool])

  /// The form that PostgreSQL reads. All kinds except bytes are sent as text.
  var encoded: [UInt8]? {
    switch self {
    case .null: nil
    case .number(let number): Array(number.description.utf8)
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    case .texts(let texts): Self.array(texts.map(Self.quoted))
    case .numbers(let numbers): Self.array(numbers.map(\.description))
    case .flags(let flags): Self.array(flags.map { $0 ? "t" : "f" })
    }
  }

  fileprivate var isBinary: Bool { if case .bytes = self { true } else { false } }

  private static func array(_ elements: [String]) -> [UInt8] {
    Array("{\(elements.joined(separator: ","))}".utf8)
  }

  /// An element of an array.
  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing(["\"": #"\""#, "\\": #"\\"#]) + "\""
  }
}

/// A row of a result, in PostgreSQL's binary form.
struct PostgresRow {
  fileprivate let columns: [[UInt8]?]

  /// `nil` if the column is null, or the number is negative. FileDB writes no negative numbers.
  func number(_ column: Int) -> UInt64? {
    columns[column].map(Self.bits).flatMap { $0 <= Int64.max ? $0 : nil }
  }

  /// `nil` if the column, a `bigint`, is null.
  func signedNumber(_ column: Int) -> Int64? { columns[column].map { Int64(bitPattern: Self.bits($0)) } }

  private static func bits(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  func isNull(_ column: Int) -> Bool { columns[column] == nil }
  func bytes(_ column: Int) -> [UInt8] { columns[column] ?? [] }
  func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

/// A connection to the server that accepts writes.
///
/// Each request has a timeout: how long to wait while nothing moves, neither bytes nor the server's work on the request.
/// A large request or answer may take longer.
///
/// Safe without isolation: its owner uses it from one thread at a time.
final class PostgresConnection: @unchecked Sendable {
  private let libpq: LibPQ
  private let connection: OpaquePointer
  /// `nil` for a connection that looks after another one.
  private let info: String?
  private let notices: PostgresNotices
  /// The statements with values that have run here so far.
  private var statements: [String: Statement] = [:]
  /// Whether the answer to the last request has not been read.
  private var owesAnswer = false

  private struct Statement {
    let name: String
    /// PostgreSQL keeps a prepared statement parsed and planned.
    var isPrepared = false
  }

  /// - Parameters:
  ///   - info: a connection string of libpq: a URL, or words such as `host=a dbname=b`.
  ///   - timeout: how long to wait for each server that it names.
  init(_ info: String, timeout: Duration) throws(PostgresFailure) {
    let libpq: LibPQ
    do throws(StoreError) {
      libpq = try LibPQ.load()
      // Check it first: an error message of libpq would repeat what it does not understand, and that may be a password.
      _ = try libpq.options(of: info)
    } catch { throw .unreachable(error.message) }
    (self.libpq, self.info) = (libpq, info)
    connection = try Self.open(libpq, info, timeout)
    notices = Self.receiveNotices(libpq, connection)
  }

  /// Connects to the server of another connection.
  private init(besides other: PostgresConnection, _ info: String, timeout: Duration) throws(PostgresFailure) {
    (libpq, self.info) = (other.libpq, nil)
    let places = [
      ("host", libpq.host(other.connection)), ("hostaddr", libpq.hostAddress(other.connection)),
      ("port", libpq.port(other.connection)),
    ]
    connection = try Self.open(
      libpq, info, timeout, places.map { ($0, $1.map { String(cString: $0) } ?? "") })
    notices = Self.receiveNotices(libpq, connection)
  }

  /// - Parameter words: what overrides the options in `info`.
  private static func open(
    _ libpq: LibPQ, _ info: String, _ timeout: Duration, _ words: [(String, String)] = []
  ) throws(PostgresFailure) -> OpaquePointer {
    let seconds = max(Int(timeout.components.seconds), 2)
    // The options in `info` override the words before `dbname`. The words after it override `info`.
    let words =
      [
        ("connect_timeout", "\(seconds)"), ("tcp_user_timeout", "\(seconds * 1_000)"),
        ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
        ("fallback_application_name", "filedb"), ("target_session_attrs", "read-write"), ("dbname", info),
        ("client_encoding", "UTF8"),
      ] + words
    let opened = withCStrings(words.map(\.0)) { names in
      withCStrings(words.map(\.1)) { values in libpq.connect(names, values, 1) }
    }
    guard let opened else { throw .unreachable("there is not enough memory for a connection") }
    guard libpq.status(opened) == LibPQ.connectionIsOpen else {
      let message = Self.message(libpq.errorMessage(opened))
      libpq.finish(opened)
      throw .unreachable(message)
    }
    _ = libpq.setNonBlocking(opened, 1)
    return opened
  }

  private static func receiveNotices(_ libpq: LibPQ, _ connection: OpaquePointer) -> PostgresNotices {
    let notices = PostgresNotices(libpq)
    notices.receive(from: connection)
    return notices
  }

  deinit { libpq.finish(connection) }

  private static func message(_ text: UnsafePointer<CChar>?) -> String {
    let text = text.map { String(cString: $0) } ?? ""
    let lines = text.split(separator: "\n").map { line in line.drop { $0 == "\t" } }
    return lines.isEmpty ? "the connection is broken" : lines.joined(separator: "; ")
  }

  private var message: String { Self.message(libpq.errorMessage(connection)) }

  /// Whether the connection is open, as far as is known.
  var isOpen: Bool {
    libpq.consumeInput(connection) == 1 && libpq.status(connection) == LibPQ.connectionIsOpen
  }

  var socket: CInt { libpq.socket(connection) }

  /// Runs one statement. When it runs here for the second time, this prepares it first, with a request of its own.
  @discardableResult
  func run(
    _ statement: String, _ values: [PostgresValue] = [], within timeout: Duration
  ) throws(PostgresFailure) -> [PostgresRow] {
    try readOwedAnswer(within: timeout)
    let name = try values.isEmpty ? nil : prepare(statement, within: timeout)
    let encoded = values.map(\.encoded)
    let count = CInt(values.count)
    let lengths = encoded.map { CInt($0?.count ?? 0) }
    let formats = values.map { CInt($0.isBinary ? 1 : 0) }
    let isSent = withCStrings(encoded) { words in
      if let name { return libpq.sendPrepared(connection, name, count, words, lengths, formats, 1) }
      return libpq.sendStatement(connection, statement, count, nil, words, lengths, formats, 1)
    }
    guard isSent == 1 else { throw .lost(message) }
    return try answer(within: timeout)
  }

  /// - Returns: the name of the prepared statement; `nil` for one that runs for the first time.
  private func prepare(
    _ statement: String, within timeout: Duration
  ) throws(PostgresFailure) -> String? {
    guard let known = statements[statement] else {
      statements[statement] = Statement(name: "filedb_\(statements.count)")
      return nil
    }
    if known.isPrepared { return known.name }
    guard libpq.prepare(connection, known.name, statement, 0, nil) == 1 else { throw .lost(message) }
    _ = try answer(within: timeout)
    statements[statement]?.isPrepared = true
    return known.name
  }

  /// Runs statements without values, as one transaction.
  func runScript(_ script: String, within timeout: Duration) throws(PostgresFailure) {
    try send(script, within: timeout)
    try readOwedAnswer(within: timeout)
  }

  /// Sends statements without values, and does not wait for the answer. The next request reads it first.
  func send(_ script: String, within timeout: Duration) throws(PostgresFailure) {
    try readOwedAnswer(within: timeout)
    guard libpq.sendScript(connection, script) == 1 else { throw .lost(message) }
    owesAnswer = true
    try flush(within: timeout)
  }

  /// Waits for the answer to ``send(_:within:)``. If the time runs out, it can be called again.
  func readOwedAnswer(within timeout: Duration) throws(PostgresFailure) {
    guard owesAnswer else { return }
    _ = try answer(within: timeout)
  }

  private func flush(within timeout: Duration) throws(PostgresFailure) {
    while true {
      let rest = libpq.flush(connection)
      if rest == 0 { return }
      guard rest == 1 else { throw .lost(message) }
      try wait(for: POLLIN | POLLOUT, within: timeout)
      guard libpq.consumeInput(connection) == 1 else { throw .lost(message) }
    }
  }

  /// - Returns: `nil` after the last result.
  private func nextResult(within timeout: Duration) throws(PostgresFailure) -> OpaquePointer? {
    while libpq.isBusy(connection) == 1 { try receive(within: timeout) }
    return libpq.nextResult(connection)
  }

  /// Waits until bytes arrive.
  private func receive(within timeout: Duration) throws(PostgresFailure) {
    var deadline = ContinuousClock.now + timeout
    while true {
      let isReady = isReady(for: POLLIN, within: min(deadline - .now, .milliseconds(100)))
      guard libpq.consumeInput(connection) == 1 else { throw .lost(message) }
      // TLS may have taken the last bytes off the socket already. Then only libpq knows about them.
      if isReady || libpq.isBusy(connection) == 0 { return }
      guard .now >= deadline else { continue }
      guard isServerAtWork(within: timeout) else { throw Self.late }
      deadline = .now + timeout
    }
  }

  /// Whether the server is carrying out a request of this connection. A process that waits for another one, such as for
  /// a lock or for a standby, may wait for ever.
  private func isServerAtWork(within timeout: Duration) -> Bool {
    guard let info, let other = try? PostgresConnection(besides: self, info, timeout: timeout) else {
      return false
    }
    let rows = try? other.run(
      """
      SELECT state = 'active' AND coalesce(wait_event_type IN ('IO', 'LWLock', 'BufferPin'), true)
      FROM pg_stat_activity WHERE pid = $1::bigint
      """, [.number(UInt64(max(0, libpq.serverProcess(connection))))], within: timeout)
    return rows?.first?.number(0) == 1
  }

  private func answer(within timeout: Duration) throws(PostgresFailure) -> [PostgresRow] {
    try flush(within: timeout)
    var (rows, failure): ([PostgresRow], PostgresFailure?) = ([], nil)
    while let result = try nextResult(within: timeout) {
      defer { libpq.clear(result) }
      switch libpq.resultStatus(result) {
      case LibPQ.commandIsDone: break
      case LibPQ.rowsAreThere: rows += self.rows(of: result)
      default: failure = failure ?? self.failure(of: result)
      }
    }
    owesAnswer = false
    if let failure { throw failure }
    if let warning = notices.takeWarning() { throw .lost(warning) }
    return rows
  }

  // MARK: COPY

  /// Begins a `COPY … FROM STDIN`. Until ``endCopy(within:)``, the connection accepts only the bytes for it.
  func beginCopy(_ statement: String, within timeout: Duration) throws(PostgresFailure) {
    try readOwedAnswer(within: timeout)
    guard libpq.sendScript(connection, statement) == 1 else { throw .lost(message) }
    try flush(within: timeout)
    guard let result = try nextResult(within: timeout) else { throw .lost(message) }
    defer { libpq.clear(result) }
    guard libpq.resultStatus(result) == LibPQ.copyIsAwaited else { throw failure(of: result) }
  }

  /// Sends bytes. It returns when libpq has passed them on, so that they do not pile up if the server is slow.
  func copy(_ bytes: [UInt8], within timeout: Duration) throws(PostgresFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(1 << 16)
      let taken = piece.withUnsafeBufferPointer {
        libpq.putCopyData(connection, $0.baseAddress, CInt($0.count))
      }
      guard taken >= 0 else { throw .lost(message) }
      if taken == 1 { rest = rest.dropFirst(piece.count) }
      try flush(within: timeout)
    }
  }

  func endCopy(within timeout: Duration) throws(PostgresFailure) {
    while true {
      let taken = libpq.putCopyEnd(connection, nil)
      guard taken >= 0 else { throw .lost(message) }
      try flush(within: timeout)
      if taken == 1 { break }
    }
    _ = try answer(within: timeout)
  }

  private static let late = PostgresFailure.lost("the server did not answer in time")

  private func wait(for events: CInt, within timeout: Duration) throws(PostgresFailure) {
    guard isReady(for: events, within: timeout) else { throw Self.late }
  }

  private func isReady(for events: CInt, within timeout: Duration) -> Bool {
    var sources = [pollfd(fd: socket, events: Int16(events), revents: 0)]
    let milliseconds = max(timeout, .zero) / .milliseconds(1)
    return poll(&sources, 1, CInt(min(milliseconds.rounded(.up), 1e9))) != 0
  }

  private func rows(of result: OpaquePointer) -> [PostgresRow] {
    (0..<libpq.rowCount(result)).map { row in
      PostgresRow(
        columns: (0..<libpq.columnCount(result)).map { column in
          if libpq.isNull(result, row, column) == 1 { return nil }
          return Array(
            UnsafeBufferPointer(
              start: libpq.value(result, row, column), count: Int(libpq.length(result, row, column))))
        })
    }
  }

  private func failure(of result: OpaquePointer) -> PostgresFailure {
    guard let state = libpq.errorField(result, LibPQ.sqlState).map({ String(cString: $0) }) else {
      return .lost(message)
    }
    let text = Self.message(libpq.errorField(result, LibPQ.primaryMessage))
    // A server that shuts down may have committed without sending the answer.
    let isLost = ["08", "57P", "40003", "XX"].contains { state.hasPrefix($0) }
    return isLost ? .lost(text) : .refused(state: state, text)
  }

  /// Removes the notifications that have arrived.
  /// - Returns: true if there were any, or if the connection is broken.
  func takeNotifications() -> Bool {
    guard isOpen else { return true }
    var count = 0
    while let notification = libpq.nextNotification(connection) {
      libpq.freeMemory(notification)
      count += 1
    }
    return count > 0
  }
}

private func withCStrings<Result>(_ texts: [String], _ body: (LibPQ.Words) -> Result) -> Result {
  withCStrings(texts.map { Array($0.utf8) }, body)
}

/// Runs `body` with pointers to copies of these bytes. Each copy ends with a 0, and the list of pointers with `nil`.
private func withCStrings<Result>(_ texts: [[UInt8]?], _ body: (LibPQ.Words) -> Result) -> Result {
  let copies = texts.map { text -> UnsafeMutableBufferPointer<CChar>? in
    guard let text else { return nil }
    let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.count + 1)
    _ = copy.initialize(from: text.lazy.map { CChar(bitPattern: $0) } + [0])
    return copy
  }
  defer { for copy in copies { copy?.deallocate() } }
  return (copies.map { UnsafePointer($0?.baseAddress) } + [nil]).withUnsafeBufferPointer { words in
    guard let start = words.baseAddress else {
      preconditionFailure("the list ends with nil, so it is not empty")
    }
    return body(start)
  }
}
