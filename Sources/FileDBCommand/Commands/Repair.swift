import ArgumentParser
import FileDB

struct Repair: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Mend some tables, or all that need it.",
    discussion: """
      Says what it did, with the lines. The file as it was is kept in .filedb/backups. A file in which nothing looks like a \
      table is left alone. Where not all can be mended, the exit code is 65.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var tables: [TableReference] = []
  @OptionGroup var options: WriteOptions

  func run() throws {
    let references = try tables.isEmpty ? existingStore().tableNames.map { TableReference(name: $0) } : tables
    var status: Int32 = 0
    for reference in references {
      do {
        try repair(reference.name, in: existingStore(for: reference))
      } catch let error as StoreError where error.exitStatus != 75 {
        Terminal.complain(error.description)
        status = max(status, error.exitStatus)
      }
    }
    if options.dryRun { Terminal.note("dry run: nothing was written") }
    if status > 0 { throw ExitCode(status) }
  }

  private func repair(_ table: String, in store: RecordStore) throws {
    let (plan, backup) = options.dryRun ? (try store.repairPlan(for: table), nil) : try store.repair(table)
    for note in plan.notes { Terminal.print("\(table): \(note)") }
    if plan.notes.isEmpty { Terminal.print("\(table): sound") }
    if let backup { Terminal.print("\(table): the file as it was is \(backup.path)") }
    if plan.lostCount > 0 {
      throw StoreError(
        StoreError.damagedTable, "\(plan.lostCount) pieces could not be read; they are in the backup alone",
        table: table)
    }
  }
}
