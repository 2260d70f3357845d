import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange
import FileDBPlist

struct Cluster: StoreCommand {
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case initialize = "init"
    case join, status, sync, compact
  }

  static let configuration = CommandConfiguration(
    commandName: "cluster", abstract: "Share a store between machines, through PostgreSQL or etcd.",
    discussion: """
      'init URL NAME' creates a store with this name in the database, and the tables that FileDB needs there, if they \
      are missing. It prints the store's address, such as 'postgres://db1/app?store=notes' or \
      'etcd://m1,m2,m3/app?store=notes'. Most commands accept the address instead of a folder: \
      --store 'postgres://db1/app?store=notes'.

      'join ADDRESS DIR' creates a folder with a copy of the store. The folder follows the store and remembers the \
      address, so all commands work there as in any other folder. Commands that only read use the copy, without the \
      network. Commands that write need the network. If the folder is already a copy of the store, 'join' changes its \
      address.

      'status' shows what the database has, how far the folder of --store is behind, and when it last had to read all \
      tables again. 'sync' brings that folder up to date, and commits edited files. A program that has the store open, \
      such as 'filedb watch', does both continuously. If another machine has changed a field that was edited, its \
      value stays. 'filedb merge --list' prints such conflicts, and 'sync' says that there are some.

      'compact' forgets commits that are older than --older-than days: it removes them from the log. The tables stay \
      as they are, but a folder that was away for longer has to read all tables again. By default, commits are \
      forgotten automatically after seven days.

      An address consists of a URL as PostgreSQL's programs accept it, or of the members of an etcd cluster and a \
      prefix for its keys, and of the store's name. No command prints a password, and no folder contains one. \
      Put passwords into ~/.pgpass or PGPASSWORD, and for etcd into ETCDCTL_PASSWORD.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "What to do.") var action: Action
  @Argument(help: "The URL of the database, for init; the address of the store, for join.") var address:
    String?
  @Argument(
    help: ArgumentHelp("The name of the store, for init; the folder, for join.", valueName: "name|dir"))
  var target: String?
  @Option(help: ArgumentHelp("For compact: the age of commits in days; 7 by default.", valueName: "n"))
  var olderThan: Int?
  @OptionGroup var output: FormatOption

  func validate() throws {
    switch action {
    case .initialize, .join:
      guard address != nil, target != nil else {
        throw ValidationError(
          action == .join ? "join takes an ADDRESS and a DIR." : "init takes a URL and a NAME.")
      }
    case .status, .sync, .compact:
      guard address == nil else { throw ValidationError("\(action.rawValue) takes --store.") }
    }
    if olderThan != nil, action != .compact { throw ValidationError("--older-than is for compact.") }
    if let olderThan, !(0...36_500).contains(olderThan) {
      throw ValidationError("--older-than takes a number of days.")
    }
    if output.format != .table, action != .status { throw ValidationError("--format is for status.") }
  }

  func run() throws {
    let extra = try FileDBTool.needExtra()
    switch (action, address, target) {
    case (.initialize, let url?, let name?):
      let made = try extra.makeStore(name, at: url)
      if made.hasMadeTables { Terminal.note("created FileDB's tables in the database") }
      Terminal.note(made.hasMadeStore ? "created the store '\(name)'" : "the store '\(name)' already exists")
      Terminal.print(made.address)
    case (.join, let address?, let folder?):
      let url = URL(fileURLWithPath: folder, isDirectory: true)
      try printProgress(extra.join(address, url))
    case (.sync, _, _):
      try printProgress(extra.synchronize(sharedStore()))
      try noteConflicts(in: sharedStore())
    case (.compact, _, _):
      let count = try extra.forgetCommits(of: sharedStore(), olderThan: .seconds(86_400 * (olderThan ?? 7)))
      Terminal.note("\(count.grouped) commit\(count == 1 ? "" : "s") forgotten")
    default: try print(extra.status(of: sharedStore()))
    }
  }

  private func sharedStore() throws -> RecordStore {
    guard isShared else {
      throw StoreError(
        .notAFolder,
        "this store is not shared between machines; 'filedb cluster join' creates a folder of a shared store",
        file: try store().url.path)
    }
    return try store()
  }

  private func printProgress(_ progress: FolderProgress) {
    Terminal.note("the folder has everything up to commit \(progress.last)")
    if let start = progress.start { Terminal.note(start) }
  }

  /// Says if edited files disagree with what other machines have changed.
  private func noteConflicts(in store: RecordStore) throws {
    // Reading a whole table takes long, so skip those without a file of conflicts.
    let tables = try store.tableNames.filter { try store.openConflicts(of: $0) != nil }
    let count = try tables.reduce(0) { try $0 + TableConflicts($1, in: store).open.count }
    guard count > 0 else { return }
    Terminal.note(
      "edited files and other machines disagree: \(count == 1 ? "1 conflict" : "\(count) conflicts"); "
        + "'filedb merge --list' prints them")
  }

  private func print(_ status: StoreStatus) throws {
    switch output.format {
    case .table:
      let width = status.rows.map(\.title.count).max() ?? 0
      for row in status.rows {
        guard let value = row.value else { continue }
        let title = row.title.replacing("_", with: " ")
        let gap = String(repeating: " ", count: width - title.count)
        Terminal.print("\(title)\(gap)  \(value.string ?? JSONText.value(value))")
      }
    default:
      let printer = SummaryPrinter(output: output, titles: status.rows.map(\.title), keyCount: 0)
      try printer.print(alone: status.rows.map(\.value))
    }
    if let failure = status.failure { throw failure }
  }
}
