import ArgumentParser
import FileDB

struct Repair: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Mend some tables, or all that need it.",
    discussion: """
      Says what it did, with the lines. The file as it was is kept in .filedb/backups. A file in which nothing looks like a \
      table is left alone, and the exit code is 65.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var tables: [TableReference] = []
  @OptionGroup var options: WriteOptions

  func run() throws {
    let references = try tables.isEmpty ? existingStore().tableNames.map { TableReference(name: $0) } : tables
    var failed = false
    for reference in references {
      do {
        try repair(reference.name, in: existingStore(for: reference))
      } catch let error as StoreError where error.exitStatus == 65 {
        Terminal.complain(error.description)
        failed = true
      }
    }
    if options.dryRun { Terminal.note("dry run: nothing was written") }
    if failed { throw ExitCode(65) }
  }

  private func repair(_ table: String, in store: RecordStore) throws {
    let (plan, backup) = options.dryRun ? (try store.repairPlan(for: table), nil) : try store.repair(table)
    for note in plan.notes { Terminal.print("\(table): \(note)") }
    if plan.notes.isEmpty { Terminal.print("\(table): sound") }
    if let backup { Terminal.print("\(table): the file as it was is \(backup.path)") }
  }
}
