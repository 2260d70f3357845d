import FileDB

/// Tells the pages what changes in the store, whichever program changes it.
struct ChangeFeed: Sendable {
  let site: Site
  let streams: EventStreams

  func follow() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await change in site.store.changes() { tell(change) } }
      // A table that breaks, or is whole again, is no change of its records.
      group.addTask { for await _ in site.store.observationErrors() { tellTables() } }
    }
  }

  private func tell(_ change: StoreChange) {
    for name in change.tables {
      guard let change = change.change(of: .records(name)) else { continue }
      let origin = site.ownWrites.take(change, of: name)
      guard streams.areWatched, let table = try? site.tables[name] else { continue }
      streams.send(
        "change",
        .object([
          ("table", .string(name)), ("version", .string(table.version)),
          ("count", .number(table.snapshot.count)),
          ("ids", ids(of: change.steps)), ("origin", .string(origin.rawValue)),
        ]))
    }
    tellTables()
  }

  private func tellTables() {
    guard streams.areWatched, let overview = try? site.overview() else { return }
    streams.send("tables", .object(overview))
  }

  /// Of the records to look at; `null` for too many.
  private func ids(of steps: ListSteps) -> JSON {
    let ids = Set(steps.insertions.map(\.id) + (steps.moves + steps.updates).map(\.id))
    return ids.count <= 500 ? JSON(ids: ids.sorted()) : .null
  }
}
