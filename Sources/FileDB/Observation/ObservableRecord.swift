import FileDBTables
import Observation

/// One record of a table for SwiftUI. When the record changes, SwiftUI redraws the views that show it, whichever program
/// changed it.
///
///     struct NoteView: View {
///       @State var note: ObservableRecord<Note>
///
///       var body: some View {
///         if let value = note.value { Text(value.title) } else { Text("This note was deleted.") }
///       }
///     }
///
/// An `ObservableRecord` keeps a reference to its table, and so to the store. A change that you make on the main actor
/// appears soon afterwards, not at once.
@MainActor
@Observable
public final class ObservableRecord<Value: Codable & Sendable> {
  /// The table that has the record.
  public let table: RecordTable<Value>
  /// The record's id.
  public let id: RecordID<Value>
  /// The record's value; `nil` if the table does not have the record, or if it does not fit the type.
  public private(set) var value: Value?
  /// Why the record could not be decoded; `nil` if it could, or if the table does not have it.
  public private(set) var fault: StoreError?
  /// The reason why FileDB could not read another program's changes; `nil` if it could. See
  /// ``RecordStore/observationError``.
  public private(set) var error: StoreError?

  @ObservationIgnored private var shown: StoredRecord<Value>?
  @ObservationIgnored private var deliveries: [Task<Void, Never>] = []

  /// Shows a record of a table, and follows its changes. The record may be deleted, or not exist yet.
  /// - Complexity: as ``TableSnapshot/index(of:)``, and of decoding the record. Each change of the table costs nearly
  ///   the same for any *n*.
  public init(_ id: RecordID<Value>, in table: RecordTable<Value>) {
    (self.table, self.id) = (table, id)
    error = table.store.observationError
    show(table.lastSnapshot[id: id])
    deliveries = [
      deliver(table.changes(of: id)) { [weak self] in self?.show($0.after) },
      deliver(table.store.observationErrors()) { [weak self] in self?.error = $0 },
    ]
  }

  deinit { for delivery in deliveries { delivery.cancel() } }

  private func show(_ record: StoredRecord<Value>?) {
    guard record != shown else { return }
    shown = record
    do {
      value = try record?.value
      fault = nil
    } catch {
      value = nil
      fault = StoreError(wrapping: error)
    }
  }
}
