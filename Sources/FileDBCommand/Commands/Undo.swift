import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBPlist

struct Undo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo the last command that changed the store, or the last N.",
    discussion: """
      Undoes the last command that changed the store, or the last N, beginning with the newest. Changes that other \
      programs have made since are kept. If another program has changed the same data, or if nothing is left of what a \
      command did, filedb stops at that command, says why, and exits with code 65. The commands that it has already \
      undone stay undone. Use --skip to skip the command. Undoing a command that added records removes them, but their \
      ids are not used again.

      The log keeps the last 100 commands, and the writes of programs that use the same log. It keeps fewer if their \
      files would take more than 1 MB, and more than twice the space that the tables had when they were largest in the \
      last day. When filedb discards a command, it prints which one. The newest command of more than 1 MB is always kept; \
      --forget discards all.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var undo: UndoOptions
  @Flag(help: "Forget all commands, and remove what the log has kept of them.") var forget = false

  var use: StoreUse { undo.use }

  func validate() throws {
    if forget, undo.count > 1 || undo.list || undo.skip || undo.options.dryRun {
      throw ValidationError("--forget takes no number, --list, --skip or --dry-run.")
    }
  }

  func run() throws {
    let store = try existingStore()
    guard forget else { return try undo.run(.undo, in: store) }
    let count = try store.undoLog.contents().undo.count
    try store.undoLog.end()
    OpenStores.closeAtEnd(store)
    Terminal.note("forgotten: \(count.counted("command"))")
  }
}

struct Redo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Redo what 'filedb undo' has undone.",
    discussion: "This is possible until another command changes the store.")

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var undo: UndoOptions

  var use: StoreUse { undo.use }

  func run() throws { try undo.run(.redo, in: existingStore()) }
}

struct UndoOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The number of commands.", valueName: "n")) var count = 1
  @Flag(help: "List the commands, starting with the next one.") var list = false
  @Flag(help: "Skip the next command without changing any table.") var skip = false
  @OptionGroup var options: WriteOptions
  @OptionGroup var output: FormatOption

  var use: StoreUse { list ? .once : .writing }

  func validate() throws {
    if output.format != .table, !list { throw ValidationError("--format is for --list.") }
    if count < 1 { throw ValidationError("N must be at least 1.") }
    if list && (skip || count > 1 || options.dryRun) {
      throw ValidationError("--list takes no number, --skip or --dry-run.")
    }
    if skip && (count > 1 || options.dryRun) {
      throw ValidationError("--skip takes no number and no --dry-run; it skips one command.")
    }
  }

  func run(_ direction: UndoLog.Direction, in store: RecordStore) throws {
    if list { return try printList(direction, store) }
    if options.dryRun { return try dryRun(direction, store) }
    if skip {
      guard let entry = try store.undoLog.skip(direction) else { return try sayNothing(direction, store) }
      OpenStores.closeAtEnd(store)
      return Terminal.note("skipped: \(TerminalText.defused(entry.name))")
    }
    for number in 0..<count {
      guard let entry = try namingSkip(direction, { try store.undoLog.takeBack(direction) }) else {
        return try number == 0
          ? sayNothing(direction, store) : Terminal.note("there is nothing more to \(direction.rawValue)")
      }
      if number == 0 { OpenStores.closeAtEnd(store) }
      Terminal.note("\(direction.done): \(TerminalText.defused(entry.name))")
    }
  }

  /// What may stand against one step, and not against the others.
  private static let reasons: Set<StoreError.Code> = [
    .undoConflict, .undoStepLost, .requiredField, .wrongType, .valueNotAllowed, .notUnique, .missingReference,
    .stillReferenced,
  ]

  private func namingSkip<Result>(_ direction: UndoLog.Direction, _ body: () throws -> Result) throws
    -> Result
  {
    do { return try body() } catch var error as StoreError where Self.reasons.contains(error.code) {
      error.message += "; use 'filedb \(direction.rawValue) --skip' to skip it"
      throw error
    }
  }

  private func dryRun(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let entries = try namingSkip(direction) { try store.undoLog.dryRun(direction, count: count) }
    if entries.isEmpty { return try sayNothing(direction, store) }
    for entry in entries { Terminal.note("would be \(direction.done): \(TerminalText.defused(entry.name))") }
    Terminal.note("dry run: nothing was written")
  }

  private func printList(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let contents = try store.undoLog.contents()
    let entries = direction == .undo ? contents.undo : contents.redo
    try print(entries)
    if contents.isCutOff { Terminal.note(Self.cutOff) }
    if entries.isEmpty, !contents.isCutOff { Terminal.note("there is nothing to \(direction.rawValue)") }
  }

  private func print(_ entries: [UndoLog.Entry]) throws {
    guard output.format != .table else {
      for (index, entry) in entries.enumerated() {
        Terminal.print("\(index + 1)  \(PlistDate.text(entry.date))  \(TerminalText.defused(entry.name))")
      }
      return
    }
    let rows = entries.enumerated().map { index, entry -> [PlistValue?] in
      [.integer(Int64(index + 1)), .date(entry.date), .string(entry.name)]
    }
    try SummaryPrinter(output: output, titles: ["number", "date", "name"], keyCount: 0).print(rows)
  }

  private func sayNothing(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let isCutOff = try store.undoLog.contents().isCutOff
    Terminal.note("there is nothing to \(direction.rawValue)" + (isCutOff ? ": \(Self.cutOff)" : ""))
    throw ExitCode(1)
  }

  private static let cutOff =
    "earlier commands can no longer be undone: the log ended at a power cut, a repair, or a command that could not be logged"
}

extension UndoLog.Direction {
  fileprivate var done: String { self == .undo ? "undone" : "redone" }
}
