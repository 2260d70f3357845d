import FileDB
import Foundation

// A list in the terminal, in the order that you give it. Open it in several terminals at once, change it with
// `filedb`, or edit todo.plist with an editor: every list shows the change.
//
//     TodoList [FOLDER]

struct Todo: DefaultedValue {
  var title: String
  var isDone = false

  /// For records that lack a field, such as those of `filedb add todo title=Milk`.
  static let defaults = Todo(title: "")
}

extension TableName<Todo> { static var todo: Self { "todo" } }

/// What the program reacts to.
private enum Event: Sendable {
  case key(Key)
  case change(TableChange<Todo>)
  case error(StoreError?)
}

@main
struct TodoList {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else {
      FileHandle.standardError.write(Data("usage: TodoList [FOLDER]\n".utf8))
      exit(64)
    }
    let folder = URL(fileURLWithPath: arguments.first ?? "TodoList.store")
    let store = try await RecordStore.open(at: folder)
    let todos = try await store.table(.todo)
    let (events, sink) = AsyncStream<Event>.makeStream()
    let following = Task { for await change in todos.changes() { sink.yield(.change(change)) } }
    let failing = Task { for await error in store.observationErrors() { sink.yield(.error(error)) } }
    TerminalScreen.start()
    defer { TerminalScreen.restore() }
    TerminalScreen.readKeys { sink.yield(.key($0)) }
    var list = ListModel(todos)
    for await event in events {
      switch event {
      case .change(let change): list.follow(change)
      case .error(let error): list.note = error.map(\.description) ?? ""
      case .key(let key) where list.isLeft(by: key): sink.finish()
      case .key(let key): list.take(key)
      }
      TerminalScreen.show(list.lines)
    }
    following.cancel()
    failing.cancel()
    try await store.close()
  }
}
