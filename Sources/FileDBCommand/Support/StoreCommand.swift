import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange
import Synchronization

struct StoreLocation: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp("The store's folder, or its address; see 'filedb help shared'.", valueName: "dir"))
  var path: String?

  @Option(
    name: .customLong("attach"),
    help: ArgumentHelp(
      "Attach a store below this one, read-only. Its tables are also called NAME.TABLE; NAME is 'main' by default.",
      valueName: "[name=]dir"))
  var attached: [AttachedLocation] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long to wait for other programs that write to the store; by default 5 seconds.",
      valueName: "seconds"))
  var wait: Double?
  @OptionGroup var server: ServerOptions
  @Flag(help: "Print no messages, only data and errors.") var quiet = false

  func validate() throws {
    if let wait, !(wait >= 0 && wait <= 1_000_000) { throw ValidationError("--wait takes seconds, from 0.") }
  }
}

/// How a command reaches a server of shared stores.
struct ServerOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long to wait for a server of shared stores while nothing moves; by default 5 seconds.",
      valueName: "seconds"))
  var timeout: Double?

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout <= 1_000_000) {
      throw ValidationError("--timeout takes seconds, more than 0.")
    }
  }
}

/// A command that needs no store, but a server.
protocol ServerCommand: ParsableCommand {
  var server: ServerOptions { get }
}

/// A store to attach: `shipped`, or `app=shipped`.
struct AttachedLocation: ExpressibleByArgument {
  let name: String
  let path: String

  init(argument: String) {
    if let (name, path) = argument.cut(at: "="), !name.has("/") {
      (self.name, self.path) = (name, path)
    } else {
      (name, path) = ("main", argument)
    }
  }
}

/// A table as it is written on the command line.
struct TableReference: ExpressibleByArgument {
  let argument: String
  private let isFromStore: Bool

  init(argument: String) {
    self.argument = argument
    isFromStore = false
  }

  /// A name that comes from the store itself.
  init(name: String) {
    argument = name
    isFromStore = true
  }

  /// A path means the file of a table. Anything else is a name in the store.
  var isPath: Bool {
    !isFromStore && (argument.utf8.contains(UInt8(ascii: "/")) || argument.hasSuffix(".plist"))
  }

  var name: String {
    guard isPath else { return argument }
    let file = URL(fileURLWithPath: argument).lastPathComponent
    return file.hasSuffix(".plist") ? String(file.dropLast(".plist".count)) : file
  }
}

extension RecordID<Fields>: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

enum OpenStores {
  /// The store of a script. Its commands share it, so that they join its transaction.
  @TaskLocal static var shared: RecordStore?

  private static let changed = Mutex<[RecordStore]>([])

  /// Closes the store once the command has printed what it did. Closing reads the table's file, which another program
  /// may be writing; then this process ends.
  static func closeAtEnd(_ store: RecordStore) {
    StandardOutput.hasChangedStore.store(true, ordering: .relaxed)
    changed.withLock { $0.append(store) }
  }

  static func closeChanged() {
    for store in changed.withLock({ stores in
      defer { stores = [] }
      return stores
    }) { WriteOptions.close(store) }
  }
}

/// A command that works on a store.
protocol StoreCommand: ParsableCommand {
  var location: StoreLocation { get }
  /// What the command does with the store.
  var use: StoreUse { get }
  /// The kinds of stores that it works on.
  static var storeKinds: StoreKinds { get }
}

/// The kinds of stores that a command works on.
enum StoreKinds {
  case all, folders
}

extension ParsableCommand {
  /// Runs the command as `--wait`, `--timeout` and `--quiet` ask.
  mutating func runAsAsked() throws {
    let location = (self as? any StoreCommand)?.location
    let wait = location?.wait.map { Duration.seconds($0) } ?? StoreUse.wait
    let server = location?.server ?? (self as? any ServerCommand)?.server
    let timeout = server?.timeout.map { Duration.seconds($0) } ?? StoreUse.timeout
    let isQuiet = Terminal.isQuiet || location?.quiet == true
    try StoreUse.$wait.withValue(wait) {
      try StoreUse.$timeout.withValue(timeout) { try Terminal.$isQuiet.withValue(isQuiet) { try run() } }
    }
  }
}

/// A command that writes to a store. What it reads before, such as whether there is a table, decides what it writes.
protocol WritingCommand: StoreCommand {}

extension WritingCommand {
  var use: StoreUse { .writing }
}

extension StoreCommand {
  var use: StoreUse { .once }
  static var storeKinds: StoreKinds { .all }

  /// The store that the command's options name.
  var storeReference: StoreReference {
    get throws {
      let fromEnvironment = ProcessInfo.processInfo.environment["FILEDB_STORE"]
      return try StoreReference(location.path ?? fromEnvironment ?? ".")
    }
  }

  /// Whether several machines share the store that the command's options name.
  var isShared: Bool { get throws { try storeReference.isShared } }

  /// The store, which may not exist yet.
  /// - Throws: ``StoreError/Code/tableNotFound`` if the file of this name is no table. Its path opens it all the same.
  func store(for table: TableReference? = nil) throws -> RecordStore {
    let store = try anyStore(for: table)
    if let table, !table.isPath, let message = try store.strayMessage(for: table.name) {
      throw StoreError(.tableNotFound, message, file: store.url.path)
    }
    return store
  }

  private func anyStore(for table: TableReference?) throws -> RecordStore {
    if let table, StoreReference.isAddress(table.argument) {
      throw ValidationError("Give the address of a store with --store.")
    }
    let reference =
      if let table, table.isPath {
        try folder(of: table)
      } else {
        try storeReference
      }
    guard location.attached.count <= 1 else { throw ValidationError("Only one store can be attached.") }
    let attached = location.attached.first
    guard let shared = OpenStores.shared else { return try open(reference, over: attached) }
    guard attached == nil else {
      throw ValidationError("--attach goes before 'batch', for the whole script.")
    }
    // In a script, this is the script's store, unless a command names another one.
    let isNamed = table?.isPath == true || location.path != nil
    guard !isNamed || reference.leads(to: shared) else {
      throw ValidationError("A script works on one store, and this is another.")
    }
    return shared
  }

  /// The store of a table that is named by the path of its file.
  private func folder(of table: TableReference) throws -> StoreReference {
    let url = URL(fileURLWithPath: table.argument).deletingLastPathComponent()
    // A new table does not make a folder: the slash may be part of a name that somebody wanted.
    guard FileInfo.isFolder(url) || !location.attached.isEmpty else {
      throw StoreError(
        .fileNotFound, "there is no folder '\(url.path)', and a table's name has no '/'", file: table.argument
      )
    }
    return .folder(url)
  }

  private func open(_ reference: StoreReference, over attached: AttachedLocation?) throws -> RecordStore {
    if case .address = reference, Self.storeKinds == .folders {
      throw StoreError.withoutFiles("filedb " + CommandNames.fullName(of: Self.self))
    }
    guard let attached else { return try reference.open(for: use) }
    guard case .folder(let url) = reference, !reference.isShared, try !StoreReference(attached.path).isShared
    else {
      throw ValidationError("--attach does not work with a store that machines share.")
    }
    return try RecordStore(
      at: url, attaching: URL(fileURLWithPath: attached.path), as: attached.name, options: use.options)
  }

  /// The store. Its folder must exist, or another store must be attached: a mistyped folder should not look like an
  /// empty store.
  func existingStore(for table: TableReference? = nil) throws -> RecordStore {
    let store = try store(for: table)
    guard !store.url.isFileURL || FileInfo.isFolder(store.url) || store.attachedURL != nil else {
      throw StoreError(.fileNotFound, "there is no such folder", file: store.url.path)
    }
    return store
  }

  func exists(_ reference: TableReference) throws -> Bool {
    do { return try store(for: reference).table(reference.name).exists } catch StoreError.Code.fileNotFound {
      return false
    }
  }

  /// A table whose file must exist.
  func existingTable(_ reference: TableReference) throws -> RecordTable<Fields> {
    let table = try existingStore(for: reference).table(reference.name)
    if use == .once { Terminal.noteEdits(in: table.store, of: [reference.name]) }
    guard try table.exists else { throw try table.missing() }
    if table.store.url.isFileURL { CreatedFiles.restrict(toReadersOf: try table.url) }
    return table
  }
}

extension RecordTable<Fields> {
  /// Why there is no such table.
  func missing() throws -> StoreError {
    let (name, names) = (self.name.text, try store.tableNames)
    // If its file has a place, it is a link that leads nowhere.
    if names.contains(where: { $0.utf8.elementsEqual(name.utf8) }), let url = try? url,
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)
    {
      return StoreError(
        .tableNotFound, "its file is a link to '\(target)', which does not exist", file: url.path, table: name
      )
    }
    let nearest = NearestName(to: name, among: names).name
    let help = nearest.map { "did you mean '\($0)'?" } ?? "'filedb create \(name)' makes it"
    return StoreError(.tableNotFound, "there is no such table; \(help)", file: store.url.path, table: name)
  }
}

extension StoreError {
  static func withoutFiles(_ command: String) -> StoreError {
    StoreError(
      .notAFolder, "'\(command)' is about the files of a store, and a store at an address has none")
  }
}

/// The options of a command that writes.
struct WriteOptions: ParsableArguments {
  @Flag(help: "Do everything except write.")
  var dryRun = false

  /// Runs `body` as one transaction. With `--dry-run`, its changes are discarded. Notes what deletions do to the
  /// records of other tables.
  /// - Parameter name: the name of the step for 'filedb undo', for example "import of 3 records into food"; `nil` to
  ///   describe what happened to the records.
  @discardableResult
  func write<Result>(
    _ store: RecordStore, named name: (Result) -> String? = { _ in nil },
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    // In a script, a rule may be broken for a while. The script's own write looks at the end.
    guard OpenStores.shared == nil else { return try commit(store, named: name, body) }
    var consequences: [Consequence] = []
    let result = try commit(store, named: name) { tx in
      let result = try body(&tx)
      consequences = try tx.allConsequences()
      return result
    }
    for consequence in consequences { Terminal.note(consequence.report(by: self)) }
    return result
  }

  private func commit<Result>(
    _ store: RecordStore, named name: (Result) -> String?,
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    do { return try commitAll(store, named: name, body) } catch {
      throw error.withoutNewRecord(of: store)
    }
  }

  private func commitAll<Result>(
    _ store: RecordStore, named name: (Result) -> String?,
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    // A command of a script is undone together with the script.
    let isLogged = OpenStores.shared == nil && store.url.isFileURL
    if dryRun {
      let result =
        isLogged
        ? try store.undoLog.dryRun(
          unlessKept: Self.notePossibleEndOfHistory, discarding: Self.notePossiblyDiscarded, body)
        : try store.dryRun(body)
      Terminal.note("dry run: nothing was written")
      return result
    }
    var waiting: Waiting?
    defer { waiting?.end() }
    let bodyBeforeWaiting = { (tx: inout StoreTransaction) in
      waiting?.end()
      let result = try body(&tx)
      if store.isShared { waiting = Waiting("sending the changes") }
      return result
    }
    guard isLogged else { return try store.write(bodyBeforeWaiting) }
    let result = try store.undoLog.write(
      named: name, unlessKept: Self.noteEndOfHistory, discarding: Self.noteDiscarded, bodyBeforeWaiting)
    OpenStores.closeAtEnd(store)
    return result
  }

  @discardableResult
  func write<Result>(
    _ store: RecordStore, named name: String, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try write(store, named: { _ in name }, body)
  }

  static func noteEndOfHistory(_ reason: any Error) {
    Terminal.note("'filedb undo' will not be able to undo this command or any before it: \(reason)")
  }

  /// The same as ``noteEndOfHistory(_:)``, for a dry run.
  static func notePossibleEndOfHistory(_ reason: any Error) {
    Terminal.note("'filedb undo' would not be able to undo this command or any before it: \(reason)")
  }

  /// Names the commands that are no longer in the undo log, because its files would take too much space.
  static func noteDiscarded(_ entries: [UndoLog.Entry]) {
    for entry in entries {
      Terminal.note("'filedb undo' can no longer undo: \(TerminalText.defused(entry.name))")
    }
  }

  /// The same as ``noteDiscarded(_:)``, for a dry run.
  static func notePossiblyDiscarded(_ entries: [UndoLog.Entry]) {
    for entry in entries {
      Terminal.note("'filedb undo' would no longer be able to undo: \(TerminalText.defused(entry.name))")
    }
  }

  /// Brings the tables' files up to date after a command. If that is impossible, the command still counts as
  /// successful.
  static func close(_ store: RecordStore) {
    do { try store.close() } catch {
      Terminal.note("the change is safe in the journal, but not in the table's file yet: \(error)")
    }
    guard store.url.isFileURL, Git.hasRepository(around: store.url) else { return }
    // Git would commit these files without the newest changes. They are too large to be written by each command.
    for table in store.tablesBehind {
      Terminal.note(
        "the file of '\(TerminalText.defused(table))' is behind; run 'filedb checkpoint' before you commit it in git"
      )
    }
  }

  /// Says what becomes of a file outside the store when its table is removed.
  static func noteRemovedLink(_ table: RecordTable<Fields>) {
    guard let url = try? table.url, (try? FileInfo(at: url))?.kind == .symbolicLink,
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)
    else { return }
    Terminal.note(
      "\(TerminalText.defused(url.lastPathComponent)) is a link to \(TerminalText.defused(target)). That file stays, "
        + "and 'filedb undo' does not bring the link back")
  }
}

extension Error {
  /// The error of a write without the id of a record that it would have added: there is none now, and another record
  /// may get this id.
  fileprivate func withoutNewRecord(of store: RecordStore) -> any Error {
    if let error = self as? ScriptError {
      return ScriptError(file: error.file, line: error.line, cause: error.cause.withoutNewRecord(of: store))
    }
    guard var error = self as? StoreError, error.code != .recordNotFound, let table = error.table,
      let id = error.record, let snapshot = try? store.table(table).snapshot(),
      snapshot[id: RecordID(id)] == nil
    else { return self }
    error.record = nil
    return error
  }
}
