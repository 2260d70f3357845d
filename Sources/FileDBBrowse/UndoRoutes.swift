import FileDB

extension Site {
  static let undoRoutes: [Route] = [
    .post("api", "undo") { site, _ in
      try site.takeBack(site.store.undoLog.contents().undo.first) { try $0.undo() }
    },
    .post("api", "redo") { site, _ in
      try site.takeBack(site.store.undoLog.contents().redo.first) { try $0.redo() }
    },
  ]

  private func takeBack(
    _ next: UndoLog.Entry?, _ step: (UndoLog) throws -> UndoLog.Entry?
  ) throws -> Response {
    let tables = next?.tableNames ?? []
    ownWrites.expectChanges(of: tables)
    do {
      guard let entry = try step(store.undoLog) else {
        throw RequestError(.conflict, "nothingLeft", "There is nothing left.")
      }
      return .json(.object([("undone", .string(entry.name))]))
    } catch {
      ownWrites.forget(tables)
      throw error
    }
  }
}
