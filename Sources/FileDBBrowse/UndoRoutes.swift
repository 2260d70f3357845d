import FileDB

extension Site {
  static let undoRoutes: [Route] = [
    .post("api", "undo") { site, request in
      try site.takeBack(request, of: site.store.undoLog.contents().undo) { try $0.undo($1) }
    },
    .post("api", "redo") { site, request in
      try site.takeBack(request, of: site.store.undoLog.contents().redo) { try $0.redo($1) }
    },
  ]

  /// Takes back the step that the page names. Another program may have made newer ones.
  private func takeBack(
    _ request: Request, of steps: [UndoLog.Entry],
    _ run: (UndoLog, UndoLog.Entry.ID) throws -> UndoLog.Entry
  ) throws -> Response {
    struct Step: Decodable { let step: UndoLog.Entry.ID }
    let id = try request.decoded(as: Step.self).step
    let tables = steps.first { $0.id == id }?.tableNames ?? []
    ownWrites.expectChanges(of: tables)
    do { return .json(JSON(try run(store.undoLog, id))) } catch {
      ownWrites.forget(tables)
      throw error
    }
  }
}

extension JSON {
  /// A step that a page can take back.
  init(_ entry: UndoLog.Entry) {
    self = .object([("step", .string(entry.id)), ("name", .string(entry.name))])
  }
}
