import FileDB

/// What the screen shows, and what each key does. The records always come from the table.
struct ListModel {
  static let help = "j/k down/up  q quit"

  private let todos: RecordTable<Todo>
  private var records: TableSnapshot<Todo>
  /// The record that the cursor is on. The cursor stays there when other records are added, deleted or moved.
  private var selected: RecordID<Todo>?

  init(_ todos: RecordTable<Todo>) {
    self.todos = todos
    records = todos.lastSnapshot
    selected = records.first?.id
  }

  private var cursor: Int? { selected.flatMap(records.index(of:)) }

  func isLeft(by key: Key) -> Bool { key == .end || key == .character("q") }

  mutating func take(_ key: Key) {
    switch key {
    case .character("j"), .down: step(by: 1)
    case .character("k"), .up: step(by: -1)
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
    return (items.isEmpty ? ["  (nothing to do)"] : items) + ["", Self.help]
  }
}
