import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merge two versions of a table's file, record by record: git's merge driver.",
    discussion: """
      BASE is the version that OURS and THEIRS both began with. If BASE is empty or missing, it counts as an empty table. The \
      result goes into OURS. The names of the files do not matter.

      If both changed a field to different values, the result has the value of OURS. If one side deleted a record and the \
      other changed it, the result keeps it. Both are conflicts: standard error shows the values of both sides, and the exit \
      code is 1. The result is still a complete, sound table. If both added a record with the same id, that of THEIRS gets a \
      new id, and standard error says so.

      If a file is not a table, the exit code is 65 and OURS stays as it was. 'filedb git-setup' makes git use this command.
      """)

  @Argument(help: "The version both began with.") var base: String
  @Argument(help: "Our version, which becomes the result.") var ours: String
  @Argument(help: "Their version.") var theirs: String
  @Option(help: ArgumentHelp("Write the result here, and leave OURS as it is.", valueName: "file"))
  var output: String?
  @Option(help: ArgumentHelp("The file's name in messages.", valueName: "name")) var path: String?
  @Flag(help: "Do everything except write.") var dryRun = false

  func run() throws {
    let merge = try TableMerge(
      base: baseVersion(), ours: version("ours", in: ours),
      theirs: version("theirs", in: theirs))
    if dryRun {
      Terminal.note("dry run: nothing was written")
    } else {
      try merge.merged.write(to: URL(fileURLWithPath: output ?? ours))
    }
    let report = MergeReport(name: path ?? ours, kind: .files)
    for line in report.lines(renumbered: merge.renumbered, conflicts: merge.conflicts) { Terminal.note(line) }
    if !merge.conflicts.isEmpty { throw ExitCode(1) }
  }

  /// Git gives an empty file where the table is new on both sides. One that cannot be read is an error.
  private func baseVersion() throws -> TableSnapshot<Fields>? {
    let url = URL(fileURLWithPath: base)
    guard FileManager.default.fileExists(atPath: base) else { return nil }
    if InputFile.isRegular(url) { return try FileInfo(at: url).size == 0 ? nil : version("base", in: base) }
    let bytes = try InputFile(url).readAll()
    return bytes.isEmpty ? nil : try named("base") { try TableSnapshot(bytes: bytes, name: base) }
  }

  private func version(_ role: String, in file: String) throws -> TableSnapshot<Fields> {
    try named(role) { try TableSnapshot(argument: file) }
  }

  private func named(
    _ role: String, _ read: () throws -> TableSnapshot<Fields>
  ) throws -> TableSnapshot<Fields> {
    do {
      return try read()
    } catch let error as StoreError {
      // Git's files have names that tell nobody anything.
      var named = error
      named.table = nil
      if let path { named.file = "\(path) (\(role))" }
      throw named
    }
  }
}
