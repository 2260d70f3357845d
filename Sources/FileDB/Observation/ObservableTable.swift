import Observation

/// The records of a table for SwiftUI: a view that reads them is drawn again when they change, whoever changed them.
///
///     struct NoteList: View {
///       @State var notes: ObservableTable<Note>
///
///       var body: some View {
///         List(notes.records) { record in Text((try? record.value.title) ?? "?") }
///       }
///     }
///
/// It keeps its table, and by that the store. What it shows are snapshots: a change that was made on the main actor shows soon
/// afterwards, not at once.
@MainActor
@Observable
public final class ObservableTable<Value: Codable & Sendable> {
  public let table: RecordTable<Value>
  public private(set) var records: TableSnapshot<Value>
  /// Why the records are not what another program wrote; see ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var token: ObservationToken?

  /// The table's records as they are now, and from now on.
  /// - Parameters:
  ///   - matches: which records to show; see ``RecordTable/changes(where:sortedBy:since:)``.
  ///   - order: the order to show them in; none for the table's own.
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
