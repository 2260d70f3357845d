import ArgumentParser
import FileDB
import FileDBExchange

/// How records are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people; may change. The others are stable.
  case table
  case json, ndjson, csv, tsv, plist

  /// `nil` for a table.
  fileprivate var exchange: ExchangeFormat? {
    switch self {
    case .table: nil
    case .json: .json
    case .ndjson: .ndjson
    case .csv: .delimited(.csv)
    case .tsv: .delimited(.tsv)
    case .plist: .plist
    }
  }
}

struct FormatOption: ParsableArguments {
  @Option(help: "The output format; table is for people and may change, the others are stable.")
  var format = OutputFormat.table
}

/// Prints records in any of the formats.
struct RecordPrinter {
  /// So many records decide about the columns of a table: their names, their widths, and which have numbers. The others
  /// are printed as they are read.
  static let firstScreen = 500

  let format: OutputFormat
  /// The fields to print, in this order; `nil` for all that occur, in the order of their UTF-8 bytes.
  let fields: [FieldReference]?
  /// What the table declares: its fields come first, in this order.
  var schema: TableSchema?

  /// - Parameter highestID: no record has a higher id.
  func print(_ records: some Collection<StoredRecord<Fields>>, highestID: Int64 = 0) throws {
    guard let exchange = format.exchange else { return printTable(records, highestID: highestID) }
    try TableExport(format: exchange, chosen: fields, schema: schema).write(records) {
      Terminal.print(bytes: $0)
    }
  }

  /// Prints one record by itself: in JSON and as a property list it is no array.
  func print(_ record: StoredRecord<Fields>) throws {
    guard let exchange = format.exchange else { return printTable([record], highestID: 0) }
    try TableExport(format: exchange, chosen: fields, schema: schema).write(alone: record) {
      Terminal.print(bytes: $0)
    }
  }

  /// Prints groups one behind the other; as a table under headings, which stand for the column of `field`.
  func print(_ groups: [PrintedGroup], by field: FieldReference) throws {
    let records = groups.flatMap(\.records)
    guard format == .table, !records.isEmpty else { return try print(records) }
    var lines = tableLines(
      records, columns(of: records).filter { fields != nil || field == .id || $0 != field })[...]
    Terminal.printStyled(lines.removeFirst())
    for group in groups {
      let heading = TerminalText.truncated(
        "\(group.title) (\(group.records.count))", to: Terminal.width ?? .max)
      Terminal.printStyled("\n" + Terminal.bold(heading))
      for line in lines.prefix(group.records.count) { Terminal.printStyled(line) }
      lines = lines.dropFirst(group.records.count)
    }
    for line in lines { Terminal.printStyled(line) }
  }

  private func columns(of records: [StoredRecord<Fields>]) -> [FieldReference] {
    if let fields { return fields.withID }
    var columns = PlistDictionary()
    for record in records {
      for field in record.fields.dictionary where columns[field.key] == nil { columns[field.key] = true }
    }
    let declared = (schema?.fields ?? []).map(\.name).filter { columns[$0] != nil }
    for name in declared { columns[name] = nil }
    return (declared + columns.keys).map(FieldReference.init(field:)).withID
  }

  /// Without records there is nothing to see, not even a title.
  private func printTable(_ records: some Collection<StoredRecord<Fields>>, highestID: Int64) {
    let first = Array(records.prefix(Self.firstScreen))
    if first.isEmpty { return }
    let columns = columns(of: first)
    let rest = records.dropFirst(first.count)
    guard !rest.isEmpty else {
      for line in tableLines(first, columns) { Terminal.printStyled(line) }
      return
    }
    let table = table(first, columns)
    let leastWidths = columns.firstIndex(of: .id).map { [$0: highestID.description.count] } ?? [:]
    let layout = TextLayout(table, leastWidths: leastWidths, width: Terminal.width)
    for line in [layout.title] + table.rows.map({ layout.line($0) }) { Terminal.printStyled(line) }
    Terminal.flush()
    var others = OtherFields(than: columns)
    for record in rest {
      let decoded = record.fields
      Terminal.printStyled(
        layout.laterLine(columns.map { $0.value(in: decoded, of: record.id.plain)?.cell ?? "" }))
      if fields == nil { others.look(at: decoded) }
    }
    if let note = layout.note { Terminal.printStyled(note) }
    guard let note = others.note else { return }
    Terminal.flush()  // On a terminal the table comes first.
    Terminal.note(note)
  }

  /// The title, a line for each record, and what else there is to say.
  private func tableLines(_ records: [StoredRecord<Fields>], _ fields: [FieldReference]) -> [String] {
    table(records, fields).lines(width: Terminal.width)
  }

  private func table(_ records: [StoredRecord<Fields>], _ fields: [FieldReference]) -> TextTable {
    let values = records.map { record in
      let decoded = record.fields  // Once.
      return fields.map { $0.value(in: decoded, of: record.id.plain) }
    }
    let columns = fields.enumerated().map { column, field in
      TextTable.Column(
        title: TerminalText.defused(field.title),
        isNumeric: values.contains { $0[column] != nil }
          && values.allSatisfy { $0[column]?.isNumeric ?? true })
    }
    return TextTable(columns: columns, rows: values.map { $0.map { $0?.cell ?? "" } })
  }
}

/// The fields that only later records have, which a table that has begun has no columns for.
private struct OtherFields {
  private let shown: [FieldReference]
  private var last: [String] = []
  private var names = PlistDictionary()

  init(than shown: [FieldReference]) { self.shown = shown }

  mutating func look(at fields: Fields) {
    let keys = fields.dictionary.keys
    // Most records have the fields of the one before.
    if keys.elementsEqual(last, by: { $0.utf8.elementsEqual($1.utf8) }) { return }
    last = keys
    for key in keys where !shown.contains(FieldReference(field: key)) { names[key] = true }
  }

  /// `nil` where there are none.
  var note: String? {
    if names.isEmpty { return nil }
    let list = names.keys.map { FieldReference(field: $0).title }.joined(separator: ", ")
    return "fields that only later records have are not shown; choose with --fields: \(list)"
  }
}
