import ArgumentParser
import FileDB

struct Delete: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records, by their ids or by a condition.",
    discussion: """
      If one of the records does not exist, or no record matches, nothing is deleted, and the exit code is 1. On a \
      terminal, filedb asks before --where deletes more than half of a table. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The ids of the records.") var ids: [RecordID<Fields>] = []
  @OptionGroup var condition: WriteCondition
  @OptionGroup var options: WriteOptions
  @Flag(help: "Do not ask, even if this deletes more than half of the table.") var yes = false

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

  /// A mistyped condition may match nearly all records.
  private func confirm(_ table: RecordTable<Fields>) throws {
    guard condition.matching.isGiven, !yes, !options.dryRun, Terminal.isAnswering else { return }
    let snapshot = try table.snapshot()
    let count = try condition.records(of: snapshot)?.count ?? 0
    guard count * 2 > snapshot.count else { return }
    let question = "Delete \(count.grouped) of \(snapshot.count.counted("record")) of '\(table.name.text)'?"
    if !Terminal.confirm(question) { throw ExitCode(1) }
  }
}
