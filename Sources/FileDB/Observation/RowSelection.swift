/// Which rows of a table to show, and in which order.
struct RowSelection<Row: Codable & Sendable>: Sendable {
  /// `nil` for all. A row for which it throws, or that does not fit the type, is left out.
  let matches: (@Sendable (Row) throws -> Bool)?
  /// None for the table's own order.
  let order: [SortKey]

  /// - Parameter ids: of the rows that match.
  fileprivate func rows(of table: TableSnapshot<Row>, matching ids: Set<RecordID>) -> TableSnapshot<Row> {
    var rows = table
    if matches != nil { rows = rows.with(rows.state.records.filter { ids.contains($0.id) }) }
    if !order.isEmpty { rows = rows.with(rows.sortedRows(by: order).map { rows.state.records[$0] }) }
    return rows
  }
}

/// The rows of a selection, as the table goes on. Each row is decoded and tested once until it changes.
struct SelectedRows<Row: Codable & Sendable> {
  private let selection: RowSelection<Row>
  private var table: TableSnapshot<Row>
  private var matching: Set<RecordID> = []
  private(set) var rows: TableSnapshot<Row>

  init(_ selection: RowSelection<Row>, of table: TableSnapshot<Row>) {
    self.selection = selection
    self.table = TableSnapshot(source: table.source, state: TableState())
    rows = self.table
    follow(table)
  }

  /// - Complexity: O(1) for all rows in their own order. Else O(*n*) where the table changed, and what sorting takes.
  mutating func follow(_ newTable: TableSnapshot<Row>) {
    defer { table = newTable }
    guard selection.matches != nil || !selection.order.isEmpty else {
      rows = newTable
      return
    }
    let difference = RecordsDifference(from: table.state.records, to: newTable.state.records)
    if difference.isEmpty, table.exists == newTable.exists { return }
    for removal in difference.removed { matching.remove(removal.record.id) }
    test(difference.inserted.lazy.map(\.record))
    test(difference.updated.lazy.map(\.new))
    rows = selection.rows(of: newTable, matching: matching)
  }

  private mutating func test(_ records: some Sequence<StoredRecord>) {
    guard let matches = selection.matches else { return }
    var reader = RowReader<Row>()
    for record in records {
      if (try? matches(reader.row(record))) == true {
        matching.insert(record.id)
      } else {
        matching.remove(record.id)
      }
    }
  }
}

extension TableSnapshot {
  fileprivate func with(_ records: [StoredRecord]) -> TableSnapshot {
    TableSnapshot(source: source, state: state.with(records))
  }
}
