/// A table that is changed step by step, and the list of these changes.
package struct ChangeRecorder: Sendable {
  package private(set) var table: TableState
  private var finished: [AppliedChange] = []
  /// New records that follow one another. They become one change.
  private var run: Run?

  private struct Run {
    var records: [EncodedRecord]
    let index: Int
    let found: AppliedChange.Found
  }

  package init(of table: TableState) { self.table = table }

  /// In order.
  package var changes: [AppliedChange] { finished + [runChange].compactMap(\.self) }

  package mutating func apply(_ change: Change) throws(StoreError) {
    let applied = try table.applyRecording(change)
    endRun()
    finished.append(applied)
  }

  /// Inserts a record. Records that are inserted one below the other become one change.
  package mutating func insert(_ record: EncodedRecord, at index: Int) throws(StoreError) {
    let applied = try table.applyRecording(.insert([record], index: index))
    // Not `if let run`: with a second reference to the records, each of them would copy those before it.
    if run.map({ $0.index + $0.records.count }) == index {
      run?.records.append(record)
    } else {
      endRun()
      run = Run(records: [record], index: index, found: applied.found)
    }
  }

  /// Sets the highest id ever given to `counter`, if that is higher.
  package mutating func raiseCounter(to counter: Int64) throws(StoreError) {
    if table.exists, table.counter < counter { try apply(.raiseCounter(to: counter)) }
  }

  private mutating func endRun() {
    if let runChange { finished.append(runChange) }
    run = nil
  }

  private var runChange: AppliedChange? {
    run.map { AppliedChange(.insert($0.records, index: $0.index), found: $0.found) }
  }
}
