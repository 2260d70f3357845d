import ArgumentParser
import FileDB
import FileDBExchange

struct Get: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print one record, or one field of it.",
    discussion:
      "A field alone is printed as it is: text plainly, data in base64, arrays and dictionaries as JSON.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var id: RecordID
  @Argument var field: String?
  @OptionGroup var output: FormatOption

  func run() throws {
    let record = try existingTable(table).snapshot.record(with: id)
    if let field {
      guard let value = record.fields[field] else {
        throw StoreError(
          StoreError.recordNotFound, "the record has no such field", table: table.name, record: id,
          field: field)
      }
      Terminal.print(DelimitedWriter.text(of: value))
    } else if output.format == .table {
      printFields(of: record)
    } else {
      try RecordPrinter(format: output.format, fields: nil).print([record])
    }
  }

  private func printFields(of record: StoredRecord<Fields>) {
    let names = ["id"] + record.fields.dictionary.keys.map { TerminalText.defused($0) }
    let values = [record.id.description] + record.fields.dictionary.map(\.value.cell)
    let width = names.map { TerminalText.width($0) }.max() ?? 0
    for (name, value) in zip(names, values) {
      let space = String(repeating: " ", count: width - TerminalText.width(name) + 2)
      Terminal.print(value.isEmpty ? name : name + space + value)
    }
  }
}
