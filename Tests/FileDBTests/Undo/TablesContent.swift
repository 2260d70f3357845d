import FileDB

/// Everything in a store that undo has to restore.
struct TablesContent: Equatable {
  var ids: [String: [RecordID<Fields>]] = [:]
  var records: [String: [Fields]] = [:]

  init(_ store: RecordStore, _ names: [String]) throws {
    for name in names {
      let snapshot = try store.table(name).lastSnapshot
      if !snapshot.exists { continue }
      ids[name] = snapshot.ids
      records[name] = snapshot.map(\.fields)
    }
  }
}
