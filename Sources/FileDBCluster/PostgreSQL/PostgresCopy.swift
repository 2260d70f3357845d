import FileDBEssentials
import FileDBTables

/// Sends records to PostgreSQL with `COPY`, in chunks of 512. They come after the records that the table has. It needs
/// a transaction, and its own connection.
struct PostgresCopy {
  /// The number of chunks whose records are sent before their lists of ids.
  private static let batch = 64
  /// The number of bytes that are collected before libpq gets them.
  private static let piece = 1 << 18

  private let connection: PostgresConnection
  private let table: UInt64
  private let timeout: Duration
  private var place: UInt64
  let firstChunk: UInt64
  /// The number of the newest chunk.
  private(set) var lastChunk: UInt64
  private(set) var count = 0
  /// What the server does not have yet: bytes of records, and the ids in their chunks.
  private var rows = CopyRows()
  private var chunks: [[Int64]] = []

  /// For the records of a table that does not exist yet.
  init(_ connection: PostgresConnection, intoNew table: UInt64, _ timeout: Duration) {
    (self.connection, self.table, self.timeout) = (connection, table, timeout)
    (firstChunk, lastChunk, place) = (1, 0, 0)
  }

  /// - Parameters:
  ///   - table: the table's number in the database.
  ///   - timeout: how long the server may take for each piece.
  init(
    _ connection: PostgresConnection, into table: UInt64, _ timeout: Duration
  ) throws(PostgresFailure) {
    (self.connection, self.table, self.timeout) = (connection, table, timeout)
    let ends = try connection.run(
      """
      SELECT last_chunk, coalesce((SELECT max(place) FROM filedb.chunks WHERE tab = tables.id), 0)
      FROM filedb.tables WHERE id = $1::bigint
      """, [.number(table)], within: timeout)
    guard let last = ends.first, let chunk = last.number(0), let place = last.number(1) else {
      throw .unreachable("the table is gone")
    }
    (firstChunk, lastChunk, self.place) = (chunk + 1, chunk, place)
  }

  mutating func add(_ record: EncodedRecord) throws(PostgresFailure) {
    if chunks.last.map({ $0.count == 512 }) ?? true {
      if chunks.count == Self.batch { try finish() }
      if chunks.isEmpty { try begin("filedb.records (tab, id, chunk, body)") }
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(512)
      lastChunk += 1
    }
    chunks[chunks.count - 1].append(record.id.rawValue)
    rows.beginRow(4)
    rows.add(table)
    rows.add(UInt64(record.id.rawValue))
    rows.add(lastChunk)
    rows.add(record.bytes)
    count += 1
    if rows.bytes.count >= Self.piece { try connection.copy(rows.take(), within: timeout) }
  }

  /// Sends the rest.
  mutating func finish() throws(PostgresFailure) {
    if chunks.isEmpty { return }
    try end()
    let first = lastChunk - UInt64(chunks.count) + 1
    try begin("filedb.chunk_ids (tab, chunk, ids)")
    for (number, ids) in chunks.enumerated() {
      rows.beginRow(3)
      rows.add(table)
      rows.add(first + UInt64(number))
      rows.add(ids)
    }
    try end()
    try begin("filedb.chunks (tab, chunk, place, count)")
    for (number, ids) in chunks.enumerated() {
      place += 1 << 32
      rows.beginRow(4)
      rows.add(table)
      rows.add(first + UInt64(number))
      rows.add(place)
      rows.add(UInt64(ids.count))
    }
    try end()
    chunks.removeAll(keepingCapacity: true)
  }

  private mutating func begin(_ target: String) throws(PostgresFailure) {
    try connection.beginCopy("COPY \(target) FROM STDIN (FORMAT binary)", within: timeout)
    rows.begin()
  }

  private mutating func end() throws(PostgresFailure) {
    rows.end()
    try connection.copy(rows.take(), within: timeout)
    try connection.endCopy(within: timeout)
  }
}

/// Rows in the format of `COPY … (FORMAT binary)`.
private struct CopyRows {
  private(set) var bytes: [UInt8] = []

  mutating func begin() {
    bytes += Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    add32(0)  // Flags.
    add32(0)  // The length of the header's extension.
  }

  mutating func end() { add16(-1) }

  mutating func beginRow(_ columns: Int16) { add16(columns) }

  mutating func add(_ number: UInt64) {
    add32(8)
    add64(Int64(number))
  }

  mutating func add(_ value: ArraySlice<UInt8>) {
    add32(Int32(value.count))
    bytes += value
  }

  /// Adds an array of `bigint`.
  mutating func add(_ ids: [Int64]) {
    add32(Int32(20 + 12 * ids.count))
    // One dimension, no nulls, the number of the type, the length, and the first index.
    for number in [1, 0, 20, Int32(ids.count), 1] { add32(number) }
    for id in ids {
      add32(8)
      add64(id)
    }
  }

  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func add16(_ number: Int16) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
  private mutating func add32(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
  private mutating func add64(_ number: Int64) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
}
