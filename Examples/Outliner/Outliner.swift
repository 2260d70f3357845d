import FileDB
import Foundation

// An outline of notes: each may be below another. It reads commands from standard input, one per line. It prints the
// outline whenever it changes, even if another program changes it:
//
//     Outliner FOLDER
//     filedb --store FOLDER add notes text=Milk

@main
@MainActor
struct Outliner {
  private static let help =
    "add TEXT | child ID TEXT | move ID top | move ID PARENT | delete ID | filter TEXT | all | undo | redo | quit"

  private let notes: RecordTable<Note>
  private let edits: UndoStack
  /// The list that is printed. Releasing it ends the observation.
  private let list: TableObservation<Note>

  private init(_ notes: RecordTable<Note>) {
    self.notes = notes
    edits = UndoStack(store: notes.store)
    list = notes.observe(onError: { if let error = $0 { say("error: \(error)") } }, onChange: show)
  }

  static func main() async throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("usage: Outliner FOLDER\n".utf8))
      exit(64)
    }
    let store = try await RecordStore.open(at: URL(fileURLWithPath: CommandLine.arguments[1]))
    let outliner = Outliner(try await store.table(.notes))
    for await line in linesOfInput() {
      do { try outliner.run(line) } catch { say("error: \(error)") }
    }
    try await store.close()
  }

  private func run(_ line: String) throws {
    let (command, rest) = line.parted()
    let (target, text) = rest.parted()
    switch (command, RecordID<Note>(target)) {
    case ("add", _): try add(Note(text: rest))
    case ("child", let parent?): try add(Note(text: text, parent: parent))
    case ("move", let id?) where text == "top": try move(id, below: nil)
    case ("move", let id?):
      if let parent = RecordID<Note>(text) { try move(id, below: parent) } else { say(Self.help) }
    case ("delete", let id?): try delete(id)
    case ("filter", _): list.show { $0.text.localizedStandardContains(rest) }
    case ("all", _): list.show()
    case ("undo", _): try undo()
    case ("redo", _): try redo()
    default: say(Self.help)
    }
  }

  private func add(_ note: Note) throws {
    try edits.write(named: "add \(note.text)") { _ in
      if let parent = note.parent { _ = try notes.record(with: parent) }
      try notes.add(note)
    }
  }

  /// Moves a note and all notes below it: to the top, or to the end of the notes below `parent`.
  private func move(_ id: RecordID<Note>, below parent: RecordID<Note>?) throws {
    try edits.write(named: "move \(id)") { _ in
      if let parent {
        _ = try notes.record(with: parent)
        guard try !branch(of: id).contains(parent) else { throw Outline.BelowItself() }
      }
      try notes.update(id) { $0.parent = parent }
      try notes.move(id, to: parent == nil ? .top : .bottom)
    }
  }

  private func delete(_ id: RecordID<Note>) throws {
    try edits.write(named: "delete \(id)") { _ in try notes.delete(branch(of: id)) }
  }

  /// The ids of a note and of all notes below it. In a write, they include what the write has changed so far.
  private func branch(of id: RecordID<Note>) throws -> [RecordID<Note>] {
    Outline(try notes.snapshot().values().records).branch(of: id)
  }

  private func undo() throws {
    guard let name = edits.undoName else { return say("nothing to undo") }
    try edits.undo()
    say("undone: \(name)")
  }

  private func redo() throws {
    guard let name = edits.redoName else { return say("nothing to redo") }
    try edits.redo()
    say("redone: \(name)")
  }
}

@MainActor
private func show(_ change: ListChange<Note>) {
  let lines = Outline(change.records).lines + change.faults.map { "not a note: \($0)" }
  say((lines + ["--"]).joined(separator: "\n"))
}

/// Prints without buffering, even if standard output is not a terminal.
private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

/// The lines up to `quit`. A separate thread waits for them, so that the list can still change.
private func linesOfInput() -> AsyncStream<String> {
  let (lines, sink) = AsyncStream<String>.makeStream()
  Thread.detachNewThread {
    while let line = readLine(), line != "quit" { sink.yield(line) }
    sink.finish()
  }
  return lines
}

extension String {
  /// The text before the first space, and the text after it.
  fileprivate func parted() -> (String, String) {
    let space = firstIndex(of: " ") ?? endIndex
    return (String(self[..<space]), String(self[space...].dropFirst()))
  }
}
