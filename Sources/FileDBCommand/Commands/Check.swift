import ArgumentParser
import FileDB

struct Check: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look for damage in the journal, and in the given tables or all.",
    discussion:
      "Prints what it finds, with file and line. The exit code is 65 for damage, but 0 for warnings.")

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
      do {
        findings = try existingStore(for: reference).check(reference.name)
      } catch let error as StoreError {
        // One file that cannot be looked at is no reason to leave out the others.
        Terminal.complain(error.report)
        status = max(status, error.exitStatus)
        continue
      }
      for finding in findings {
        Terminal.print("\(finding.severity == .damage ? "damage" : "warning"): \(finding)")
      }
      if findings.contains(where: { $0.severity == .damage }) { status = max(status, 65) }
      if findings.isEmpty { Terminal.print("\(reference.name): sound") }
    }
    if status > 0 { throw ExitCode(status) }
  }
}
