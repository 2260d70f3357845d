import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Merge: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merge two versions of a table's file, record by record: git's merge driver.",
    usage: """
      filedb merge [--output <file>] [--favor <ours|theirs>] [--path <name>] [--dry-run] <base> <ours> <theirs>
      filedb merge --list [<table> ...]
      filedb merge --take <ours|theirs> [<table>] [<id[.field]> ...] [--dry-run]
      """,
    discussion: """
      BASE is the version that OURS and THEIRS both began with. An empty or missing BASE is treated as an empty table. \
      The result goes into OURS. The names of the files do not matter.

      If both changed a field to different values, the result has the value of OURS. If one side deleted a record and \
      the other changed it, the result keeps it. Both are conflicts: standard error shows the values of both sides, \
      and the exit code is 1. The result is still a complete, sound table. If both added a record with the same id, \
      that of THEIRS gets a new id, and standard error says so. With --favor, the result has that side's version \
      instead, and there is no conflict; on Linux, 'git merge -X theirs' does the same.

      If a file is not a table, the exit code is 65 and OURS stays as it was. 'filedb git-setup' makes git use this command.

      --list prints the conflicts of a store's tables that nobody has settled: those of files that git lists as \
      unmerged, and those that 'filedb repair' found. The exit code is 1 if there are some. --take settles them: all, \
      those of one table, or of the records and fields that you name. It changes the records as 'filedb set' and \
      'filedb delete' do, and stages nothing.
      """)

  static var places: StorePlaces { .folders }

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(
    help: ArgumentHelp(
      "The three versions; with --list and --take, what they are about.", valueName: "file|table"))
  var words: [String] = []
  @Option(help: ArgumentHelp("Write the result here, and leave OURS as it is.", valueName: "file"))
  var output: String?
  @Option(help: ArgumentHelp("The side whose version to take where both disagree.", valueName: "ours|theirs"))
  var favor: MergeSideName?
  @Option(help: ArgumentHelp("The file's name in messages.", valueName: "name")) var path: String?
  @Flag(help: "Print the conflicts that are not settled.") var list = false
  @Option(help: ArgumentHelp("Settle conflicts by this side's version.", valueName: "ours|theirs"))
  var take: MergeSideName?
  @OptionGroup var options: WriteOptions

  func validate() throws {
    if list, take != nil { throw ValidationError("Give only one of --list and --take.") }
    if list || take != nil {
      guard output == nil, favor == nil, path == nil else {
        throw ValidationError("--output, --favor and --path are for merging files.")
      }
    } else if words.count != 3 {
      throw ValidationError("Name the three files BASE, OURS and THEIRS, or give --list or --take.")
    }
  }

  func run() throws {
    if list {
      try listConflicts()
    } else if let take {
      try settle(taking: take.side)
    } else {
      try mergeFiles()
    }
  }

  private func mergeFiles() throws {
    let (base, ours, theirs) = (words[0], words[1], words[2])
    let merge = try TableMerge(
      base: baseVersion(base), ours: version("ours", in: ours), theirs: version("theirs", in: theirs),
      favoring: favor?.side ?? GitStrategy.favored())
    if options.dryRun {
      Terminal.note("dry run: nothing was written")
    } else {
      try merge.merged.write(to: URL(fileURLWithPath: output ?? ours))
      if let path { TableConflicts.forgetAll(of: path) }
    }
    let report = MergeReport(name: path ?? ours, kind: path == nil ? .files : .table)
    for line in report.lines(renumbered: merge.renumbered, conflicts: merge.conflicts) { Terminal.note(line) }
    if !merge.conflicts.isEmpty { throw ExitCode(1) }
  }

  /// Git passes an empty file if the table is new on both sides. An unreadable base is an error.
  private func baseVersion(_ base: String) throws -> TableSnapshot<Fields>? {
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
      // The names of git's temporary files mean nothing to people.
      var named = error
      named.table = nil
      if let path { named.file = "\(path) (\(role))" }
      throw named
    }
  }
}

/// A side as it is written on the command line.
enum MergeSideName: String, ExpressibleByArgument, CaseIterable {
  case ours, theirs

  var side: MergeRenumbering.Side { self == .ours ? .ours : .theirs }
}

// MARK: - Settling conflicts later

extension Merge {
  private func listConflicts() throws {
    let references = words.map(TableReference.init(argument:))
    let tables = try references.isEmpty ? TableConflicts.all(in: existingStore()) : references.map(conflicts)
    for table in tables {
      let report = MergeReport(name: table.name, kind: .table)
      for conflict in table.open { for line in report.lines(conflict) { Terminal.print(line) } }
    }
    let count = tables.reduce(0) { $0 + $1.open.count }
    guard count > 0 else { return Terminal.note("no conflicts") }
    Terminal.note(
      "\(count == 1 ? "1 conflict" : "\(count) conflicts"); 'filedb merge --take ours|theirs' settles them")
    throw ExitCode(1)
  }

  private func conflicts(of reference: TableReference) throws -> TableConflicts {
    let table = try existingTable(reference)
    return try TableConflicts(table.name.text, in: table.store)
  }

  private func settle(taking side: MergeRenumbering.Side) throws {
    for (table, targets) in try choice() {
      let chosen = targets.isEmpty ? table.open : try table.conflicts(named: targets)
      try settle(chosen, of: table, taking: side)
    }
  }

  /// The chosen tables, and which of their conflicts; all conflicts if none are named.
  private func choice() throws -> [(TableConflicts, [String])] {
    guard let first = words.first else {
      return try TableConflicts.all(in: existingStore()).filter { !$0.open.isEmpty }.map { ($0, []) }
    }
    let reference = TableReference(argument: first)
    if try reference.isPath || AnyRecordID(String(first.prefix { $0 != "." })) == nil
      || existingStore().table(reference.name).exists
    {
      return [(try conflicts(of: reference), Array(words.dropFirst()))]
    }
    let tables = try TableConflicts.all(in: existingStore()).filter { !$0.open.isEmpty }
    guard tables.count == 1 else {
      let names = tables.map { "'\($0.name)'" }.joined(separator: ", ")
      throw ValidationError(
        tables.isEmpty ? "There are no conflicts." : "Name the table first; there are conflicts in \(names).")
    }
    return [(tables[0], words)]
  }

  private func settle(
    _ chosen: [MergeConflict], of table: TableConflicts, taking side: MergeRenumbering.Side
  ) throws {
    let name = TableName.records(table.name)
    let settled = chosen.filter { side == .ours || $0.record != nil }
    try options.write(table.store, named: "merge of \(table.name), taking \(side)") { tx in
      for conflict in settled {
        guard let id = conflict.record.map(RecordID<Fields>.init) else { continue }
        switch conflict.settlement(taking: side) {
        case .none: break
        case .set(let field, let value?): try tx[name].set(Fields([field: value]), of: id)
        case .set(let field, nil): try tx[name].unset([field], of: id)
        case .delete: try tx[name].delete(id)
        }
      }
    }
    if !options.dryRun { try table.forget(settled.filter { $0.isKept(by: side) }) }
    Terminal.note("\(table.name): \(settled.count) settled\(options.dryRun ? " on trial" : "")")
    let left = table.open.count - settled.count
    if settled.count < chosen.count {
      Terminal.note(
        "\(table.name): settle the other conflicts in an editor, or by 'filedb schema'")
    }
    if left > 0 {
      Terminal.note("\(table.name): \(left) left")
    } else if table.isUnmerged {
      Terminal.note("\(table.name): no conflicts are left; run 'git add' next")
    }
  }
}

extension MergeConflict {
  /// Whether a side's version is what the merge left. Then nothing in the table shows that the conflict is settled.
  fileprivate func isKept(by side: MergeRenumbering.Side) -> Bool {
    if case .none = settlement(taking: side) { true } else { false }
  }
}
