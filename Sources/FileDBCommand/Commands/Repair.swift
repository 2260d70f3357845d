import ArgumentParser
import FileDB
import FileDBEssentials

struct Repair: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Repair the journal, and the given tables or all.",
    discussion: """
      Prints what it did, with line numbers. Keeps the old file in .filedb/backups. Leaves a file alone if nothing in it \
      looks like a table, or if git left conflict markers in it. If not everything can be repaired, the exit code is 65.

      If another program changed a table's file while commits were waiting in the journal, --keep chooses which version to \
      keep. 'file' discards the commits. 'journal' carries them out on the file as it is. 'both' keeps the file as it is and \
      adds the records that the commits added; a record that they changed is added as a second one.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var tables: [TableReference] = []
  @Option(help: ArgumentHelp("Which version to keep in a conflict.", valueName: "file|journal|both"))
  var keep: ConflictChoice?
  @OptionGroup var options: WriteOptions

  func run() throws {
    var status = try repairJournal()
    let references = try tables.isEmpty ? existingStore().tableNames.map { TableReference(name: $0) } : tables
    for reference in references {
      do {
        try repair(reference.name, in: existingStore(for: reference))
      } catch let error as StoreError where error.exitStatus != 75 {
        Terminal.complain(error.report)
        status = max(status, error.exitStatus)
      }
    }
    if options.dryRun {
      Terminal.note("dry run: nothing was written")
    } else {
      // What is repaired goes into the files. A conflict that is not settled was reported.
      do { try existingStore(for: tables.first).checkpoint() } catch StoreError.Code.conflict {}
    }
    if status > 0 { throw ExitCode(status) }
  }

  /// - Returns: the exit status.
  private func repairJournal() throws -> Int32 {
    let store = try existingStore(for: tables.first)
    if try store.journalRepairPlan() != nil { noteEndOfHistory() }
    let report = options.dryRun ? nil : try store.repairJournal()
    let plan = options.dryRun ? try store.journalRepairPlan() : report?.plan
    for note in plan?.notes ?? [] { Terminal.print("journal: \(note)") }
    if let report { Terminal.print("journal: the file as it was is \(report.backup.path)") }
    guard let plan, plan.lostCount > 0 else { return 0 }
    Terminal.complain("the journal: \(plan.lostCount) pieces could not be read; they are in the backup alone")
    return 65
  }

  private func noteEndOfHistory() {
    Terminal.note(
      "'filedb undo' \(options.dryRun ? "would" : "will") not be able to take back this repair or any command before it"
    )
  }

  private func repair(_ table: String, in store: RecordStore) throws {
    if try !store.repairPlan(for: table, keeping: keep).notes.isEmpty,
      try !store.undoLog.contents().undo.isEmpty
    {
      noteEndOfHistory()
      if !options.dryRun { try store.undoLog.end() }
    }
    let report = options.dryRun ? nil : try store.repair(table, keeping: keep)
    let plan = try report?.plan ?? store.repairPlan(for: table, keeping: keep)
    for note in plan.notes { Terminal.print("\(table): \(note)") }
    if plan.notes.isEmpty { Terminal.print("\(table): sound") }
    for backup in report?.backups ?? [] { Terminal.print("\(table): the original is kept as \(backup.path)") }
    if plan.lostCount > 0 {
      throw StoreError(
        .damagedTable, "\(plan.lostCount) pieces could not be read; they are in the backup alone",
        table: table)
    }
  }
}

extension ConflictChoice: ExpressibleByArgument {}
