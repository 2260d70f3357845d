import FileDB

extension Site {
  static let copyRoutes: [Route] = [
    .post("api", "copies", "merge") { site, _ in .json(try site.mergeCopies()) }
  ]

  /// The copies that a sync service has made of tables.
  func copies() throws -> JSON {
    .array(
      try store.conflictCopies.map { copy in
        .object([
          ("file", .string(copy.url.lastPathComponent)), ("kind", .string(copy.kind)),
          ("table", .string(copy.table)),
        ])
      })
  }

  private func mergeCopies() throws -> JSON {
    let (merges, entry) = try store.undoLog.merge(store.conflictCopies)
    let copies = merges.map { copy in
      JSON.object([
        ("table", .string(copy.copy.table)), ("added", .number(copy.added.count)),
        ("changed", .number(copy.changed.count)), ("conflicts", .number(copy.conflicts.count)),
        ("stays", .bool(copy.backup == nil)),
      ])
    }
    return .object([("copies", .array(copies)), ("step", JSON(entry?.id))])
  }
}
