import FileDBTables
import Observation

/// The decoded records of a table for SwiftUI. SwiftUI redraws a view that reads them when they change, whichever program
/// changed them.
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
/// It keeps a reference to its table, and so to the store. It shows snapshots: a change that you make on the main actor
/// appears soon afterwards, not at once.
@MainActor
@Observable
public final class ObservableTable<Value: Codable & Sendable> {
  /// The table whose records are shown.
  public let table: RecordTable<Value>
  /// The records that are shown, in their order.
  public private(set) var records: [DecodedRecord<Value>]
  /// Why records of the table could not be decoded, each with the record's id.
  public private(set) var faults: [StoreError]
  /// Why FileDB could not read another program's changes; `nil` if it could; see ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var observation: TableObservation<Value>?

  /// Shows the table's records, and follows their changes.
  /// - Parameters:
  ///   - table: the table whose records are shown.
  ///   - matches: whether to show a record with this value; see `RecordTable.changes(where:sortedBy:since:)`.
  ///   - order: the order in which to show them; empty for the table's own.
  /// - Complexity: O(*n*) in the records of the table, which it decodes at once, so that the first view has them.
  public convenience init(
    _ table: RecordTable<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil,
    sortedBy order: [SortKey] = []
  ) {
    self.init(table, RecordSelection(condition: .init(matches), order: order))
  }

  /// Shows the records that match a predicate, and follows their changes.
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

  /// Replaces the filter and the order. What you leave out is reset: `show()` shows all records in the table's order.
  /// The list changes soon afterwards.
  /// - Complexity: as `TableObservation.show(where:sortedBy:)`.
  public func show(where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = []) {
    observation?.show(where: matches, sortedBy: order)
  }

  /// The same for the records that match a predicate.
  public func show(where predicate: RecordPredicate, sortedBy order: [SortKey] = []) {
    observation?.show(where: predicate, sortedBy: order)
  }

  /// The number of records that are shown.
  public var count: Int { records.count }
}
