import ArgumentParser
import FileDB

struct Tables: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "List the tables of the store.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool

  func run() throws {
    let store = try existingStore()
    let rows = try store.tableNames.map { name in
      do {
        let table = try store.table(name)
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
    for line in TextTable(columns: columns, rows: cells).lines(width: Terminal.width) {
      Terminal.printStyled(line)
    }
  }
}
