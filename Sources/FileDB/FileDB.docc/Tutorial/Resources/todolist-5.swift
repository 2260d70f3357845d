import FileDB
import Foundation

struct Todo: DefaultedValue {
  var title: String
  var isDone = false

  /// For records that lack a field, such as those of `filedb add todo title=Milk`.
  static let defaults = Todo(title: "")
}

extension TableName<Todo> { static var todo: Self { "todo" } }

@main
struct TodoList {
  static func main() async throws {
    let folder = URL(fileURLWithPath: "TodoList.store")
    let store = try await RecordStore.open(at: folder)
    let todos = try await store.table(.todo)
    if let title = CommandLine.arguments.dropFirst().first {
      try await todos.add(Todo(title: title), at: .top)
    }
    for record in try todos.snapshot() {
      let todo = try record.value
      print("\(record.id) [\(todo.isDone ? "x" : " ")] \(todo.title)")
    }
    try await store.close()
  }
}
