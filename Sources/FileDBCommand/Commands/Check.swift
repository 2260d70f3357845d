import ArgumentParser
import FileDB

struct Check: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look for damage in the journal, and in the given tables or all.",
    discussion: """
      Prints what it finds, with file and line. The exit code is 65 for damage, but 0 for warnings. Fields that hold \
      values of several types, such as numbers and text, are a warning; use 'filedb set' to correct a value that was \
      given without its type.

      In all formats but table, each finding is a row, and a sound table is a row whose state is 'sound'.

      In the folder of a shared store, this looks at the files that you see, and at the copies from which filedb reads.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var chosen: TableArguments
  @OptionGroup var output: FormatOption

  private var tables: [TableReference] { chosen.references }

  func run() throws {
    var report = CheckReport(output)
    let first = try existingStore(for: tables.first)
    if let finding = try first.checkJournal() { report.add(finding.severity, finding.error) }
    let references = try tables.isEmpty ? first.visibleNames.map { TableReference(name: $0) } : tables
    let isOneStore = !tables.contains(where: \.isPath)
    for reference in references {
      do {
        let store = isOneStore ? first : try existingStore(for: reference)
        let findings = try findings(in: reference.name, of: store)
        // For a table that cannot be read, or a damaged journal, this has been reported.
        let snapshot = try? (store.visibleFiles ?? store).table(reference.name).snapshot()
        let unusual = snapshot.map { $0.mixedFields() + [$0.namelessField()].compactMap(\.self) } ?? []
        for finding in findings { report.add(finding.severity, finding.error) }
        for error in unusual { report.add(.warning, error) }
        if findings.isEmpty, unusual.isEmpty { report.add(sound: reference.name) }
      } catch let error as StoreError {
        // If one file cannot be checked, still check the others.
        report.add(failure: error)
      }
    }
    Terminal.noteEdits(in: first, of: tables.isEmpty ? nil : references.map(\.name))
    if tables.isEmpty {
      try? Terminal.noteStrayFiles(in: first)
      try? Terminal.notePossibleCopies(in: first)
    }
    try report.finish()
  }

  private func findings(in table: String, of store: RecordStore) throws -> [CheckFinding] {
    if let visible = try store.visibleFiles, try visible.hasFile(of: table) {
      let hidden = try store.table(table).exists ? store.check(table) : []
      return try visible.check(table) + hidden.filter { $0.severity == .damage }
    }
    do { return try store.check(table) } catch StoreError.Code.tableNotFound {
      throw try store.table(table).missing()
    }
  }
}

/// The findings of a check. They are printed immediately for people, and as rows at the end for programs.
private struct CheckReport {
  private let output: FormatOption
  private var status: Int32 = 0
  private var rows: [[PlistValue?]] = []

  init(_ output: FormatOption) { self.output = output }

  mutating func add(_ severity: CheckFinding.Severity, _ error: StoreError) {
    let state = severity == .damage ? "damage" : "warning"
    if severity == .damage { status = max(status, 65) }
    guard output.format != .table else { return Terminal.print("\(state): \(error)") }
    rows.append([
      error.table.map(PlistValue.string), .string(state), error.record.map { .integer($0.rawValue) },
      error.field.map(PlistValue.string), .string(error.message), error.file.map(PlistValue.string),
      error.line.map { .integer(Int64($0)) },
    ])
  }

  mutating func add(sound table: String) {
    guard output.format != .table else { return Terminal.print("\(table): sound") }
    rows.append([.string(table), "sound", nil, nil, nil, nil, nil])
  }

  mutating func add(failure error: StoreError) {
    Terminal.complain(error.description)
    status = max(status, error.exitStatus)
  }

  func finish() throws {
    if output.format != .table {
      let titles = ["table", "state", "record", "field", "message", "file", "line"]
      try SummaryPrinter(output: output, titles: titles, keyCount: 0).print(rows)
    }
    if status > 0 { throw ExitCode(status) }
  }
}
