import ArgumentParser
import FileDB

struct Delete: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records, by their ids or by a condition.",
    discussion: """
      If one of the records does not exist, or no record matches, nothing is deleted, and the exit code is 1. On a \
      terminal, filedb asks before --where deletes more than half of a table, and before records of other tables are \
      deleted or changed because they refer to the deleted ones. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp("The ids of the records.", valueName: "ids"),
    transform: ManyWords.ids)
  var words: [[RecordID<Fields>]] = []
  @OptionGroup var condition: WriteCondition
  @OptionGroup var options: WriteOptions
  @Flag(help: "Do not ask for confirmation.") var yes = false

  private var ids: [RecordID<Fields>] { words.flatMap(\.self) }

  func validate() throws { try condition.matching.validate(besides: ids) }

  func run() throws {
    let table = try existingTable(table)
    try confirm(table)
    let count = try options.write(table.store) { tx -> Int? in
      let matches = try condition.records(of: tx[table.name].snapshot())
      try tx[table.name].delete(matches?.map(\.id) ?? ids)
      return matches?.count
    }
    if let count { Terminal.note(count, "deleted", by: options) }
  }

  /// A mistyped condition may match nearly all records, and a deletion may reach into other tables.
  private func confirm(_ table: RecordTable<Fields>) throws {
    guard !yes, !options.dryRun, Terminal.isAnswering else { return }
    let snapshot = try table.snapshot()
    let chosen = try condition.records(of: snapshot)?.map(\.id) ?? ids
    let consequences = try table.consequences { try $0.delete(chosen) }
    let isMost = condition.matching.isGiven && chosen.count * 2 > snapshot.count
    guard isMost || !consequences.isEmpty else { return }
    let what = "Delete \(chosen.count.grouped) of \(snapshot.count.counted("record")) of '\(table.name.text)'"
    try Terminal.demand(([what] + consequences.map(\.question)).joined(separator: ", and ") + "?")
  }
}
