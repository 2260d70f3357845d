import FileDBTables
import Synchronization

/// A list of decoded records, and the steps from the previous list to it.
public struct ListChange<Value: Codable & Sendable>: Sendable {
  /// The list as it is now.
  public let records: [DecodedRecord<Value>]
  /// The steps from the previous list to this one.
  public let steps: ListSteps
  /// An error for each record of the table that could not be decoded, with the record's id. These records are not in
  /// the list.
  public let faults: [StoreError]

  fileprivate init(to list: DecodedList<Value>, by steps: ListSteps) {
    (records, self.steps, faults) = (list.records, steps, list.faults)
  }
}

/// An observation of a table. It ends when you cancel or release it. It keeps the closures that it calls, but not the
/// store.
public final class TableObservation<Value: Codable & Sendable>: Sendable {
  private let shown: ShownSelection<Value>
  private let tasks: [Task<Void, Never>]

  init(of shown: ShownSelection<Value>, _ tasks: [Task<Void, Never>]) {
    (self.shown, self.tasks) = (shown, tasks)
  }

  deinit { cancel() }

  /// Ends the observation. If you call this on the main actor, no closure is called after it returns.
  public func cancel() { for task in tasks { task.cancel() } }

  /// Replaces the filter and the order. Arguments that you leave out are reset: `show()` shows all records in the
  /// table's order. The next change has the steps from the old list to the new one.
  /// - Complexity: O(*n*) in the records of the table, none of which is decoded again; with an order, O(*n* log *n*).
  public func show(where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = []) {
    shown.selection = RecordSelection(condition: .init(matches), order: order)
  }

  /// Replaces the filter by a predicate, and the order; see `show(where:sortedBy:)` with a closure. If `id` in the
  /// predicate may mean two things, no record matches, and the faults of the next change say so.
  public func show(where predicate: RecordPredicate, sortedBy order: [SortKey] = []) {
    shown.selection = RecordSelection(condition: .predicate(predicate), order: order)
  }
}

/// The selection that an observation shows now.
final class ShownSelection<Value: Codable & Sendable>: Sendable {
  private let state: Mutex<(selection: RecordSelection<Value>, number: Int)>
  private let table: TableKey
  private let signals: ChangeSignals

  init(_ selection: RecordSelection<Value>, of table: RecordTable<Value>) {
    state = Mutex((selection, 0))
    self.table = TableKey(table.name.text)
    signals = table.store.signals
  }

  /// The selection, and how often it has changed.
  var numbered: (selection: RecordSelection<Value>, number: Int) { state.withLock { $0 } }

  var selection: RecordSelection<Value> {
    get { numbered.selection }
    set {
      state.withLock { $0 = (newValue, $0.number + 1) }
      signals.tell(of: [table])
    }
  }
}

extension RecordTable {
  /// The changes of a list that somebody shows.
  /// - Parameter list: the list as it is already shown, in the first selection; `nil` if it begins with its first change.
  func changes(
    of shown: ShownSelection<Value>, since list: DecodedList<Value>?
  ) -> ChangeSequence<ListChange<Value>> {
    let (tables, source) = (store.seen, source)
    return ChangeSequence(of: store, .table(TableKey(name.text))) {
      var number = 0
      var current = list
      return {
        let newest: TableSnapshot<Value> = tables.snapshot(of: source)
        let (selection, newNumber) = shown.numbered
        defer { number = newNumber }
        guard var list = current else {
          let list = DecodedList(selection, of: newest)
          current = list
          let nothing = TableSnapshot<Value>(source: source, state: TableState())
          return ListChange(to: list, by: TableChange(from: nothing, to: list.snapshot).steps)
        }
        let (before, wasRefused) = (list.snapshot, list.conditionFault != nil)
        current = nil  // Leave a single reference, so that nothing is copied.
        let hasOtherFaults = list.follow(newest)
        if newNumber != number { list.select(selection) }
        current = list
        let steps = TableChange(from: before, to: list.snapshot).steps
        let isNews = hasOtherFaults || wasRefused != (list.conditionFault != nil)
        return isNews || !steps.isEmpty ? ListChange(to: list, by: steps) : nil
      }
    }
  }
}
