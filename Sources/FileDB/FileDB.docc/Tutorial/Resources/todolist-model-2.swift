import FileDB

/// What the screen shows, and what each key does. The records always come from the table.
struct ListModel {
  static let help = "space done  d delete  j/k down/up  u undo  r redo  q quit"

  private let todos: RecordTable<Todo>
  private let edits: UndoStack
  private var records: TableSnapshot<Todo>
  /// The record that the cursor is on. The cursor stays there when other records are added, deleted or moved.
  private var selected: RecordID<Todo>?
  var note = ""

  init(_ todos: RecordTable<Todo>) {
    self.todos = todos
    edits = UndoStack(store: todos.store)
    records = todos.lastSnapshot
    selected = records.first?.id
  }

  private var cursor: Int? { selected.flatMap(records.index(of:)) }

  func isLeft(by key: Key) -> Bool { key == .end || key == .character("q") }

  mutating func take(_ key: Key) {
    note = ""
    do {
      try command(key)
    } catch {
      note = "\(error)"
    }
    // With what the key has changed.
    records = todos.lastSnapshot
    if cursor == nil { selected = records.first?.id }
  }

  private mutating func command(_ key: Key) throws {
    switch key {
    case .character("j"), .down: step(by: 1)
    case .character("k"), .up: step(by: -1)
    case .character(" "):
      guard let selected else { return }
      try edits.write { tx in try tx[.todo].update(selected) { $0.isDone.toggle() } }
    case .character("d"):
      guard let selected else { return }
      try edits.write { tx in try tx[.todo].delete(selected) }
    case .character("u"): if try !edits.undo() { note = "nothing to undo" }
    case .character("r"): if try !edits.redo() { note = "nothing to redo" }
    default: break
    }
  }

  private mutating func step(by distance: Int) {
    guard let index = cursor, records.indices.contains(index + distance) else { return }
    selected = records[index + distance].id
  }

  var lines: [String] {
    let items = records.map { record in
      let mark = record.id == selected ? ">" : " "
      guard let todo = try? record.value else { return "\(mark) [?] (not a to-do: \(record.fields))" }
      return "\(mark) [\(todo.isDone ? "x" : " ")] \(todo.title)"
    }
    return (items.isEmpty ? ["  (nothing to do)"] : items) + ["", note, Self.help]
  }
}
