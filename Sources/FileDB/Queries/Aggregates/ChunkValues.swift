import FileDBPlist
import FileDBTables

/// The values of one field in the records of a chunk.
enum ChunkValues {
  /// The record's id.
  case id
  /// With the field's name.
  case column(ChunkColumn, FieldName)
  case values([PlistValue?])

  func value(_ index: Int, of record: EncodedRecord) -> PlistValue? {
    switch self {
    case .id: .integer(record.id.rawValue)
    case .column(let column, let name): column.value(index, of: name, in: record)
    case .values(let values): values[index]
    }
  }

  /// Whether any of the records has the field.
  var hasValues: Bool {
    switch self {
    case .id: true
    case .column(let column, _): column.hasValues
    case .values(let values): values.contains { $0 != nil }
    }
  }
}

/// Reads fields of a table, chunk by chunk. It uses columns if they are enough, and otherwise reads the records.
private struct ChunkReader: Sendable {
  private enum Source {
    case id
    case column(Int, FieldName)
    case record(Int)
  }

  private let sources: [Source]
  private(set) var columns: [FieldName] = []
  private var references: [FieldReference] = []
  private let form: ValueForm
  private let newest: @Sendable (EncodedRecord) throws(StoreError) -> EncodedRecord

  init(
    _ all: [FieldReference], _ form: ValueForm,
    newest: @escaping @Sendable (EncodedRecord) throws(StoreError) -> EncodedRecord
  ) {
    (self.form, self.newest) = (form, newest)
    var sources: [Source] = []
    for reference in all {
      switch reference {
      case .id: sources.append(.id)
      case .path(let names) where form.isPlain && names.count == 1 && names[0] != FieldName(TableFile.idKey):
        if !columns.contains(names[0]) { columns.append(names[0]) }
        sources.append(.column(columns.firstIndex(of: names[0]) ?? 0, names[0]))
      case .path:
        sources.append(.record(references.count))
        references.append(reference)
      }
    }
    self.sources = sources
  }

  func values(of records: [EncodedRecord], _ columns: [ChunkColumn]) throws(StoreError) -> [ChunkValues] {
    let read = try read(records)
    return sources.map { source in
      switch source {
      case .id: .id
      case .column(let place, let name): .column(columns[place], name)
      case .record(let place): .values(read[place])
      }
    }
  }

  private func read(_ records: [EncodedRecord]) throws(StoreError) -> [[PlistValue?]] {
    if references.isEmpty { return [] }
    var values = [[PlistValue?]](repeating: [], count: references.count)
    let fields = form.makeFields()
    for record in records {
      fields.read(try newest(record)) {
        for (place, reference) in references.enumerated() {
          values[place].append(reference.value(in: fields, of: record.id))
        }
      }
    }
    return values
  }
}

extension TableSnapshot {
  /// Calls `body` for each chunk and the values of these fields, several at a time, and returns the results in order.
  /// - Parameters:
  ///   - newest: the version of a record to read.
  ///   - body: gets the chunk's number, its records, and the values of each field.
  /// - Throws: the errors of `newest` and of `body`.
  func ofChunks<Output: Sendable>(
    reading references: [FieldReference],
    newest: (ValueForm) -> @Sendable (EncodedRecord) throws(StoreError) -> EncodedRecord = { $0.newest },
    _ body: @Sendable (Int, [EncodedRecord], [ChunkValues]) throws(StoreError) -> Output
  ) throws(StoreError) -> [Output] {
    let form = ValueForm(Value.self)
    let reader = ChunkReader(references, form, newest: newest(form))
    let columns = TableColumns(
      of: reader.columns, in: state.records, of: TableKey(table), cache: source.columns)
    do {
      return try columns.ofChunks { (number, records, columns) throws(StoreError) in
        try body(number, records, reader.values(of: records, columns))
      }
    } catch {
      throw error.adding(table: table)
    }
  }
}
