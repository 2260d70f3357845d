import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange
import FileDBPlist

struct SharedInit: ServerCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Create a store in a database, and print its address.",
    discussion: "If the database does not have the tables that FileDB needs, they are created, too.")

  @Argument(help: "The URL of the database, or of the etcd cluster with a prefix.") var url: String
  @Argument(help: "The name of the store.") var name: String
  @OptionGroup var server: ServerOptions

  func run() throws {
    let made = try FileDBTool.needExtra().makeStore(name, at: url)
    if made.hasMadeTables { Terminal.note("created FileDB's tables in the database") }
    Terminal.note(made.hasMadeStore ? "created the store '\(name)'" : "the store '\(name)' already exists")
    Terminal.print(made.address)
  }
}

struct SharedJoin: ServerCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Create a folder that follows a shared store.",
    discussion: """
      The folder gets a copy of the store and remembers its address. If the folder is already a copy of this store, \
      'filedb shared join' changes the address.
      """)

  @Argument(help: "The address of the store.") var address: String
  @Argument(help: ArgumentHelp("The folder.", valueName: "dir")) var folder: String
  @OptionGroup var server: ServerOptions

  func run() throws {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    let waiting = Waiting("reading the store")
    defer { waiting.end() }
    try FileDBTool.needExtra().join(address, url).note()
  }
}

struct SharedSync: SharedStoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Bring a folder up to date, and commit the files edited in it.",
    discussion: """
      A program that has the store open, such as 'filedb watch', does this continuously. If another machine has \
      changed a field that was edited, the other machine's value stays, and the edit is a conflict: 'filedb conflicts list' prints it.
      """)

  @OptionGroup var location: StoreLocation

  func run() throws {
    let (store, extra) = (try sharedStore(), try FileDBTool.needExtra())
    let waiting = Waiting("reading the store")
    defer { waiting.end() }
    let progress = Result { try extra.synchronize(store) }
    waiting.end()
    Terminal.noteSettled(in: store, extra)
    try progress.get().note()
    try noteConflicts(in: store)
  }

  /// Says if edited files disagree with what other machines have changed.
  private func noteConflicts(in store: RecordStore) throws {
    // Reading a whole table takes long, so skip those without a file of conflicts.
    let tables = try store.tableNames.filter(store.hasKeptConflicts)
    var count = 0
    for table in tables {
      do { count += try TableConflicts(table, in: store).open.count } catch let error as StoreError {
        Terminal.complain(error.description)
      }
    }
    guard count > 0 else { return }
    Terminal.note(
      "edited files and other machines disagree: \(count.counted("conflict")); "
        + "'filedb conflicts list' prints \(count == 1 ? "it" : "them")")
  }
}

struct SharedStatus: SharedStoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Print what the database has, and how far the folder is behind.",
    discussion: "It also prints when the folder last had to read all tables again.")

  @OptionGroup var location: StoreLocation
  @OptionGroup var output: FormatOption

  func run() throws {
    let (store, extra) = (try sharedStore(), try FileDBTool.needExtra())
    let status = try extra.status(of: store)
    Terminal.noteSettled(in: store, extra)
    Terminal.noteEdits(in: store)
    try output.format == .table ? printLines(of: status) : printRow(of: status)
    if let failure = status.failure { throw failure }
  }

  private func printLines(of status: StoreStatus) {
    let width = status.rows.map(\.title.count).max() ?? 0
    for row in status.rows {
      guard let value = row.value else { continue }
      let title = row.title.replacing("_", with: " ")
      let gap = String(repeating: " ", count: width - title.count)
      Terminal.print("\(title)\(gap)  \(value.string ?? JSONText.value(value))")
    }
  }

  private func printRow(of status: StoreStatus) throws {
    let printer = SummaryPrinter(output: output, titles: status.rows.map(\.title), keyCount: 0)
    try printer.print(alone: status.rows.map(\.value))
  }
}

struct SharedCompact: SharedStoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Remove old commits from the store's log.",
    discussion: """
      The tables stay as they are, but a folder that was away for longer has to read all tables again. FileDB forgets \
      commits by itself when they are seven days old.
      """)

  @OptionGroup var location: StoreLocation
  @Option(help: ArgumentHelp("Remove commits that are older than this many days.", valueName: "n"))
  var olderThan = 7

  func validate() throws {
    guard (0...36_500).contains(olderThan) else {
      throw ValidationError("--older-than takes a number of days.")
    }
  }

  func run() throws {
    let age = Duration.seconds(86_400 * olderThan)
    let count = try FileDBTool.needExtra().forgetCommits(of: sharedStore(), olderThan: age)
    Terminal.note("\(count.counted("commit")) forgotten")
  }
}

/// A command on a store that several machines share.
protocol SharedStoreCommand: StoreCommand {}

extension SharedStoreCommand {
  fileprivate func sharedStore() throws -> RecordStore {
    guard try isShared else {
      throw StoreError(
        .notAFolder,
        "this store is not shared between machines; 'filedb shared join' creates a folder of a shared store",
        file: try store().url.path)
    }
    return try store()
  }
}

extension Terminal {
  /// Says what became of commands that could not say whether they were carried out.
  static func noteSettled(in store: RecordStore, _ extra: any Extra) {
    for line in extra.settledCommands(of: store) { note(TerminalText.defused(line)) }
  }
}

extension FolderProgress {
  fileprivate func note() {
    Terminal.note("the folder has everything up to commit \(last)")
    if let start { Terminal.note(start) }
  }
}
