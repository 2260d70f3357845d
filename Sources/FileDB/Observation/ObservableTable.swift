import Observation

/// The rows of a table for SwiftUI: a view that reads them is drawn again when they change, whoever changed them.
///
///     struct NoteList: View {
///       @State var notes: ObservableTable<Note>
///
///       var body: some View {
///         List(notes.rows) { row in Text((try? row.value.title) ?? "?") }
///       }
///     }
///
/// It keeps its table, and by that the store. What it shows are snapshots: a change that was made on the main actor shows soon
/// afterwards, not at once.
@MainActor
@Observable
public final class ObservableTable<Row: Codable & Sendable> {
  public let table: RecordTable<Row>
  public private(set) var rows: TableSnapshot<Row>
  /// Why the rows are not what another program wrote; see ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var token: ObservationToken?

  /// The table's rows as they are now, and from now on.
  /// - Parameters:
  ///   - matches: which rows to show; see ``RecordTable/changes(where:sortedBy:since:)``.
  ///   - order: the order to show them in; none for the table's own.
  public init(
    _ table: RecordTable<Row>, where matches: (@Sendable (Row) throws -> Bool)? = nil,
    sortedBy order: [SortKey] = []
  ) {
    self.table = table
    let start = table.snapshot
    rows = SelectedRows(RowSelection(condition: .init(matches), order: order), of: start).rows
    error = table.store.observationError
    token = table.observe(
      where: matches, sortedBy: order, since: start, onError: { [weak self] in self?.error = $0 },
      onChange: { [weak self] in self?.rows = $0.after })
  }

  public var count: Int { rows.count }
}
