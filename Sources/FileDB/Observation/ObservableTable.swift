import FileDBTables
import Observation

/// The decoded records of a table for SwiftUI. When the records change, SwiftUI redraws the views that show them,
/// whichever program changed them.
///
///     struct NoteList: View {
///       @State var notes: ObservableTable<Note>
///       @State var words = ""
///
///       var body: some View {
///         List(notes.records) { note in Text(note.value.title) }
///           .searchable(text: $words)
///           .onChange(of: words) { notes.show { [words] note in note.title.contains(words) } }
///       }
///     }
///
/// FileDB decodes a record again only when it changes. If a record does not fit the type, ``faults`` has an error with
/// its id and the reason.
///
/// An `ObservableTable` keeps a reference to its table, and so to the store. A change that you make on the main actor
/// appears soon afterwards, not at once.
@MainActor
@Observable
public final class ObservableTable<Value: Codable & Sendable> {
  /// The table whose records are shown.
  public let table: RecordTable<Value>
  /// The records to show, in order.
  public private(set) var records: [DecodedRecord<Value>]
  /// An error for each record of the table that could not be decoded, with the record's id; before them, an error if the
  /// predicate of the list cannot be used.
  public private(set) var faults: [StoreError]
  /// The reason why FileDB could not read another program's changes; `nil` if it could. See
  /// ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var observation: TableObservation<Value>?

  /// Shows the table's records, and follows their changes.
  /// - Parameters:
  ///   - table: the table whose records are shown.
  ///   - matches: whether to show a record with this value; see `RecordTable.changes(where:sortedBy:since:)`.
  ///   - order: the order in which to show them; if it is empty, the table's own order.
  /// - Complexity: O(*n*) in the records of the table. It decodes them before it returns, so that the first view has
  ///   them.
  public convenience init(
    _ table: RecordTable<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil,
    sortedBy order: [SortKey] = []
  ) {
    self.init(table, RecordSelection(condition: .init(matches), order: order))
  }

  /// Shows the records that match a predicate, and follows their changes. If `id` in the predicate may mean two things,
  /// as ``TableSnapshot/records(where:)-(RecordPredicate)`` says, no record is shown, and ``faults`` says so.
  public convenience init(
    _ table: RecordTable<Value>, where predicate: RecordPredicate, sortedBy order: [SortKey] = []
  ) {
    self.init(table, RecordSelection(condition: .predicate(predicate), order: order))
  }

  private init(_ table: RecordTable<Value>, _ selection: RecordSelection<Value>) {
    self.table = table
    let list = DecodedList(selection, of: table.lastSnapshot)
    (records, faults) = (list.records, list.faults)
    error = table.store.observationError
    observation = table.observe(selection, since: list) { [weak self] in
      self?.error = $0
    } _: { [weak self] change in
      self?.records = change.records
      self?.faults = change.faults
    }
  }

  /// Replaces the filter and the order. Arguments that you leave out are reset: `show()` shows all records in the
  /// table's order. The list changes soon afterwards.
  /// - Complexity: as `TableObservation.show(where:sortedBy:)`.
  public func show(where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = []) {
    observation?.show(where: matches, sortedBy: order)
  }

  /// Replaces the filter by a predicate, and the order; see `show(where:sortedBy:)` with a closure.
  public func show(where predicate: RecordPredicate, sortedBy order: [SortKey] = []) {
    observation?.show(where: predicate, sortedBy: order)
  }

  /// The number of records in ``records``.
  public var count: Int { records.count }
}
