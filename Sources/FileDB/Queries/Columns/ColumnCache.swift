import FileDBPlist
import FileDBTables
import Synchronization

/// The columns of a store's tables, each from the last query of it. The column of a chunk stays valid as long as the
/// chunk does not change, in any snapshot.
final class ColumnCache: Sendable {
  private struct Key: Hashable {
    let table: TableKey
    let field: FieldName
  }

  private struct State {
    var columns: [Key: (column: FieldColumn, use: UInt64)] = [:]
    var useCount: UInt64 = 0
    var byteCount = 0
  }

  private let state = Mutex(State())
  private let mostBytes: Int

  /// - Parameter mostBytes: the most memory that all columns together may take.
  init(mostBytes: Int) { self.mostBytes = mostBytes }

  func column(of field: FieldName, in table: TableKey) -> FieldColumn? {
    state.withLock { state in
      let key = Key(table: table, field: field)
      guard let known = state.columns[key] else { return nil }
      state.useCount += 1
      state.columns[key] = (known.column, state.useCount)
      return known.column
    }
  }

  /// Keeps a column in place of the former one. If there are too many bytes, removes the column that was least recently
  /// used.
  func keep(_ column: FieldColumn, of field: FieldName, in table: TableKey) {
    state.withLock { state in
      state.useCount += 1
      let former = state.columns.updateValue(
        (column, state.useCount), forKey: Key(table: table, field: field))
      state.byteCount += column.byteCount - (former?.column.byteCount ?? 0)
      while state.byteCount > mostBytes, let oldest = state.columns.min(by: { $0.value.use < $1.value.use }) {
        state.columns[oldest.key] = nil
        state.byteCount -= oldest.value.column.byteCount
      }
    }
  }

  /// The memory that all columns take.
  var byteCount: Int { state.withLock { $0.byteCount } }
}

/// The values of one field in all records of a table, chunk by chunk.
final class FieldColumn: Sendable {
  struct Part: Sendable {
    let version: ChunkVersion
    let column: ChunkColumn
  }

  let parts: [Part]
  let byteCount: Int

  init(_ parts: [Part]) {
    self.parts = parts
    byteCount = parts.reduce(0) { $0 + $1.column.byteCount }
  }
}

/// The columns of some fields of a table: those that are known, and those that are made here.
struct TableColumns: Sendable {
  private let fields: [FieldName]
  private let finders: [FieldFinder]
  private let chunks: [RecordChunk]
  private let known: [FieldColumn?]
  /// The place of each chunk in a known column, if other chunks are before it now.
  private let places: [[ObjectIdentifier: Int]]

  init(of fields: [FieldName], in records: OrderedRecords, known: [FieldColumn?]) {
    self.fields = fields
    self.known = known
    finders = fields.map { FieldFinder(key: $0.text, indentation: TableFile.depthOfFields - 1) }
    let chunks = records.sections.flatMap(\.chunks)
    self.chunks = chunks
    places = known.map { column in
      guard let column, !column.isOf(chunks) else { return [:] }
      return Dictionary(
        uniqueKeysWithValues: column.parts.indices.map { (ObjectIdentifier(column.parts[$0].version), $0) })
    }
  }

  var chunkCount: Int { chunks.count }

  func records(ofChunk chunk: Int) -> [EncodedRecord] { chunks[chunk].records }

  /// The columns of the fields for one chunk.
  func columns(ofChunk chunk: Int) -> [ChunkColumn] {
    fields.indices.map { field in
      knownColumn(field, chunk) ?? ChunkColumn(chunks[chunk].records, finders[field])
    }
  }

  private func knownColumn(_ field: Int, _ chunk: Int) -> ChunkColumn? {
    guard let parts = known[field]?.parts else { return nil }
    let version = chunks[chunk].version
    if chunk < parts.count, parts[chunk].version === version { return parts[chunk].column }
    return places[field][ObjectIdentifier(version)].map { parts[$0].column }
  }

  /// Gives the new columns to the cache.
  /// - Parameter columns: the columns of each chunk, in order.
  func keep(_ columns: [[ChunkColumn]], in cache: ColumnCache, of table: TableKey) {
    for (place, field) in fields.enumerated() where known[place]?.isOf(chunks) != true {
      let parts = zip(chunks, columns).map {
        FieldColumn.Part(version: $0.version, column: $1[place])
      }
      cache.keep(FieldColumn(parts), of: field, in: table)
    }
  }
}

extension FieldColumn {
  fileprivate func isOf(_ chunks: [RecordChunk]) -> Bool {
    parts.count == chunks.count && zip(parts, chunks).allSatisfy { $0.version === $1.version }
  }
}

extension TableSnapshot {
  /// Calls `body` for each chunk and its columns of these fields, several at a time, and returns the results in order.
  /// The columns are kept for the next query.
  func ofChunks<Output: Sendable, Failure: Error>(
    _ fields: [FieldName],
    _ body: @Sendable ([EncodedRecord], [ChunkColumn]) throws(Failure) -> Output
  ) throws(Failure) -> [Output] {
    try ofNumberedChunks(fields) { (_, records, columns) throws(Failure) in try body(records, columns) }
  }

  /// The same with the chunk's number, from 0.
  func ofNumberedChunks<Output: Sendable, Failure: Error>(
    _ fields: [FieldName],
    _ body: @Sendable (Int, [EncodedRecord], [ChunkColumn]) throws(Failure) -> Output
  ) throws(Failure) -> [Output] {
    let (cache, table) = (source.columns, TableKey(table))
    let columns = TableColumns(
      of: fields, in: state.records, known: fields.map { cache.column(of: $0, in: table) })
    let parts = Parts(of: columns.chunkCount, leastLength: 8)
    let results = concurrentMap(parts.count) { part in
      Result { () throws(Failure) in
        var made: [(output: Output, columns: [ChunkColumn])] = []
        for chunk in parts[part] {
          let ofChunk = columns.columns(ofChunk: chunk)
          made.append((try body(chunk, columns.records(ofChunk: chunk), ofChunk), ofChunk))
        }
        return made
      }
    }
    var all: [(output: Output, columns: [ChunkColumn])] = []
    for result in results { all += try result.get() }
    columns.keep(all.map(\.columns), in: cache, of: table)
    return all.map(\.output)
  }
}

extension TableSource {
  var columns: ColumnCache { extensions.value(ColumnCache.self) { ColumnCache(mostBytes: columnBytes) } }
}
