import ArgumentParser
import FileDB
import Foundation

struct Undo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Take back what the last commands changed.",
    discussion: """
      Takes back the last command that changed the store, or the last N. What other programs changed since is kept. If they \
      changed the same thing, the command cannot be taken back: nothing is done, and the exit code is 65. --skip then leaves \
      it out.

      The last 100 commands can be taken back, fewer if their files would take more than twice the room of the tables.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @OptionGroup var undo: UndoOptions

  func run() throws { try undo.run(.undo, in: existingStore()) }
}

struct Redo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Do again what 'undo' took back.",
    discussion: "Until the next command that changes the store.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @OptionGroup var undo: UndoOptions

  func run() throws { try undo.run(.redo, in: existingStore()) }
}

struct UndoOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("How many commands.", valueName: "n")) var count = 1
  @Flag(help: "Print the commands, the next one first.") var list = false
  @Flag(help: "Leave the next command out, and change no table.") var skip = false
  @OptionGroup var options: WriteOptions

  func validate() throws {
    if count < 1 { throw ValidationError("N is at least 1.") }
    if list && (skip || count > 1 || options.dryRun) { throw ValidationError("--list goes alone.") }
    if skip && (count > 1 || options.dryRun) { throw ValidationError("--skip leaves out one command.") }
  }

  func run(_ direction: UndoLog.Direction, in store: RecordStore) throws {
    if list { return try printList(direction, store) }
    if options.dryRun { return try rehearse(direction, store) }
    defer { WriteOptions.close(store) }
    if skip {
      guard let entry = try store.undoLog.skip(direction) else { return try sayNothing(direction, store) }
      return Terminal.note("skipped: \(TerminalText.defused(entry.name))")
    }
    for number in 0..<count {
      guard let entry = try takeBack(direction, store) else {
        return try number == 0 ? sayNothing(direction, store) : Terminal.note("there is nothing more")
      }
      Terminal.note("\(direction.done): \(TerminalText.defused(entry.name))")
    }
  }

  private func takeBack(_ direction: UndoLog.Direction, _ store: RecordStore) throws -> UndoLog.Entry? {
    do { return try store.undoLog.takeBack(direction) } catch var error as StoreError
      where [StoreError.undoConflict, StoreError.undoStepLost].contains(error.code)
    {
      error.message += "; 'filedb \(direction.rawValue) --skip' leaves it out"
      throw error
    }
  }

  private func rehearse(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let entries = try store.undoLog.rehearse(direction, count: count)
    if entries.isEmpty { return try sayNothing(direction, store) }
    for entry in entries { Terminal.note("would be \(direction.done): \(TerminalText.defused(entry.name))") }
    Terminal.note("dry run: nothing was written")
  }

  private func printList(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let contents = try store.undoLog.contents()
    let entries = direction == .undo ? contents.undo : contents.redo
    for (index, entry) in entries.enumerated() {
      Terminal.print("\(index + 1)  \(PlistDate.text(entry.date))  \(TerminalText.defused(entry.name))")
    }
    if contents.isCutOff { Terminal.note(Self.cutOff) }
    if entries.isEmpty, !contents.isCutOff { Terminal.note("there is nothing to \(direction.rawValue)") }
  }

  private func sayNothing(_ direction: UndoLog.Direction, _ store: RecordStore) throws {
    let isCutOff = try store.undoLog.contents().isCutOff
    Terminal.note("there is nothing to \(direction.rawValue)" + (isCutOff ? ": \(Self.cutOff)" : ""))
    throw ExitCode(1)
  }

  private static let cutOff =
    "earlier commands can no longer be taken back: a power cut or a repair ended the log"
}

extension UndoLog.Direction {
  fileprivate var done: String { self == .undo ? "undone" : "redone" }
}
