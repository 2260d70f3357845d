import FileDBEssentials
import Observation

/// The number of records of a table, or of those that match a condition, for SwiftUI. When it changes, SwiftUI redraws
/// the views that show it, whichever program changed the records.
///
///     struct OpenNotes: View {
///       @State var open: ObservableCount<Note>  // ObservableCount(notes, where: { !$0.isDone })
///
///       var body: some View { Text("\(open.count) open") }
///     }
///
/// An `ObservableCount` keeps a reference to its table, and so to the store. A change that you make on the main actor
/// appears soon afterwards, not at once.
@MainActor
@Observable
public final class ObservableCount<Value: Codable & Sendable> {
  /// The table whose records are counted.
  public let table: RecordTable<Value>
  /// The number of records.
  public private(set) var count: Int
  /// The reason why FileDB could not read another program's changes; `nil` if it could. See
  /// ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var deliveries: [Task<Void, Never>] = []

  /// Counts the table's records, and follows their changes.
  /// - Parameters:
  ///   - table: the table whose records are counted.
  ///   - matches: whether to count a record with this value; `nil` counts all records. Records for which it throws, and
  ///     records that do not fit the type, are not counted. The result must depend only on the value.
  /// - Complexity: without a condition O(1); with one, O(*n*) in the records of the table. It counts them before it
  ///   returns.
  public convenience init(
    _ table: RecordTable<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil
  ) {
    self.init(table, RecordSelection(condition: .init(matches), order: []))
  }

  /// Counts the records that match a predicate, and follows their changes.
  public convenience init(_ table: RecordTable<Value>, where predicate: RecordPredicate) {
    self.init(table, RecordSelection(condition: .predicate(predicate), order: []))
  }

  /// Counts the records that match `predicate`, and follows their changes.
  public convenience init(_ table: RecordTable<Value>, where predicate: Predicate<Value>) {
    self.init(table, where: { try predicate.evaluate($0) })
  }

  private init(_ table: RecordTable<Value>, _ selection: RecordSelection<Value>) {
    self.table = table
    let start = table.lastSnapshot
    count = SelectedRecords(selection, of: start).records.count
    error = table.store.observationError
    deliveries = [
      deliver(table.changes(of: selection, since: start)) { [weak self] change in
        if self?.count != change.after.count { self?.count = change.after.count }
      },
      deliver(table.store.observationErrors()) { [weak self] in self?.error = $0 },
    ]
  }

  deinit { for delivery in deliveries { delivery.cancel() } }
}
