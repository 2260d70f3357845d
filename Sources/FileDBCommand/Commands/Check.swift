import ArgumentParser
import FileDB

struct Check: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look for damage in the journal, and in the given tables or all.",
    discussion: """
      Prints what it finds, with file and line. The exit code is 65 for damage, but 0 for warnings. Fields that hold values \
      of several types, such as numbers and text, are a warning; 'filedb set' mends a value that was given without its type.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var tables: [TableReference] = []

  func run() throws {
    var status: Int32 = 0
    if let finding = try existingStore(for: tables.first).checkJournal() {
      Terminal.print("damage: \(finding)")
      status = 65
    }
    let references = try tables.isEmpty ? existingStore().tableNames.map { TableReference(name: $0) } : tables
    for reference in references {
      let findings: [CheckFinding]
      var mixed: [StoreError] = []
      do {
        let store = try existingStore(for: reference)
        findings = try store.check(reference.name)
        // Of a table that cannot be read, or a damaged journal, that has been said.
        mixed = (try? store.table(reference.name).snapshot().mixedFields()) ?? []
      } catch let error as StoreError {
        // One file that cannot be looked at is no reason to leave out the others.
        Terminal.complain(error.report)
        status = max(status, error.exitStatus)
        continue
      }
      for finding in findings {
        Terminal.print("\(finding.severity == .damage ? "damage" : "warning"): \(finding)")
      }
      for error in mixed { Terminal.print("warning: \(error)") }
      if findings.contains(where: { $0.severity == .damage }) { status = max(status, 65) }
      if findings.isEmpty, mixed.isEmpty { Terminal.print("\(reference.name): sound") }
    }
    if status > 0 { throw ExitCode(status) }
  }
}
