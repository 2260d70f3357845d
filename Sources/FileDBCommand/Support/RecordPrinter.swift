import FileDB
import FileDBExchange
import FileDBPlist

/// Prints records in any format.
struct RecordPrinter {
  /// The number of records that determine the columns of a table: their names, their widths, and which contain numbers.
  /// The other records are printed while they are read.
  static let firstScreen = 500

  private let format: OutputFormat
  private let heading: Heading
  private let ids: TableExport.IDs
  /// The fields to print, in this order; `nil` for all fields of the records, in the order of their UTF-8 bytes.
  private let fields: [FieldReference]?
  /// The table's schema. Its fields come first, in its order.
  private let schema: TableSchema?
  /// The width of a line; `nil` for any length.
  private let width: Int?

  init(
    _ output: RecordOutput, fields: [FieldReference]?, schema: TableSchema? = nil,
    width: Int? = Terminal.width
  ) {
    (format, heading, ids) = (output.format, output.output.heading, output.ids)
    (self.fields, self.schema, self.width) = (fields, schema, width)
  }

  /// - Parameter highestID: no record has a higher id.
  func print(_ records: some Collection<StoredRecord<Fields>>, highestID: Int64 = 0) throws {
    switch format {
    case .table: printTable(records, highestID: highestID)
    case .markdown: printMarkdown(records)
    case .json, .ndjson, .csv, .tsv, .plist: try export?.write(records) { Terminal.print(bytes: $0) }
    }
  }

  /// Prints a single record. In JSON and as a property list, it is not in an array.
  func print(_ record: StoredRecord<Fields>) throws {
    guard let export else { return try print([record]) }
    try export.write(alone: record) { Terminal.print(bytes: $0) }
  }

  /// `nil` for the formats that are printed here.
  private var export: TableExport? {
    let exchange: ExchangeFormat
    switch format {
    case .table, .markdown: return nil
    case .json: exchange = .json
    case .ndjson: exchange = .ndjson
    case .csv: exchange = .delimited(.csv, hasHeader: heading == .shown)
    case .tsv: exchange = .delimited(.tsv, hasHeader: heading == .shown)
    case .plist: exchange = .plist
    }
    var export = TableExport(format: exchange, chosen: fields, schema: schema)
    export.ids = ids
    return export
  }

  /// Prints groups one after another. In a table, they have headings, which replace the columns of `keys`.
  func print(_ groups: [PrintedGroup], by keys: [FieldReference]) throws {
    let records = groups.flatMap(\.records)
    guard format == .table, !records.isEmpty else { return try print(records) }
    let columns = columns(of: records).filter { fields != nil || $0 == .id || !keys.contains($0) }
    var lines = table(records, columns).lines(width: width)[...]
    for line in heading.lines(lines.removeFirst()) { Terminal.printStyled(line) }
    for group in groups {
      let title = TerminalText.truncated("\(group.title) (\(group.records.count))", to: width ?? .max)
      Terminal.printStyled("\n" + Terminal.bold(title))
      for line in lines.prefix(group.records.count) { Terminal.printStyled(line) }
      lines = lines.dropFirst(group.records.count)
    }
    for line in lines { Terminal.printStyled(line) }
  }

  private func columns(of records: some Sequence<StoredRecord<Fields>>) -> [FieldReference] {
    if let fields { return withIDs(fields) }
    var names: Set<FieldName> = []
    for record in records {
      for field in record.fields.dictionary { names.insert(FieldName(field.key)) }
    }
    let declared = (schema?.fields ?? []).map(\.name).filter { names.remove(FieldName($0)) != nil }
    let others = names.map(\.text).sorted { compareUTF8($0, $1) < 0 }
    return withIDs((declared + others).map(FieldReference.init(field:)))
  }

  private func withIDs(_ columns: [FieldReference]) -> [FieldReference] {
    switch ids {
    case .written: columns.withID
    case .omitted: columns.filter { $0 != .id }
    }
  }

  private func printMarkdown(_ records: some Collection<StoredRecord<Fields>>) {
    let columns = columns(of: records)
    if columns.isEmpty || records.isEmpty { return }
    let values = records.map { Self.values(of: $0, columns) }
    let markdown = MarkdownTable(
      columns: columns.indices.map { column in
        TextTable.Column(title: columns[column].title, isNumeric: Self.isNumeric(column, in: values))
      })
    for line in heading == .shown ? markdown.heading : [] { Terminal.print(line) }
    for row in values { Terminal.print(markdown.line(row)) }
  }

  /// If there are no records, prints nothing, not even a heading.
  private func printTable(_ records: some Collection<StoredRecord<Fields>>, highestID: Int64) {
    let first = Array(records.prefix(Self.firstScreen))
    let columns = columns(of: first)
    if first.isEmpty || columns.isEmpty { return }
    let rest = records.dropFirst(first.count)
    let table = table(first, columns)
    guard !rest.isEmpty else {
      for line in table.lines(width: width, heading: heading) { Terminal.printStyled(line) }
      return
    }
    let leastWidths = columns.firstIndex(of: .id).map { [$0: highestID.description.count] } ?? [:]
    let layout = TextLayout(table, leastWidths: leastWidths, width: width)
    for line in heading.lines(layout.title) + table.rows.map({ layout.line($0) }) {
      Terminal.printStyled(line)
    }
    Terminal.flush()
    var others = OtherFields(than: columns)
    for record in rest {
      let decoded = record.fields
      Terminal.printStyled(
        layout.laterLine(columns.map { TextCell($0.value(in: decoded, of: record.id.plain)) }))
      if fields == nil { others.look(at: decoded) }
    }
    if let note = layout.note { Terminal.printStyled(note) }
    guard let note = others.note else { return }
    Terminal.flush()  // On a terminal, the table comes before notes.
    Terminal.note(note)
  }

  private func table(_ records: [StoredRecord<Fields>], _ fields: [FieldReference]) -> TextTable {
    let values = records.map { Self.values(of: $0, fields) }
    let columns = fields.enumerated().map { column, field in
      TextTable.Column(
        title: TerminalText.defused(field.title), isNumeric: Self.isNumeric(column, in: values))
    }
    return TextTable(columns: columns, rows: values.map { $0.map { TextCell($0) } })
  }

  private static func values(of record: StoredRecord<Fields>, _ fields: [FieldReference]) -> [PlistValue?] {
    let decoded = record.fields  // Decode the record only once.
    return fields.map { $0.value(in: decoded, of: record.id.plain) }
  }

  private static func isNumeric(_ column: Int, in rows: [[PlistValue?]]) -> Bool {
    rows.contains { $0[column] != nil } && rows.allSatisfy { $0[column]?.isNumeric ?? true }
  }
}
