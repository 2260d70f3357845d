import FileDB
import Foundation

struct Todo: DefaultedValue {
  var title: String
  var isDone = false

  /// For `filedb add todo title=Milk`.
  static let defaults = Todo(title: "")
}

extension TableName<Todo> { static var todo: Self { "todo" } }
