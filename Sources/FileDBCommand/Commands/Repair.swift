import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Repair: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Repair the journal, and the given tables or all.",
    discussion: """
      Prints what it did, with line numbers, and keeps the old file in the backups. If a field breaks a rule of \
      the table's schema, two things are corrected: a missing field gets its default value, and text that can be read \
      as the declared type is converted. Other violations are only reported. A file is left alone if nothing in it \
      looks like a table. If not everything can be repaired, the exit code is 65.

      If git merged a file as text and left conflict markers in it, filedb merges the two versions record by record, \
      as 'filedb merge' does. It takes the versions from git if git still has them, and otherwise from between the \
      markers. A field that both branches changed keeps the value of the branch that you are on. Such conflicts are \
      printed, and the exit code is 1. 'filedb conflicts list' shows them again, and 'filedb conflicts take' settles them.

      If another program changed a table's file while commits were waiting in the journal, --keep chooses the version \
      to keep. 'file' discards the commits. 'journal' applies the commits to the file. 'both' keeps the file as it is \
      and adds the records that the commits added; a record that they changed is added as a second one.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var chosen: TableArguments
  @Option(help: ArgumentHelp("Which version to keep in a conflict.", valueName: "file|journal|both"))
  var keep: ConflictChoice?
  @OptionGroup var options: WriteOptions

  private var tables: [TableReference] { chosen.references }

  func run() throws {
    let store = try existingStore(for: tables.first)
    var status = try repairJournal(of: store)
    let references = try tables.isEmpty ? store.visibleNames.map { TableReference(name: $0) } : tables
    let isOneStore = !tables.contains(where: \.isPath)
    for reference in references {
      do {
        let hasConflicts = try repair(reference.name, in: isOneStore ? store : existingStore(for: reference))
        status = max(status, hasConflicts ? 1 : 0)
      } catch let error as StoreError where error.exitStatus != 75 {
        Terminal.complain(error.description)
        status = max(status, error.exitStatus)
      }
    }
    if options.dryRun {
      Terminal.note("dry run: nothing was written")
    } else {
      // Write the repaired tables into their files. A conflict that is not settled has been reported.
      do { try store.checkpoint() } catch StoreError.Code.conflict {}
    }
    if status > 0 { throw ExitCode(status) }
  }

  /// - Returns: the exit status.
  private func repairJournal(of store: RecordStore) throws -> Int32 {
    if try store.journalRepairPlan() != nil { noteEndOfHistory() }
    guard let report = try options.dryRun ? store.journalRepairPlan() : store.repairJournal() else {
      return 0
    }
    for note in report.notes { Terminal.print("journal: \(note)") }
    if let backup = report.backup { Terminal.print("journal: the file as it was is \(backup.path)") }
    guard report.lostCount > 0 else { return 0 }
    Terminal.complain("the journal: \(lost(report.lostCount))")
    return 65
  }

  private func noteEndOfHistory() {
    Terminal.note(
      "'filedb undo' \(options.dryRun ? "would" : "will") not be able to undo this repair or any command before it"
    )
  }

  /// - Returns: whether the table now has conflicts of a merge.
  private func repair(_ table: String, in store: RecordStore) throws -> Bool {
    if let visible = try store.visibleFiles, let report = try repair(table, in: visible, of: store) {
      return try finish(report)
    }
    let report = try repairFile(table, in: store)
    // A dry run leaves a damaged table as it is, so its records cannot be read.
    let fields = options.dryRun && !report.notes.isEmpty ? [] : try fieldRepairs(of: table, in: store)
    for field in fields {
      Terminal.print("\(table): \(field.text)")
    }
    if report.notes.isEmpty, fields.isEmpty { Terminal.print("\(table): sound") }
    if fields.contains(where: { $0.change != nil }) { try repairFields(of: table, in: store) }
    return try finish(report)
  }

  /// Repairs a file that people see in the folder of a shared store.
  /// - Returns: `nil` if it is not damaged, or not there.
  private func repair(_ table: String, in visible: RecordStore, of store: RecordStore) throws -> RepairReport?
  {
    guard try visible.hasFile(of: table) else { return nil }
    let report: RepairReport
    do { report = try repairFile(table, in: visible) } catch var error as StoreError {
      error.message += "; if you remove the file, 'filedb shared sync' puts that of the store in its place"
      throw error
    }
    if report.notes.isEmpty { return nil }
    if !options.dryRun, try store.table(table).exists {
      let left = Set(try visible.table(table).snapshot().map(\.id))
      let lost = try store.table(table).snapshot().count { !left.contains($0.id) }
      // Otherwise, the records that could not be read would be deleted on all machines.
      if lost > 0 {
        try FileManager.default.removeItem(at: visible.table(table).url)
        Terminal.note(
          "\(table): the repaired file lacks \(lost.counted("record")) of the store, whose file is back in its place"
        )
      }
    }
    Terminal.noteEdits(in: store, of: [table])
    return report
  }

  /// Repairs the file of a table, and says how.
  private func repairFile(_ table: String, in store: RecordStore) throws -> RepairReport {
    let versions = { file in try UnmergedFile(URL(fileURLWithPath: file))?.versions() }
    let planned = try store.repairPlan(for: table, keeping: keep, versions: versions)
    if !planned.notes.isEmpty, try !store.undoLog.contents().undo.isEmpty {
      noteEndOfHistory()
      if !options.dryRun { try store.undoLog.end() }
    }
    let report = options.dryRun ? planned : try store.repair(table, keeping: keep, versions: versions)
    for note in report.notes { Terminal.print("\(table): \(note)") }
    let merge = MergeReport(name: table, kind: .table)
    for line in merge.lines(renumbered: report.renumbered, conflicts: report.conflicts) {
      Terminal.note(line)
    }
    for backup in report.backups { Terminal.print("\(table): the original is kept as \(backup.path)") }
    return report
  }

  private func finish(_ report: RepairReport) throws -> Bool {
    if report.lostCount > 0 {
      throw StoreError(.damagedTable, lost(report.lostCount), table: report.table)
    }
    return !report.conflicts.isEmpty
  }

  private func lost(_ count: Int) -> String {
    count == 1
      ? "1 piece could not be read; only the backup has it"
      : "\(count) pieces could not be read; only the backup has them"
  }
}

extension Repair {
  /// What a repair would do to fields that do not match the schema.
  fileprivate func fieldRepairs(of table: String, in store: RecordStore) throws -> [FieldRepair] {
    guard try store.table(table).snapshot().knownSchema != nil else { return [] }
    return try store.dryRun { tx in try tx[table].repairFields { $0.converted(to: $1) } }
  }

  /// Repairs these fields, by a normal write.
  fileprivate func repairFields(of table: String, in store: RecordStore) throws {
    if options.dryRun { return }
    try options.write(store, named: "repair of fields in \(table)") { tx in
      _ = try tx[table].repairFields { $0.converted(to: $1) }
    }
  }
}

extension ConflictChoice: ExpressibleByArgument {}
