import FileDBTables

/// Which records of a table to show, and in what order.
struct RecordSelection<Value: Codable & Sendable>: Sendable {
  enum Condition: Sendable {
    case none
    /// Leaves out records for which the closure throws, and those that do not fit the type.
    case value(@Sendable (Value) throws -> Bool)
    /// Also leaves out records for which the predicate throws, and all of them if its `id` may mean two things.
    case predicate(RecordPredicate)

    init(_ matches: (@Sendable (Value) throws -> Bool)?) { self = matches.map(Condition.value) ?? .none }

    var isNone: Bool { if case .none = self { true } else { false } }
  }

  let condition: Condition
  /// Empty for the table's own order.
  let order: [SortKey]

  /// - Parameter ids: the ids of the matching records; `nil` for all records.
  func records(of table: TableSnapshot<Value>, matching ids: Set<AnyRecordID>?) -> TableSnapshot<Value> {
    var records = table
    if let ids, ids.count < table.count {
      records = records.with(records.state.records.filter { ids.contains($0.id) })
    }
    if !order.isEmpty {
      // If nothing shows the field of a property, the records keep their own order until something does.
      let indices = (try? records.sortedIndices(by: order)) ?? Array(records.indices)
      records = records.with(indices.map { records.state.records[$0] })
    }
    return records
  }
}

/// Tests records one after another.
struct RecordTest<Value: Codable & Sendable> {
  private let condition: RecordSelection<Value>.Condition
  private let form: ValueForm
  private let fields: RecordFields
  /// Why the condition cannot be used for this type.
  let fault: StoreError?

  /// - Parameter records: those that will be tested.
  init(_ condition: RecordSelection<Value>.Condition, of records: some Sequence<EncodedRecord>) {
    self.condition = condition
    form = ValueForm(Value.self)
    fields = form.makeFields()
    var fault: StoreError?
    if case .predicate(let predicate) = condition {
      do throws(StoreError) { try predicate.checkIDs(as: Value.self, of: records) } catch { fault = error }
    }
    self.fault = fault
  }

  func includes(_ record: EncodedRecord, _ value: @autoclosure () throws -> Value) -> Bool {
    switch condition {
    case .none: true
    case .value(let matches): (try? matches(value())) == true
    case .predicate(let predicate): (try? predicate.matches(record, as: form, fields)) == true
    }
  }
}

/// The records of a selection, which follow the table's changes. Each record is tested once, and again when it changes.
struct SelectedRecords<Value: Codable & Sendable> {
  private let selection: RecordSelection<Value>
  private var table: TableSnapshot<Value>
  private var matching: Set<AnyRecordID> = []
  private var fault: StoreError?
  private(set) var records: TableSnapshot<Value>

  init(_ selection: RecordSelection<Value>, of table: TableSnapshot<Value>) {
    self.selection = selection
    self.table = TableSnapshot(source: table.source, state: TableState())
    records = self.table
    follow(table)
  }

  /// - Complexity: O(1) for all records in their own order. Otherwise O(*n*) if the table has changed, and the cost of
  ///   sorting.
  mutating func follow(_ newTable: TableSnapshot<Value>) {
    defer { table = newTable }
    guard !selection.condition.isNone || !selection.order.isEmpty else {
      records = newTable
      return
    }
    let difference = RecordsDifference(from: table.state.records, to: newTable.state.records)
    if difference.isEmpty, table.exists == newTable.exists { return }
    for removal in difference.removed { matching.remove(removal.record.id) }
    if !selection.condition.isNone { test(difference.newRecords) }
    records = selection.records(of: newTable, matching: selection.condition.isNone ? nil : matching)
  }

  private mutating func test(_ records: some Sequence<EncodedRecord>) {
    let test = RecordTest(selection.condition, of: records)
    fault = fault ?? test.fault
    guard fault == nil else {
      matching = []
      return
    }
    var reader = ValueReader<Value>()
    for record in records {
      if test.includes(record, try reader.value(of: record)) {
        matching.insert(record.id)
      } else {
        matching.remove(record.id)
      }
    }
  }
}

extension TableSnapshot {
  fileprivate func with(_ records: [EncodedRecord]) -> TableSnapshot {
    TableSnapshot(source: source, state: state.with(records))
  }
}
