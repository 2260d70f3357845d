import FileDBPlist
import FileDBTables
import Synchronization

/// The store and the table that a snapshot's records come from.
final class TableSource: Sendable {
  /// What transactions and snapshots need from their store, which may be released before the snapshots.
  final class Store: Sendable {
    let extensions = StoreExtensions()
    let folder: StoreFolder?
    let view: any TableView
    let limits: PlistLimits
    /// How much memory columns may use.
    let columnBytes: Int

    init(_ folder: StoreFolder?, seen view: any TableView, options: StoreOptions) {
      (self.folder, self.view) = (folder, view)
      (limits, columnBytes) = (options.limits, options.columnBytes)
    }

    /// For a table that is read without a store.
    convenience init(folder: StoreFolder?, limits: PlistLimits) {
      self.init(folder, seen: PlainTables(), options: StoreOptions(limits: limits))
    }
  }

  let table: String
  let store: Store
  let spareReader = SpareReader()

  init(table: String, in store: Store) { (self.table, self.store) = (table, store) }

  /// The place of a field of this record in the table's file, or of the last part of the path that is there; `nil` if
  /// the file does not have this version of the record.
  func find(_ path: FieldPath, of record: EncodedRecord) -> (file: String, line: Int)? {
    let key = TableKey(table)
    let own = store.folder.map { (table: key, folder: $0) }
    for source in [own].compactMap(\.self) + store.view.sources(of: key) {
      if let found = find(path, of: record, in: source.table, source.folder) { return found }
    }
    return nil
  }

  /// The place of a part of the schema in the table's file.
  func find(inSchema path: [PlistStep]) -> (file: String, line: Int)? {
    guard
      case (let file, let content?)? = try? store.folder?.readFile(of: TableKey(table), limits: store.limits)
    else { return nil }
    return PlistParser.line(of: [.key(TableFile.schemaKey)] + path, in: content.bytes).map { (file, $0) }
  }

  private func find(
    _ path: FieldPath, of record: EncodedRecord, in key: TableKey, _ folder: StoreFolder
  ) -> (file: String, line: Int)? {
    guard
      case (let file, let content?)? = try? folder.readFile(of: key, limits: store.limits),
      let records = try? TableFile.decode(content.bytes, file: file, table: key.text, limits: store.limits)
        .records,
      let index = records.index(of: record.id), records[index] == record
    else { return nil }
    var steps = [.key(TableFile.recordsKey), .index(index)] + path.steps
    while !steps.isEmpty {
      if let line = PlistParser.line(of: steps, in: content.bytes) { return (file, line) }
      steps.removeLast()
    }
    return nil
  }
}

/// A location in a table's file. It is searched for only when somebody asks, because that reads the file, and most
/// errors are only caught.
final class SoughtLocation: FileLocation {
  private let search: @Sendable () -> (file: String, line: Int)?
  private let result = Mutex<(file: String, line: Int)??>(nil)

  init(_ search: @escaping @Sendable () -> (file: String, line: Int)?) { self.search = search }

  var found: (file: String, line: Int)? {
    result.withLock { result in
      let found = result ?? search()
      result = .some(found)
      return found
    }
  }
}

extension StoreError {
  /// Runs `decode`. If it fails, adds the record to the error.
  static func naming<Value>(
    _ record: EncodedRecord, of source: TableSource, _ decode: () throws -> Value
  ) throws(StoreError) -> Value {
    do { return try decode() } catch { throw fault(error, in: record, of: source) }
  }

  /// The error for a record that cannot be decoded.
  static func fault(_ error: any Error, in record: EncodedRecord, of source: TableSource) -> StoreError {
    guard let error = error as? DecodingError else {
      return StoreError(wrapping: error).naming(record, of: source, at: FieldPath([]))
    }
    let fault = DecodingFault(error)
    return StoreError(.invalidValue, fault.message, field: fault.path.text)
      .naming(record, of: source, at: fault.path)
  }

  func naming(_ record: EncodedRecord, of source: TableSource, at path: FieldPath) -> StoreError {
    var error = adding(table: source.table)
    error.record = error.record ?? record.id
    error.location = SoughtLocation { source.find(path, of: record) }
    return error
  }
}

/// The value that `init(from:)` could not decode.
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
