import ArgumentParser
import FileDB

struct Check: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Look for damage in some tables, or in all.",
    discussion: "Prints what it finds with file and line. Damage exits with 65; a warning does not.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var tables: [TableReference] = []

  func run() throws {
    let references = try tables.isEmpty ? existingStore().tableNames.map { TableReference(name: $0) } : tables
    var damaged = 0
    for reference in references {
      let findings = try existingStore(for: reference).check(reference.name)
      for finding in findings {
        Terminal.print("\(finding.severity == .damage ? "damage" : "warning"): \(finding)")
      }
      if findings.contains(where: { $0.severity == .damage }) { damaged += 1 }
      if findings.isEmpty { Terminal.print("\(reference.name): sound") }
    }
    if damaged > 0 { throw ExitCode(65) }
  }
}
