import FileDB

/// What a reader sees of the tables at one moment, once it has found nothing wrong with it.
struct Sighting {
  struct Seen {
    var id: RecordID<WorkRow>
    var row: WorkRow
  }

  /// In row order, for each of ``workTables``.
  let tables: [[Seen]]
  let counters: [Int64]

  /// Brings `store` up to date and reads it.
  /// - Parameter tablesPerCommit: if it is all of them, a writer must have come equally far in each.
  /// - Throws: ``Fault`` if the store cannot have come about by whole commits, and any error of the store.
  init(of store: RecordStore, tablesPerCommit: Int) throws {
    let opened = try workTables.map { try store.table($0) }
    try store.refresh()
    let snapshots = opened.map(\.lastSnapshot)
    counters = snapshots.map(\.counter)
    tables = try snapshots.map { snapshot in try snapshot.map { Seen(id: $0.id, row: try $0.value) } }
    let strangers = try Set(store.tableNames).subtracting(workTables.map(\.text))
    try require(strangers.isEmpty, "tables that nobody made: \(strangers.sorted())")
    for (table, snapshot) in snapshots.enumerated() { try check(table, ids: snapshot.ids) }
    if tablesPerCommit == workTables.count {
      let marks = tables.indices.map { self.marks(in: $0) }
      try require(
        marks.allSatisfy { $0 == marks[0] }, "a commit is there in part: the tables are at \(marks)")
    }
  }

  private func check(_ table: Int, ids: [RecordID<WorkRow>]) throws {
    let name = workTables[table].text
    try require(Set(ids).count == ids.count, "\(name): an id is there twice: \(ids)")
    let highest = ids.max()?.rawValue ?? 0
    try require(counters[table] >= highest, "\(name): counter \(counters[table]) below id \(highest)")
    var keys: Set<String> = []
    let marks = self.marks(in: table)
    for seen in tables[table] {
      let row = seen.row
      try require(row.isWhole, "\(name): record \(seen.id) is not whole: \(row)")
      try require(
        keys.insert("\(row.writer)/\(row.key)").inserted, "\(name): \(row.writer)'s \(row.key) is there twice"
      )
      try require(
        row.sequence <= marks[row.writer] ?? -1,
        "\(name): record \(seen.id) is of \(row.writer)'s commit \(row.sequence), its mark says \(marks)")
    }
  }

  /// How far each writer has come in a table.
  func marks(in table: Int) -> [String: Int] {
    let marks = tables[table].filter { $0.row.key == WorkRow.markKey }
    return Dictionary(marks.map { ($0.row.writer, $0.row.sequence) }) { $1 }
  }

  /// The records of one writer, in row order, table by table.
  func records(of writer: String) -> [[Seen]] { tables.map { $0.filter { $0.row.writer == writer } } }
}
