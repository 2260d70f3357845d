import ArgumentParser
import FileDB

struct Undo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Take back what the last command changed.",
    discussion: """
      The last \(UndoHistory.limit) commands that changed the store can be taken back, the last first. What was changed \
      since by other programs is kept; where it is the very thing that is to be taken back, nothing is done.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @OptionGroup var options: WriteOptions

  func run() throws { try options.takeBack(.undo, in: existingStore(), done: "undone") }
}

struct Redo: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Do again what 'undo' took back.",
    discussion: "Until the next command that changes the store.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @OptionGroup var options: WriteOptions

  func run() throws { try options.takeBack(.redo, in: existingStore(), done: "redone") }
}

extension WriteOptions {
  fileprivate func takeBack(
    _ direction: UndoHistory.Direction, in store: RecordStore, done: String
  ) throws {
    let history = UndoHistory(store)
    let tables = dryRun ? try history.rehearse(direction) : try history.takeBack(direction)
    guard let tables else {
      Terminal.note("there is nothing to \(direction.rawValue)")
      throw ExitCode(1)
    }
    let names = tables.map { "'\(TerminalText.defused($0))'" }.joined(separator: ", ")
    Terminal.note(dryRun ? "would be \(done) in \(names): nothing was written" : "\(done) in \(names)")
    if !dryRun { Self.close(store) }
  }
}
