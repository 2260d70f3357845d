import ArgumentParser
import FileDB
import FileDBEssentials

struct ConflictsMerge: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merge the copies that a sync service made of tables into these tables.",
    discussion: """
      Dropbox, Syncthing and other services keep a second file if two machines have changed a table. 'filedb tables' \
      names such copies. This command merges those of all tables, or of the tables that you name, record by record. A \
      copy that filedb does not recognize by its name, such as 'todo 2.plist', is given with --copy and its table.

      If the service copies the folder '.filedb', it may also keep a second journal. Its commits are merged into their \
      tables in the same way.

      A record that only one of the two files has is kept. If a record is in both, with different values in a field, \
      the table's value is kept, and the field is a conflict: the exit code is 1, and 'filedb conflicts take' settles \
      it. If the same id stands for different records, both are kept, and the copy's record gets a new id. --base is \
      the version that both files come from. With it, filedb also knows which records were deleted and which values are \
      old.

      If the merge changes the table's file, the copy is moved into the backups. 'filedb undo' undoes the merge, \
      and leaves the copy there. If the file does not change, the copy stays in the folder, because the sync service \
      may still replace the table's file by one that lacks what the copy has.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var chosen: TableArguments
  @Option(
    name: .customLong("copy"), parsing: .singleValue,
    help: ArgumentHelp("The path of a copy of the table. It may be repeated.", valueName: "file"))
  var files: [String] = []
  @Option(
    help: ArgumentHelp("The version of the table that both machines began with.", valueName: "file"))
  var base: String?
  @OptionGroup var options: WriteOptions

  private var tables: [TableReference] { chosen.references }

  func validate() throws {
    if !files.isEmpty || base != nil, tables.count != 1 {
      throw ValidationError("Name one table with --copy and --base.")
    }
  }

  func run() throws {
    let store = try existingStore(for: tables.first)
    let copies = try copies(in: store)
    var status = try complainOfUnreadableJournals(in: store)
    guard !copies.isEmpty || status > 0 else { return Terminal.note("there are no copies to merge") }
    try checkGit(store, of: copies)
    let merge = try ConflictCopiesMerge(copies, in: store) { error in
      Terminal.complain(error.description)
      status = max(status, error.exitStatus)
    }
    guard !merge.isEmpty else { throw ExitCode(status) }
    let merged = try options.write(store, named: merge.name) { tx in try merge.carryOut(in: &tx) }
    let done = options.dryRun ? merged : try merge.finish(merged)
    for merge in done { report(merge) }
    if done.contains(where: { !$0.conflicts.isEmpty }) { status = max(status, 1) }
    if status > 0 { throw ExitCode(status) }
  }

  private func copies(in store: RecordStore) throws -> [ConflictCopy] {
    for table in tables where try !store.table(table.name).exists { _ = try existingTable(table) }
    let base = try base.map { try TableSnapshot<Fields>(argument: $0) }
    guard files.isEmpty else {
      return files.map { ConflictCopy(of: tables[0].name, at: URL(fileURLWithPath: $0), base: base) }
    }
    let keys = Set(tables.map { TableKey($0.name) })
    return try store.conflictCopies.filter { keys.isEmpty || keys.contains(TableKey($0.table)) }.map {
      var copy = $0
      copy.base = base
      return copy
    }
  }

  /// - Returns: the exit code.
  private func complainOfUnreadableJournals(in store: RecordStore) throws -> Int32 {
    var status: Int32 = 0
    for journal in files.isEmpty ? try store.journalCopies : [] {
      do throws(StoreError) { _ = try journal.tables } catch {
        Terminal.complain(error.description)
        status = max(status, error.exitStatus)
      }
    }
    return status
  }

  /// Conflicts of the copies would be forgotten with those of git.
  private func checkGit(_ store: RecordStore, of copies: [ConflictCopy]) throws {
    let unmerged = UnmergedFile.all(in: store.url)
    for copy in copies {
      guard let url = try? store.url(of: copy.table), unmerged[TableKey(url.lastPathComponent)] != nil
      else { continue }
      throw StoreError(
        .conflict, "git has not merged the file yet; settle that first, and run 'git add'", table: copy.table)
    }
  }

  private func report(_ merge: ConflictCopyMerge) {
    let (table, file) = (merge.copy.table, TerminalText.defused(merge.copy.url.lastPathComponent))
    let parts = [("added", merge.added), ("changed", merge.changed), ("deleted", merge.removed)]
      .filter { !$0.1.isEmpty }.map { "\($0.1.count.counted("record")) \($0.0) (\(ids($0.1)))" }
    let news = merge.hasBroughtChanges ? "another order" : "nothing new"
    Terminal.print(
      "\(table): \(parts.isEmpty ? news : parts.joined(separator: ", ")) from '\(file)'")
    StandardOutput.flush()
    let lines = MergeReport(name: table, kind: .copy).lines(
      renumbered: merge.renumbered, conflicts: merge.conflicts)
    for line in lines { Terminal.note(line) }
    if !merge.otherKeys.isEmpty {
      let keys = merge.otherKeys.map { "'\(TerminalText.defused($0))'" }.joined(separator: ", ")
      Terminal.note("\(table): the copy has another \(keys) in its root; the table's is kept")
    }
    if merge.backup != nil {
      Terminal.note("\(table): the copy is in the backups now")
    } else if let failure = merge.failure {
      Terminal.note("\(table): the copy stays where it is: \(failure)")
    } else if !options.dryRun {
      Terminal.note("\(table): the copy stays where it is; remove it when all machines have the same files")
    }
  }

  private func ids(_ ids: [AnyRecordID]) -> String {
    let first = ids.prefix(10).map(\.description).joined(separator: ", ")
    return ids.count > 10 ? "\(first) and so on" : first
  }
}
