import ArgumentParser
import FileDB
import FileDBExchange

struct Tables: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "List the tables of the store.",
    discussion: "In all formats but table, the size of a table's file is a number of bytes.")

  @OptionGroup var location: StoreLocation
  @OptionGroup var output: FormatOption

  func run() throws {
    let store = try existingStore()
    defer { try? Terminal.noteStrayFiles(in: store) }
    guard output.format == .table else { return try printRows(of: store) }
    let rows = try store.tableNames.map { name in
      do {
        let table = try found(name, in: store)
        return try [name, table.count.description, FileInfo.size(of: table), ""]
      } catch let error as StoreError {
        return [name, "", "", error.message]
      }
    }
    let columns = [
      TextTable.Column(title: "table"), TextTable.Column(title: "records", isNumeric: true),
      TextTable.Column(title: "size", isNumeric: true),
      TextTable.Column(title: rows.contains { $0[3] != "" } ? "problem" : ""),
    ]
    let cells = rows.map { $0.map { TerminalText.defused($0) } }
    let table = TextTable(columns: columns, rows: cells)
    for line in table.lines(width: Terminal.width, heading: output.heading) { Terminal.printStyled(line) }
  }

  /// - Throws: ``StoreError/Code/tableNotFound`` if its file is a link that leads nowhere.
  private func found(_ name: String, in store: RecordStore) throws -> RecordTable<Fields> {
    let table = try store.table(name)
    guard try table.exists else { throw try table.missing() }
    return table
  }

  private func printRows(of store: RecordStore) throws {
    let rows = try store.tableNames.map { name -> [PlistValue?] in
      do {
        let table = try found(name, in: store)
        // A new table may exist only in the journal.
        let size = try? FileInfo(of: table).size
        return try [.string(name), .integer(Int64(table.count)), size.map(PlistValue.integer), nil]
      } catch let error as StoreError {
        return [.string(name), nil, nil, .string(error.message)]
      }
    }
    try SummaryPrinter(output: output, titles: ["table", "records", "bytes", "problem"], keyCount: 1).print(
      rows)
  }
}
