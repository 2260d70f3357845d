import ArgumentParser
import FileDB

struct Delete: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records, by their ids or by a condition.",
    discussion: """
      If one of the records does not exist, or no record matches, nothing is deleted, and the exit code is 1. On a \
      terminal, filedb asks before --where deletes more than half of a table, and before records of other tables are \
      deleted or changed because they refer to the deleted ones. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var records: RecordChoice
  @OptionGroup var options: WriteOptions
  @Flag(help: "Do not ask for confirmation.") var yes = false

  func run() throws {
    let table = try existingTable(table)
    let chosen = try records.chosen()
    try confirm(chosen, table)
    let count = try options.write(table.store) { tx in
      let ids = try chosen.ids(in: tx[table.name].snapshot())
      try tx[table.name].delete(ids)
      return ids.count
    }
    if chosen.isCounted { Terminal.note(count, "deleted", by: options) }
  }

  /// A mistyped condition may match nearly all records, and a deletion may reach into other tables.
  private func confirm(_ records: ChosenRecords, _ table: RecordTable<Fields>) throws {
    guard !yes, !options.dryRun, Terminal.isAnswering else { return }
    let snapshot = try table.snapshot()
    let chosen = try records.ids(in: snapshot)
    let consequences = try table.consequences { try $0.delete(chosen) }
    let isMost = records.isCounted && chosen.count * 2 > snapshot.count
    guard isMost || !consequences.isEmpty else { return }
    let what = "Delete \(chosen.count.grouped) of \(snapshot.count.counted("record")) of '\(table.name.text)'"
    try Terminal.demand(([what] + consequences.map(\.question)).joined(separator: ", and ") + "?")
  }
}
