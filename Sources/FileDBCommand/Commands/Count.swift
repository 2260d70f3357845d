import ArgumentParser
import FileDB

struct Count: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print the number of records.",
    discussion: """
      With --group, prints the number of records for each value of a field, as a table for people. The values come in the \
      order of their first records. If no record matches --where, the exit code is 1. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @OptionGroup var matching: WhereOption
  @Option(help: ArgumentHelp("Count the records for each value of this field.", valueName: "field"))
  var group: FieldReference?

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let matches = try matching.matches(in: snapshot)
    let count: Int
    if let group {
      Terminal.noteUnknown([group], in: snapshot)
      let records = matches?.records ?? Array(snapshot)
      printCounts(RecordGroup.groups(of: records, by: group), of: group)
      count = records.count
    } else {
      count = matches?.count ?? snapshot.count
      Terminal.print(count.description)
    }
    if matching.isGiven, count == 0 { throw StoreError.noMatch(in: table.name) }
  }

  private func printCounts(_ groups: [RecordGroup], of field: FieldReference) {
    if groups.isEmpty { return }
    let isNumeric = groups.allSatisfy { field.value(in: $0.records[0])?.isNumeric ?? true }
    let columns = [
      TextTable.Column(title: TerminalText.defused(field.title), isNumeric: isNumeric),
      TextTable.Column(title: "records", isNumeric: true),
    ]
    let table = TextTable(columns: columns, rows: groups.map { [$0.title, $0.records.count.description] })
    for line in table.lines(width: Terminal.width) { Terminal.printStyled(line) }
  }
}
