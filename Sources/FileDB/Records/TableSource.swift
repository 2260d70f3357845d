import FileDBPlist
import Synchronization

/// Where the rows of a snapshot are from.
final class TableSource: Sendable {
  /// What a snapshot needs of its store, which may be gone before it.
  struct Store: Sendable {
    let indexes: RowIndexes
    let folder: StoreFolder
    let limits: PlistLimits
    let attached: AttachedStore?

    init(_ store: RecordStore) {
      (indexes, folder, limits) = (store.indexes, store.folder, store.options.limits)
      attached = store.visible.attached
    }

    /// For a table that is read without a store.
    init(folder: StoreFolder, limits: PlistLimits) {
      (indexes, self.folder, self.limits) = (RowIndexes(), folder, limits)
      attached = nil
    }
  }

  let table: String
  private let store: Store

  init(table: String, in store: Store) { (self.table, self.store) = (table, store) }

  convenience init(table: String, in store: RecordStore) { self.init(table: table, in: Store(store)) }

  var indexes: RowIndexes { store.indexes }

  /// Where the table's file has a value of this very record, or as much of the way to it as there is; `nil` where the
  /// file has another record by now, or none yet.
  func find(_ path: FieldPath, of stored: StoredRecord) -> (file: String, line: Int)? {
    let key = TableKey(table)
    if let found = find(path, of: stored, in: key, store.folder) { return found }
    return store.attached.flatMap { attached in
      find(path, of: stored, in: attached.table(named: key) ?? key, attached.store.folder)
    }
  }

  private func find(
    _ path: FieldPath, of stored: StoredRecord, in key: TableKey, _ folder: StoreFolder
  ) -> (file: String, line: Int)? {
    guard
      case (let file, let content?)? = try? folder.readFile(of: key, limits: store.limits),
      let records = try? TableFile.decode(content.bytes, file: file, table: key.text, limits: store.limits)
        .records,
      let row = records.row(of: stored.id), records[row] == stored
    else { return nil }
    var steps = [.key(TableFile.recordsKey), .index(row)] + path.steps
    while !steps.isEmpty {
      if let line = PlistParser.line(of: steps, in: content.bytes) { return (file, line) }
      steps.removeLast()
    }
    return nil
  }
}

/// Where a value of a record is in the table's file. It is looked for when somebody asks: that reads the file, and most
/// errors are only caught.
final class RecordPlace: Sendable {
  private let source: TableSource
  private let record: StoredRecord
  private let path: FieldPath
  private let result = Mutex<(file: String, line: Int)??>(nil)

  init(of path: FieldPath, in record: StoredRecord, from source: TableSource) {
    (self.source, self.record, self.path) = (source, record, path)
  }

  var found: (file: String, line: Int)? {
    result.withLock { result in
      let found = result ?? source.find(path, of: record)
      result = .some(found)
      return found
    }
  }
}

extension StoreError {
  /// Runs `decode`, and says of which record it was where that fails.
  static func naming<Row>(
    _ stored: StoredRecord, of source: TableSource, _ decode: () throws -> Row
  ) throws -> Row {
    do {
      return try decode()
    } catch let error as DecodingError {
      let fault = DecodingFault(error)
      let error = StoreError(StoreError.invalidRow, fault.message, field: fault.path.text)
      throw error.naming(stored, of: source, at: fault.path)
    } catch let error as StoreError {
      throw error.naming(stored, of: source, at: FieldPath([]))
    }
  }

  private func naming(_ stored: StoredRecord, of source: TableSource, at path: FieldPath) -> StoreError {
    var error = adding(table: source.table)
    error.record = error.record ?? stored.id
    error.place = RecordPlace(of: path, in: stored, from: source)
    return error
  }

  /// This error with the table's name, where it has none yet.
  func adding(table: String) -> StoreError {
    var error = self
    if error.table == nil { error.table = table }
    return error
  }
}

/// What a row's `init(from:)` did not find as it should be.
private struct DecodingFault {
  let path: FieldPath
  let message: String

  init(_ error: DecodingError) {
    let (context, missing): (DecodingError.Context, (any CodingKey)?) =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        (context, nil)
      case .keyNotFound(let key, let context): (context, key)
      @unknown default:
        (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
      }
    path = FieldPath(context.codingPath + [missing].compactMap(\.self))
    message = context.debugDescription
  }
}
