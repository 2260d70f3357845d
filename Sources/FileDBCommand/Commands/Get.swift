import ArgumentParser
import FileDB
import FileDBExchange
import FileDBPlist

struct Get: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print one record, or one field of it.",
    discussion: """
      A single field is printed as it is: text without quotes, data in base64, arrays and dictionaries as JSON. With \
      --format json it is a JSON value, with --format plist a property list. A.B is the value B in the dictionary A.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The id of the record.") var id: RecordID<Fields>
  @Argument(help: "The field; by default the whole record.") var field: FieldReference?
  @OptionGroup var output: RecordOutput

  func run() throws { try LocalTime.run(in: output.zone) { try printRecord() } }

  private func printRecord() throws {
    let snapshot = try existingTable(table).snapshot()
    let record = try snapshot.record(with: id)
    if let field { return try print(field, of: record, in: snapshot) }
    guard output.format == .table else {
      return try RecordPrinter(output, fields: nil, schema: snapshot.knownSchema).print(record)
    }
    printFields(of: record, in: snapshot.knownSchema)
  }

  private func print(
    _ field: FieldReference, of record: StoredRecord<Fields>, in snapshot: TableSnapshot<Fields>
  ) throws {
    guard let value = field.value(in: record) else {
      let nearest = snapshot.unknownFields(among: [field]).first?.nearest
      throw StoreError(
        .recordNotFound,
        "the record has no such field" + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
        table: snapshot.table, record: id.plain, field: field.title)
    }
    switch output.format {
    case .table: Terminal.print(LocalTime.text(of: value) ?? DelimitedWriter.text(of: value))
    case .json, .ndjson: Terminal.print(JSONText.value(value))
    case .plist: Terminal.print(bytes: try PlistWriter.document(value))
    case .csv, .tsv, .markdown: try RecordPrinter(output, fields: [field]).print([record])
    }
  }

  private func printFields(of record: StoredRecord<Fields>, in schema: TableSchema?) {
    let fields = record.fields.dictionary
    let declared = (schema?.fields ?? []).map(\.name).filter { fields[$0] != nil }
    let keys = declared + fields.keys.filter { schema?[$0] == nil }
    let id = PlistValue.integer(record.id.rawValue)
    let lines = (output.noID ? [] : [("id", id)]) + keys.map { (JSONText.fieldName($0), fields[$0] ?? "") }
    let names = lines.map { TerminalText.defused($0.0) }
    let width = names.map { TerminalText.width($0) }.max() ?? 0
    for (name, (_, value)) in zip(names, lines) {
      let space = String(repeating: " ", count: width - TerminalText.width(name) + 2)
      let cell = value.cell
      let shown = Terminal.styled(cell, ValueKind(value))
      Terminal.printStyled(cell.isEmpty ? name : name + space + shown)
    }
  }
}
