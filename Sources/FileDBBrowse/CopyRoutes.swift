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
    var failures: [StoreError] = []
    let (merges, entry) = try store.undoLog.merge(store.conflictCopies) { failures.append($0) }
    let copies = merges.map { copy in
      JSON.object([
        ("table", .string(copy.copy.table)), ("added", .number(copy.added.count)),
        ("changed", .number(copy.changed.count)), ("conflicts", .number(copy.conflicts.count)),
        ("stays", .bool(copy.backup == nil)),
      ])
    }
    let messages = (failures + merges.compactMap(\.failure)).map { JSON.string($0.description) }
    return .object([
      ("copies", .array(copies)), ("failures", .array(messages)), ("step", JSON(entry?.id)),
    ])
  }
}
