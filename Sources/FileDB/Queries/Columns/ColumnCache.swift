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
///
/// It is not generic over the type of the records, so that the compiler can specialize what a query does with it.
struct TableColumns: Sendable {
  private let fields: [FieldName]
  private let finders: [FieldFinder]
  private let chunks: [RecordChunk]
  private let known: [KnownColumn?]
  private let cache: ColumnCache
  private let table: TableKey

  init(of fields: [FieldName], in records: OrderedRecords, of table: TableKey, cache: ColumnCache) {
    (self.fields, self.table, self.cache) = (fields, table, cache)
    finders = fields.map { FieldFinder(key: $0.text, indentation: TableFile.depthOfFields - 1) }
    let chunks = records.sections.flatMap(\.chunks)
    self.chunks = chunks
    known = fields.map { field in cache.column(of: field, in: table).map { KnownColumn($0, chunks) } }
  }

  /// Calls `body` for each chunk, several at a time, with the chunk's number from 0, its records, and its columns of the
  /// fields. Returns the results in order. The columns are kept for the next query.
  func ofChunks<Output: Sendable, Failure: Error>(
    _ body: @Sendable (Int, [EncodedRecord], [ChunkColumn]) throws(Failure) -> Output
  ) throws(Failure) -> [Output] {
    let areComplete = known.allSatisfy { $0?.isComplete == true }
    let parts = Parts(of: chunks.count, leastLength: 8)
    let results = try concurrentMap(parts.count) { part throws(Failure) in
      var (outputs, made): ([Output], [[ChunkColumn]]) = ([], [])
      for chunk in parts[part] {
        let columns = columns(ofChunk: chunk)
        outputs.append(try body(chunk, chunks[chunk].records, columns))
        if !areComplete { made.append(columns) }
      }
      return (outputs: outputs, columns: made)
    }
    if !areComplete { keep(results.flatMap(\.columns)) }
    return results.flatMap(\.outputs)
  }

  private func columns(ofChunk chunk: Int) -> [ChunkColumn] {
    fields.indices.map { field in
      known[field]?.column(of: chunks[chunk], at: chunk) ?? ChunkColumn(chunks[chunk].records, finders[field])
    }
  }

  /// Gives the new columns to the cache.
  /// - Parameter columns: the columns of each chunk, in order.
  private func keep(_ columns: [[ChunkColumn]]) {
    for (place, field) in fields.enumerated() where known[place]?.isComplete != true {
      let parts = zip(chunks, columns).map {
        FieldColumn.Part(version: $0.version, column: $1[place])
      }
      cache.keep(FieldColumn(parts), of: field, in: table)
    }
  }
}

/// The column that was made by an earlier query, of which some chunks may have changed.
private struct KnownColumn: Sendable {
  /// Whether the column has exactly the chunks of the table.
  let isComplete: Bool
  private let parts: [FieldColumn.Part]
  /// The place of each chunk in the column, if other chunks are before it now.
  private let places: [ObjectIdentifier: Int]

  init(_ column: FieldColumn, _ chunks: [RecordChunk]) {
    let parts = column.parts
    self.parts = parts
    isComplete = parts.count == chunks.count && zip(parts, chunks).allSatisfy { $0.version === $1.version }
    places =
      isComplete
      ? [:]
      : Dictionary(uniqueKeysWithValues: parts.indices.map { (ObjectIdentifier(parts[$0].version), $0) })
  }

  func column(of chunk: RecordChunk, at place: Int) -> ChunkColumn? {
    if place < parts.count, parts[place].version === chunk.version { return parts[place].column }
    return places[ObjectIdentifier(chunk.version)].map { parts[$0].column }
  }
}

extension TableSource {
  var columns: ColumnCache {
    store.extensions.value(ColumnCache.self) { ColumnCache(mostBytes: store.columnBytes) }
  }
}
