import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merge two versions of a table's file, record by record.",
    discussion: """
      BASE is the version that OURS and THEIRS both began with. An empty or missing BASE is treated as an empty table. \
      The result goes into OURS. The names of the files do not matter.

      If both changed a field to different values, the result has the value of OURS. If one side deleted a record and \
      the other changed it, the result keeps it. Both are conflicts: standard error shows the values of both sides, \
      and the exit code is 1. The result is still a complete, sound table. If both added a record with the same id, \
      that of THEIRS gets a new id, and standard error says so. With --favor, the result has that side's version \
      instead, and there is no conflict.

      If a file is not a table, the exit code is 65 and OURS stays as it was. 'filedb git setup' makes git merge the \
      tables of a store like this.
      """)

  @OptionGroup var files: MergedFiles
  @Option(help: ArgumentHelp("Write the result here, and leave OURS as it is.", valueName: "file"))
  var output: String?
  @Option(help: ArgumentHelp("The side whose version to take where both disagree.", valueName: "ours|theirs"))
  var favor: MergeRenumbering.Side?
  @Flag(help: "Do everything except write.") var dryRun = false

  func run() throws {
    let merge = try files.merge(favoring: favor)
    if dryRun {
      Terminal.note("dry run: nothing was written")
    } else {
      try merge.merged.write(to: URL(fileURLWithPath: output ?? files.ours))
    }
    try MergeReport(name: files.ours, kind: .files).note(merge)
  }
}

struct GitMerge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merge a table's file for git. Git runs this, after 'filedb git setup'.",
    discussion: """
      Does what 'filedb merge' does with the three files that git names, and calls them by the table's own path in \
      messages. Without --favor, on Linux, it favors the side that 'git merge -X ours' or 'theirs' names. 'filedb conflicts' lists and \
      settles the conflicts that it leaves.

      If two branches have merged each other, git first merges their common versions into one, with --as-base. This \
      reports nothing. It marks what is in conflict, so that it is a conflict again if the branches settled it differently.
      """)

  @OptionGroup var files: MergedFiles
  @Argument(help: "The path of the table's file in the repository.") var path: String
  @Option(help: ArgumentHelp("The side whose version to take where both disagree.", valueName: "ours|theirs"))
  var favor: MergeRenumbering.Side?
  @Flag(help: "Make the common version for another merge.") var asBase = false

  func validate() throws {
    if asBase, favor != nil { throw ValidationError("Give only one of --as-base and --favor.") }
  }

  func run() throws {
    if asBase { return try makeBase() }
    let merge = try files.merge(path: path, favoring: favor ?? GitStrategy.favored())
    try merge.merged.write(to: URL(fileURLWithPath: files.ours))
    TableConflicts.forgetAll(of: path)
    try MergeReport(name: path, kind: .table).note(merge)
  }

  private func makeBase() throws {
    let file = URL(fileURLWithPath: files.ours)
    do { try files.merge(path: path, favoring: nil).asBase.write(to: file) } catch {
      // Git uses the file in any case. The other merge must not take our version for the common one.
      try Data("\(error)\n".utf8).write(to: file)
      throw error
    }
  }
}

/// The three versions of a table's file.
struct MergedFiles: ParsableArguments {
  @Argument(help: ArgumentHelp("The common version.", valueName: "base")) var base: String
  @Argument(help: ArgumentHelp("Our version, which becomes the result.", valueName: "ours")) var ours: String
  @Argument(help: ArgumentHelp("Their version.", valueName: "theirs")) var theirs: String

  /// - Parameter path: the file's path in messages. The names of git's temporary files mean nothing to people.
  fileprivate func merge(
    path: String? = nil, favoring side: MergeRenumbering.Side?
  ) throws -> TableMerge<Fields> {
    func naming<Version>(_ role: String, _ read: () throws -> Version) throws -> Version {
      do { return try read() } catch var error as StoreError {
        error.table = nil
        if let path { error.file = "\(path) (\(role))" }
        throw error
      }
    }
    for file in [base, ours, theirs] { CreatedFiles.restrict(toReadersOf: URL(fileURLWithPath: file)) }
    return try TableMerge(
      base: naming("base") { try baseVersion() },
      ours: naming("ours") { try TableSnapshot(argument: ours) },
      theirs: naming("theirs") { try TableSnapshot(argument: theirs) }, favoring: side)
  }

  /// Git passes an empty file if the table is new on both sides. An unreadable base is an error.
  private func baseVersion() throws -> TableSnapshot<Fields>? {
    let url = URL(fileURLWithPath: base)
    guard FileManager.default.fileExists(atPath: base) else { return nil }
    if InputFile.isRegular(url) {
      return try FileInfo(at: url).size == 0 ? nil : TableSnapshot(argument: base)
    }
    let bytes = try InputFile(url).readAll()
    return try bytes.isEmpty ? nil : TableSnapshot(bytes: bytes, name: base)
  }
}

extension MergeRenumbering.Side: ExpressibleByArgument {}

extension MergeReport {
  /// - Throws: exit code 1 if there are conflicts.
  fileprivate func note(_ merge: TableMerge<Fields>) throws {
    for line in lines(renumbered: merge.renumbered, conflicts: merge.conflicts) { Terminal.note(line) }
    if !merge.conflicts.isEmpty { throw ExitCode(1) }
  }
}
