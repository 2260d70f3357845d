/// Which rows of a table to show, and in which order.
struct RowSelection<Row: Codable & Sendable>: Sendable {
  enum Condition: Sendable {
    case none
    /// A row for which it throws, or that does not fit the type, is left out.
    case value(@Sendable (Row) throws -> Bool)
    case predicate(RecordPredicate)

    init(_ matches: (@Sendable (Row) throws -> Bool)?) { self = matches.map(Condition.value) ?? .none }

    var isNone: Bool { if case .none = self { true } else { false } }
  }

  let condition: Condition
  /// None for the table's own order.
  let order: [SortKey]

  /// - Parameter ids: of the rows that match.
  fileprivate func rows(of table: TableSnapshot<Row>, matching ids: Set<RecordID>) -> TableSnapshot<Row> {
    var rows = table
    if !condition.isNone { rows = rows.with(rows.state.records.filter { ids.contains($0.id) }) }
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
    guard !selection.condition.isNone || !selection.order.isEmpty else {
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
    switch selection.condition {
    case .none: break
    case .value(let matches):
      var reader = RowReader<Row>()
      for record in records { note(record.id, matches: (try? matches(reader.row(record))) == true) }
    case .predicate(let predicate):
      let fields = RecordFields()
      for record in records {
        note(
          record.id,
          matches: fields.read(record) { predicate.matches(PredicateRow(id: record.id, fields: fields)) })
      }
    }
  }

  private mutating func note(_ id: RecordID, matches: Bool) {
    if matches { matching.insert(id) } else { matching.remove(id) }
  }
}

extension TableSnapshot {
  fileprivate func with(_ records: [StoredRecord]) -> TableSnapshot {
    TableSnapshot(source: source, state: state.with(records))
  }
}
