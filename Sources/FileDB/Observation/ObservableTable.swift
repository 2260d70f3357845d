import Observation

/// The records of a table for SwiftUI. A view that reads them is drawn again when they change, whichever program
/// changed them.
///
///     struct NoteList: View {
///       @State var notes: ObservableTable<Note>
///
///       var body: some View {
///         List(notes.records) { record in Text((try? record.value.title) ?? "?") }
///       }
///     }
///
/// It keeps a reference to its table, and so to the store. It shows snapshots: a change that you make on the main actor
/// appears soon afterwards, not at once.
@MainActor
@Observable
public final class ObservableTable<Value: Codable & Sendable> {
  public let table: RecordTable<Value>
  public private(set) var records: TableSnapshot<Value>
  /// Why the records are not those that another program wrote; see ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var token: ObservationToken?

  /// Shows the table's records, and follows their changes.
  /// - Parameters:
  ///   - matches: which records to show; see ``RecordTable/changes(where:sortedBy:since:)``.
  ///   - order: the order in which to show them; empty for the table's own.
  public init(
    _ table: RecordTable<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil,
    sortedBy order: [SortKey] = []
  ) {
    self.table = table
    let start = table.lastSnapshot
    records = SelectedRecords(RecordSelection(condition: .init(matches), order: order), of: start).records
    error = table.store.observationError
    token = table.observe(
      where: matches, sortedBy: order, since: start, onError: { [weak self] in self?.error = $0 },
      onChange: { [weak self] in self?.records = $0.after })
  }

  public var count: Int { records.count }
}
