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
    let (keys, sink) = AsyncStream<Key>.makeStream()
    TerminalScreen.start()
    defer { TerminalScreen.restore() }
    TerminalScreen.readKeys { sink.yield($0) }
    var list = ListModel(todos)
    TerminalScreen.show(list.lines)
    for await key in keys {
      if list.isLeft(by: key) { sink.finish() } else { list.take(key) }
      TerminalScreen.show(list.lines)
    }
    try await store.close()
  }
}
