import FileDB
import FileDBEssentials
import FileDBPlist

/// Writes records in another format. Each record has its id as `id`. A field that is itself called `id` is written as
/// `fields.id`. In property lists, a record has its id as in a table's file.
///
///     try TableExport(format: .json).write(store.table("food").snapshot(), to: file)
public struct TableExport: Sendable {
  /// A record to write.
  public typealias Row = StoredRecord<Fields>

  /// Whether to write each record's id.
  package enum IDs {
    case written, omitted
  }

  /// The format of the file.
  public var format: ExchangeFormat
  package var ids = IDs.written
  /// The fields to write, in this order if the format has one; `nil` for all fields, in the order of their UTF-8 bytes.
  private let chosen: [FieldReference]?
  private let selection: FieldSelection?
  /// The fields that the table's schema declares. In delimited text, they are the first columns.
  private let declared: [FieldReference]

  /// An export in this format.
  /// - Parameter fields: the fields to write, in this order if the format keeps it; `nil` for all, in the order of
  ///   their UTF-8 bytes.
  public init(format: ExchangeFormat, fields: [String]? = nil) {
    self.init(format: format, chosen: fields?.map(FieldReference.init(field:)))
  }

  /// An export of all fields. The columns of delimited text have the order in which `schema` declares its fields; the
  /// other fields come after them.
  public init(format: ExchangeFormat, schema: TableSchema?) {
    self.init(format: format, chosen: nil, schema: schema)
  }

  /// - Parameter chosen: as for ``init(format:fields:)``. The id comes first if it is not named.
  package init(format: ExchangeFormat, chosen: [FieldReference]?, schema: TableSchema? = nil) {
    self.format = format
    self.chosen = chosen
    declared = (schema?.fields ?? []).map { FieldReference(field: $0.name) }
    selection = chosen.map(FieldSelection.init)
  }

  /// Replaces or creates the file at `url`. If this fails, the file has its old content. If it succeeds, the file has
  /// all of the new content, and is synced to the disk. A pipe, a device, or a file that this process has open, such as
  /// `/dev/stdout`, is written to, and may get only a part.
  /// - Parameter progress: called now and then with the number of records written so far.
  /// - Throws: as ``write(_:progress:_:)``, and the disk's errors.
  public func write(
    _ rows: some Collection<Row>, to url: URL, progress: (_ records: Int) -> Void = { _ in }
  ) throws {
    try FileInfo.writeFile(at: url) { append in try write(rows, progress: progress, append) }
  }

  /// Passes the bytes of the file to `sink`, piece by piece. A binary property list comes in one piece, because its
  /// table of offsets comes last.
  /// - Parameter progress: called now and then with the number of records written so far.
  /// - Throws: ``StoreError/Code/unrepresentableValue`` with record and field if the encoding lacks a character, or if
  ///   a field needs quotes and the format has none; and what `sink` throws.
  public func write(
    _ rows: some Collection<Row>, progress: (_ records: Int) -> Void = { _ in }, _ sink: Sink
  ) throws {
    switch format {
    case .delimited(let format, let hasHeader):
      try writeDelimited(rows, DelimitedWriter(format: format), hasHeader: hasHeader, progress, sink)
    case .json: try writeJSON(rows, progress, sink)
    case .ndjson: try write(rows, progress, sink) { Array((json($0) + "\n").utf8) }
    case .plist: try writePlist(rows, progress, sink)
    case .binaryPlist:
      var elements: [PlistValue] = []
      forEach(rows, progress) { elements.append(plist($0)) }
      try sink(BinaryPlistWriter.document(.array(elements)))
    }
  }

  /// Passes a single record to `sink`: in JSON as an object, in a property list as a dictionary.
  package func write(alone row: Row, _ sink: Sink) throws {
    switch format {
    case .json, .ndjson: try sink(Array((json(row) + "\n").utf8))
    case .plist: try sink(try PlistWriter.document(plist(row)))
    case .binaryPlist: try sink(BinaryPlistWriter.document(plist(row)))
    // In Swift 6.3, a CollectionOfOne makes the optimizer crash here.
    case .delimited: try write([row], sink)
    }
  }

  /// Takes the next bytes of the file.
  public typealias Sink = (_ bytes: [UInt8]) throws -> Void
  private typealias Progress = (_ records: Int) -> Void

  /// Collects the bytes of the records into larger pieces.
  private func write(
    _ rows: some Collection<Row>, _ progress: Progress, _ sink: Sink, _ bytes: (Row) throws -> [UInt8]
  ) throws {
    var piece: [UInt8] = []
    try forEach(rows, progress) { row in
      piece += try bytes(row)
      guard piece.count >= 64 << 10 else { return }
      try sink(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if !piece.isEmpty { try sink(piece) }
  }

  private func forEach(
    _ rows: some Collection<Row>, _ progress: Progress, _ body: (Row) throws -> Void
  ) rethrows {
    for (count, row) in zip(1..., rows) {
      try body(row)
      if count % 1_000 == 0 { progress(count) }
    }
  }

  private func writeJSON(_ rows: some Collection<Row>, _ progress: Progress, _ sink: Sink) throws {
    guard !rows.isEmpty else { return try sink(Array("[]\n".utf8)) }
    var lead = "[\n  "
    try write(rows, progress, sink) { row in
      defer { lead = ",\n  " }
      return Array((lead + json(row)).utf8)
    }
    try sink(Array("\n]\n".utf8))
  }

  private func writePlist(_ rows: some Collection<Row>, _ progress: Progress, _ sink: Sink) throws {
    guard !rows.isEmpty else { return try sink(try PlistWriter.document([])) }
    try sink(Array((PlistWriter.header + "<array>\n").utf8))
    try write(rows, progress, sink) { row in
      var writer = PlistWriter()
      writer.append(plist(row), indentation: 1)
      return writer.bytes
    }
    try sink(Array(("</array>\n" + PlistWriter.footer).utf8))
  }

  private func writeDelimited(
    _ rows: some Collection<Row>, _ writer: DelimitedWriter, hasHeader: Bool, _ progress: Progress,
    _ sink: Sink
  ) throws {
    let columns = columns(of: rows)
    try sink(writer.byteOrderMark)
    if hasHeader {
      try sink(
        try line(columns, writer, columns.map(\.title)) { "\($0), which is in the name of the field" })
    }
    try write(rows, progress, sink) { row in
      let record = row.fields
      return try line(
        columns, writer,
        columns.map { $0.value(in: record, of: row.id.plain).map(DelimitedWriter.text(of:)) },
        of: row.id.plain)
    }
  }

  /// - Parameter reason: what is wrong, for a fault of the writer.
  private func line(
    _ columns: [FieldReference], _ writer: DelimitedWriter, _ texts: [String?], of record: AnyRecordID? = nil,
    reason: (String) -> String = { $0 }
  ) throws -> [UInt8] {
    do throws(DelimitedWriter.Fault) { return try writer.bytes(texts) } catch {
      throw StoreError(
        .unrepresentableValue, reason(error.message), record: record, field: columns[error.column].title)
    }
  }

  private func columns(of rows: some Collection<Row>) -> [FieldReference] {
    if let chosen { return withIDs(chosen) }
    var names: Set<[UInt8]> = []
    var columns: [String] = []
    var previous: [String] = []
    for row in rows {
      let fields = row.fields.dictionary.map(\.key)
      // Most records have the same fields as the one before.
      if fields.elementsEqual(previous, by: { compareUTF8($0, $1) == 0 }) { continue }
      columns += fields.filter { names.insert(Array($0.utf8)).inserted }
      previous = fields
    }
    let others = columns.sorted { compareUTF8($0, $1) < 0 }.map(FieldReference.init(field:))
    let known = Set(declared)
    return withIDs(declared + others.filter { !known.contains($0) })
  }

  private func withIDs(_ columns: [FieldReference]) -> [FieldReference] {
    switch ids {
    case .written: columns.withID
    case .omitted: columns.filter { $0 != .id }
    }
  }

  private func json(_ row: Row) -> String {
    switch ids {
    case .written: JSONText.object(id: row.id, chosen(row))
    case .omitted: JSONText.object(chosen(row))
    }
  }

  private func plist(_ row: Row) -> PlistValue {
    var fields = chosen(row).dictionary
    guard case .written = ids else { return .dict(fields) }
    fields["wgFileDbSecretId"] = .string(row.id.description)
    return .dict(fields)
  }

  /// The record with only the chosen fields.
  private func chosen(_ row: Row) -> Fields {
    selection.map { Fields($0.chosen(from: row.fields.dictionary)) } ?? row.fields
  }
}
