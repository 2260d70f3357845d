import FileDB
import Foundation

struct Todo: DefaultedValue {
  var title: String
  var isDone = false

  /// For records that lack a field, such as those of `filedb add todo title=Milk`.
  static let defaults = Todo(title: "")
}

extension TableName<Todo> { static var todo: Self { "todo" } }
