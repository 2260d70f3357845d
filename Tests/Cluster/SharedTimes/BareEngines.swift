import FileDB
import Foundation
import TestSupport

/// An engine without FileDB, as a program would use it that only wants the bytes to be durable.
protocol BareEngine {
  /// Returns when the bytes are durable.
  func write(_ bytes: [UInt8]) throws
}

/// PostgreSQL, with a prepared `INSERT` in a transaction of its own.
///
/// Safe without isolation: its owner uses it from one thread at a time.
final class BarePostgres: BareEngine, @unchecked Sendable {
  private typealias Words = UnsafePointer<UnsafePointer<CChar>?>

  private struct Library {
    let connect: @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    let run: @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> OpaquePointer?
    let prepare:
      @convention(c) (
        OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>, CInt, UnsafePointer<UInt32>?
      ) -> OpaquePointer?
    let runPrepared:
      @convention(c) (
        OpaquePointer?, UnsafePointer<CChar>, CInt, Words?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
      ) -> OpaquePointer?
    let status: @convention(c) (OpaquePointer?) -> CInt
    let rowCount: @convention(c) (OpaquePointer?) -> CInt
    let value: @convention(c) (OpaquePointer?, CInt, CInt) -> UnsafePointer<UInt8>?
    let length: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
    let clear: @convention(c) (OpaquePointer?) -> Void
    let finish: @convention(c) (OpaquePointer?) -> Void

    init() throws {
      guard let library = dlopen("libpq.so.5", RTLD_NOW) else {
        throw StoreError(.unreachable, "libpq is not installed")
      }
      func function<Function>(_ name: String) -> Function {
        unsafeBitCast(dlsym(library, name), to: Function.self)
      }
      connect = function("PQconnectdb")
      run = function("PQexec")
      prepare = function("PQprepare")
      runPrepared = function("PQexecPrepared")
      status = function("PQresultStatus")
      rowCount = function("PQntuples")
      value = function("PQgetvalue")
      length = function("PQgetlength")
      clear = function("PQclear")
      finish = function("PQfinish")
    }
  }

  private let library: Library
  private let connection: OpaquePointer?

  init(_ info: String) throws {
    library = try Library()
    connection = library.connect(info)
    try check(library.run(connection, "SET client_min_messages TO warning"))
    try check(
      library.run(
        connection,
        "CREATE TABLE IF NOT EXISTS bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload bytea)")
    )
    try check(library.prepare(connection, "insert", "INSERT INTO bare (payload) VALUES ($1)", 0, nil))
    try check(
      library.prepare(
        connection, "commits",
        "SELECT payload, sequence, token, committed FROM filedb.commits WHERE sequence > $1::bigint "
          + "AND store = (SELECT id FROM filedb.stores WHERE name = $2) ORDER BY sequence LIMIT 5000", 0, nil)
    )
  }

  deinit { library.finish(connection) }

  func write(_ bytes: [UInt8]) throws { try check(run("insert", [(bytes, isBinary: true)])) }

  /// The payloads of up to 5,000 commits of a store.
  func payloads(after sequence: Int, of store: String) throws -> [[UInt8]] {
    let values = [(Array("\(sequence)".utf8) + [0], false), (Array(store.utf8) + [0], isBinary: false)]
    let result = run("commits", values)
    guard library.status(result) == 2 else { throw StoreError(.unreachable, "PostgreSQL refused") }
    defer { library.clear(result) }
    return (0..<library.rowCount(result)).map { row in
      Array(
        UnsafeBufferPointer(
          start: library.value(result, row, 0), count: Int(library.length(result, row, 0))))
    }
  }

  private func run(_ statement: String, _ values: [(bytes: [UInt8], isBinary: Bool)]) -> OpaquePointer? {
    let copies = values.map { value in
      let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: value.bytes.count)
      _ = copy.initialize(from: value.bytes.lazy.map { CChar(bitPattern: $0) })
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    let words: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0.baseAddress) }
    return library.runPrepared(
      connection, statement, CInt(values.count), words, values.map { CInt($0.bytes.count) },
      values.map { $0.isBinary ? 1 : 0 }, 1)
  }

  private func check(_ result: OpaquePointer?) throws {
    defer { library.clear(result) }
    guard library.status(result) == 1 else { throw StoreError(.unreachable, "PostgreSQL refused") }
  }
}

/// etcd, with one put through the JSON gateway.
final class BareEtcd: BareEngine {
  private static let key = Data("bare".utf8).base64EncodedString()
  private let connection: RawConnection

  init(port: Int) throws { connection = try RawConnection(port: port) }

  func write(_ bytes: [UInt8]) throws {
    let body = #"{"key":"\#(Self.key)","value":"\#(Data(bytes).base64EncodedString())"}"#
    try connection.send(
      "POST /v3/kv/put HTTP/1.1\r\nHost: etcd\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    guard try connection.answer(to: "POST").status == 200 else {
      throw StoreError(.unreachable, "etcd refused")
    }
  }
}
