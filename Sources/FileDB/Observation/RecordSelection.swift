/// Which records of a table to show, and in which order.
struct RecordSelection<Value: Codable & Sendable>: Sendable {
  enum Condition: Sendable {
    case none
    /// A record for which it throws, or that does not fit the type, is left out.
    case value(@Sendable (Value) throws -> Bool)
    /// As well a record of which it cannot tell.
    case predicate(RecordPredicate)

    init(_ matches: (@Sendable (Value) throws -> Bool)?) { self = matches.map(Condition.value) ?? .none }

    var isNone: Bool { if case .none = self { true } else { false } }
  }

  let condition: Condition
  /// None for the table's own order.
  let order: [SortKey]

  /// - Parameter ids: of the records that match.
  fileprivate func records(
    of table: TableSnapshot<Value>, matching ids: Set<RecordID>
  ) -> TableSnapshot<Value> {
    var records = table
    if !condition.isNone { records = records.with(records.state.records.filter { ids.contains($0.id) }) }
    if !order.isEmpty {
      records = records.with(records.sortedIndices(by: order).map { records.state.records[$0] })
    }
    return records
  }
}

/// The records of a selection, as the table goes on. Each record is decoded and tested once until it changes.
struct SelectedRecords<Value: Codable & Sendable> {
  private let selection: RecordSelection<Value>
  private var table: TableSnapshot<Value>
  private var matching: Set<RecordID> = []
  private(set) var records: TableSnapshot<Value>

  init(_ selection: RecordSelection<Value>, of table: TableSnapshot<Value>) {
    self.selection = selection
    self.table = TableSnapshot(source: table.source, state: TableState())
    records = self.table
    follow(table)
  }

  /// - Complexity: O(1) for all records in their own order. Else O(*n*) where the table changed, and what sorting
  ///   takes.
  mutating func follow(_ newTable: TableSnapshot<Value>) {
    defer { table = newTable }
    guard !selection.condition.isNone || !selection.order.isEmpty else {
      records = newTable
      return
    }
    let difference = RecordsDifference(from: table.state.records, to: newTable.state.records)
    if difference.isEmpty, table.exists == newTable.exists { return }
    for removal in difference.removed { matching.remove(removal.record.id) }
    test(difference.inserted.lazy.map(\.record))
    test(difference.updated.lazy.map(\.new))
    records = selection.records(of: newTable, matching: matching)
  }

  private mutating func test(_ records: some Sequence<EncodedRecord>) {
    switch selection.condition {
    case .none: break
    case .value(let matches):
      var reader = ValueReader<Value>()
      for record in records { note(record.id, matches: (try? matches(reader.value(of: record))) == true) }
    case .predicate(let predicate):
      let form = ValueForm(Value.self)
      let fields = form.makeFields()
      for record in records {
        note(record.id, matches: (try? predicate.matches(record, as: form, fields)) == true)
      }
    }
  }

  private mutating func note(_ id: RecordID, matches: Bool) {
    if matches { matching.insert(id) } else { matching.remove(id) }
  }
}

extension TableSnapshot {
  fileprivate func with(_ records: [EncodedRecord]) -> TableSnapshot {
    TableSnapshot(source: source, state: state.with(records))
  }
}
