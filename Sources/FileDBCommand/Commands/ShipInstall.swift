import ArgumentParser
import FileDB
import FileDBEssentials

struct ShipInstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Install a shipped store in a user's folder, or upgrade it there.",
    discussion: """
      FROM is the shipped store, which filedb only reads. TO is the user's store, which filedb creates if it is \
      missing. If TO has this version already, nothing happens. If it has a later one, the exit code is 65.

      'merge' makes the changes between the shipped versions in the user's tables, and keeps the user's own changes. \
      If both changed the same data, the user's version is kept, and standard error shows the conflict. 'replace' puts \
      the tables of FROM in place of those that were installed before. 'copy' adds the tables that TO does not have. \
      The user's other tables stay as they are.
      """)

  @Argument(help: ArgumentHelp("The folder of the shipped store.", valueName: "from")) var shipped: String
  @Argument(help: ArgumentHelp("The folder of the user's store.", valueName: "to")) var user: String
  @Option(help: ArgumentHelp("The version of FROM: numbers with dots between them.", valueName: "version"))
  var version: ShippedVersion
  @Option(help: "What to do with the user's tables, as described above.")
  var policy: InstallPolicy = .merge
  @Flag(help: "Do everything except write.") var dryRun = false

  func run() throws {
    guard try ![shipped, user].contains(where: { try StoreReference($0).isShared }) else {
      throw ValidationError("'filedb ship install' does not work with a store that machines share.")
    }
    let install = try ShippedInstall(
      from: URL(fileURLWithPath: shipped, isDirectory: true),
      to: URL(fileURLWithPath: user, isDirectory: true),
      version: version, policy: policy)
    let report = try dryRun ? attempt(install) : run(install)
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
    defer { OpenStores.closeAtEnd(install.store) }
    return try install.run { body in
      try log.write(
        named: { "installation of version \($0.version)" }, unlessKept: WriteOptions.noteEndOfHistory,
        discarding: WriteOptions.noteDiscarded, body)
    }
  }

  private func attempt(_ install: ShippedInstall) throws -> InstallReport {
    try install.dryRun { body in
      try install.store.undoLog.dryRun(
        unlessKept: WriteOptions.notePossibleEndOfHistory, discarding: WriteOptions.notePossiblyDiscarded,
        body)
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
  /// The help explains the values above the options.
  public static var allValueDescriptions: [String: String] { [:] }
}
