import FileDBPlist
import FileDBTables

/// The values of one field in the records of a chunk.
enum ChunkValues {
  /// With the field's name; `nil` for the id.
  case column(ChunkColumn, FieldName?)
  case values([PlistValue?])

  func value(_ index: Int, of record: EncodedRecord) -> PlistValue? {
    switch self {
    case .values(let values): values[index]
    case .column(let column, let name): column.value(index, of: name, in: record)
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

  init(_ all: [FieldReference], _ form: ValueForm) {
    self.form = form
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
      case .id: .column(ChunkColumn(idsOf: records), nil)
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
      fields.read(try form.newest(record)) {
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
  /// - Parameter body: gets the chunk's number, its records, and the values of each field.
  /// - Throws: the errors of migrating a record to its type's newest version, and those of `body`.
  func ofChunks<Output: Sendable>(
    reading references: [FieldReference],
    _ body: @Sendable (Int, [EncodedRecord], [ChunkValues]) throws(StoreError) -> Output
  ) throws(StoreError) -> [Output] {
    let reader = ChunkReader(references, ValueForm(Value.self))
    do {
      return try columns(of: reader.columns).ofChunks { (number, records, columns) throws(StoreError) in
        try body(number, records, reader.values(of: records, columns))
      }
    } catch {
      throw error.adding(table: table)
    }
  }
}
