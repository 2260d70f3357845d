/// A table that is changed step by step, and the changes that were made to it.
struct RecordedChanges {
  private(set) var table: TableState
  private var finished: [Change] = []
  /// New records one below the other, which are one change.
  private var run: (records: [StoredRecord], row: Int) = ([], 0)

  init(of table: TableState) { self.table = table }

  /// In order.
  var changes: [Change] { run.records.isEmpty ? finished : finished + [.insert(run.records, row: run.row)] }

  mutating func apply(_ change: Change) throws(StoreError) {
    try table.apply(change)
    endRun()
    finished.append(change)
  }

  mutating func insert(_ record: StoredRecord, at row: Int) throws(StoreError) {
    try table.apply(.insert([record], row: row))
    if run.records.isEmpty || row != run.row + run.records.count {
      endRun()
      run.row = row
    }
    run.records.append(record)
  }

  private mutating func endRun() {
    if !run.records.isEmpty { finished.append(.insert(run.records, row: run.row)) }
    run.records = []
  }

  /// Makes `counter` the highest id ever given, where it is higher. There is no change for the counter alone; a record that
  /// comes and goes has the same effect.
  mutating func raiseCounter(to counter: Int64) throws(StoreError) {
    guard table.exists, table.counter < counter, let id = RecordID(rawValue: counter) else { return }
    try apply(.insert([StoredRecord(id: id, record: Record())], row: table.records.count))
    try apply(.remove([id]))
  }
}
