import ArgumentParser
import FileDB
import Foundation

struct Install: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Bring a shipped store to a user's folder, or up to date there.",
    discussion: """
      FROM is the store as it is shipped, which is only read; TO is the user's, made where it is missing. Where TO has this \
      version already, nothing happens; where it has a later one, the exit code is 65.

      'merge' does to the user's tables what changed between the shipped versions, and keeps what the user did; what both \
      changed stays as the user has it and is told on standard error. 'replace' puts the tables of FROM in the place of those \
      that were installed before. 'copy' adds the tables that TO does not have. The user's other tables stay.
      """)

  @Argument(help: ArgumentHelp("The shipped store's folder.", valueName: "from")) var shipped: String
  @Argument(help: ArgumentHelp("The user's store's folder.", valueName: "to")) var user: String
  @Option(help: ArgumentHelp("Numbers with dots between them.", valueName: "version")) var version:
    ShippedVersion
  @Option(help: ArgumentHelp("What becomes of the user's tables.", valueName: "merge|replace|copy"))
  var policy: InstallPolicy = .merge
  @Flag(help: "Do everything but the writing.") var dryRun = false

  func run() throws {
    let install = try ShippedInstall(
      from: URL(fileURLWithPath: shipped, isDirectory: true),
      to: URL(fileURLWithPath: user, isDirectory: true),
      version: version, policy: policy)
    let report = try dryRun ? install.rehearse() : run(install)
    if dryRun { Terminal.note("dry run: nothing was written") }
    for table in report.tables {
      let lines = MergeReport(name: table.name, kind: .installation).lines(
        renumbered: table.renumbered, conflicts: table.conflicts)
      let kept = table.backups.map { "\(table.name): was damaged, and is kept as \($0.path)" }
      for line in lines + kept { Terminal.note(line) }
    }
    Terminal.print(summary(of: report))
  }

  private func run(_ install: ShippedInstall) throws -> InstallReport {
    let log = install.store.undoLog
    defer { WriteOptions.close(install.store) }
    return try install.run { body in
      try log.write(
        named: { "installation of version \($0.version)" }, unlessKept: WriteOptions.noteEndOfHistory, body)
    }
  }

  private func summary(of report: InstallReport) -> String {
    if report.formerVersion == report.version { return "version \(report.version) is installed already" }
    let former = report.formerVersion.map { ", was \($0)" } ?? ""
    let changed = report.tables.filter(\.isChanged).map(\.name)
    let tables = changed.isEmpty ? "no table changed" : "changed: \(changed.joined(separator: ", "))"
    return "version \(report.version)\(former); \(tables)"
  }
}

extension ShippedVersion: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension InstallPolicy: ExpressibleByArgument {
  public init?(argument: String) {
    switch argument {
    case "merge": self = .merge
    case "replace": self = .replace
    case "copy": self = .copyIfMissing
    default: return nil
    }
  }
  public var defaultValueDescription: String { self == .copyIfMissing ? "copy" : rawValue }
  public static var allValueStrings: [String] { ["merge", "replace", "copy"] }
}
