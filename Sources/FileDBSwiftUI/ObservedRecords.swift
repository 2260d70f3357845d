#if canImport(SwiftUI)
  import FileDB
  import Foundation
  import SwiftUI

  /// The decoded records of a table of the store in the environment. When the records change, SwiftUI redraws the view.
  ///
  ///     struct NoteList: View {
  ///       @ObservedRecords(.notes, sortedBy: [SortKey(\Note.title)]) var notes: [DecodedRecord<Note>]
  ///
  ///       var body: some View { List(notes) { note in Text(note.value.title) } }
  ///     }
  ///
  ///     NoteList().environment(\.recordStore, store)
  ///
  /// `$notes` is the `ObservableTable`: `$notes?.faults` has an error for each record that does not fit the type,
  /// `$notes?.show(where:sortedBy:)` replaces the filter and the order, and `$notes?.table` has the verbs. If the table
  /// cannot be read, `notes` is empty, `$notes` is `nil`, and `_notes.error` says why.
  ///
  /// The table is read when the view first asks for it. Later values of the arguments have no effect: use
  /// `$notes?.show(where:sortedBy:)`.
  @MainActor
  @propertyWrapper
  public struct ObservedRecords<Value: Codable & Sendable>: DynamicProperty {
    @Environment(\.recordStore) private var store
    @State private var shown = Shown()
    private let name: TableName<Value>
    private let observe: @MainActor (RecordTable<Value>) -> ObservableTable<Value>

    private init(
      _ name: TableName<Value>, _ observe: @escaping @MainActor (RecordTable<Value>) -> ObservableTable<Value>
    ) {
      (self.name, self.observe) = (name, observe)
    }

    /// Shows the records for whose values `matches` returns `true`; `nil` shows all records.
    /// - Parameters:
    ///   - name: the name of the table.
    ///   - matches: see `ObservableTable.init(_:where:sortedBy:)`.
    ///   - order: the order in which to show them; if it is empty, the table's own order.
    public init(
      _ name: TableName<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil,
      sortedBy order: [SortKey] = []
    ) {
      self.init(name) { ObservableTable($0, where: matches, sortedBy: order) }
    }

    /// Shows the records that match a predicate.
    public init(_ name: TableName<Value>, where predicate: RecordPredicate, sortedBy order: [SortKey] = []) {
      self.init(name) { ObservableTable($0, where: predicate, sortedBy: order) }
    }

    /// Shows the records that match `predicate`, as `#Predicate` makes it.
    public init(_ name: TableName<Value>, where predicate: Predicate<Value>, sortedBy order: [SortKey] = []) {
      self.init(name) { ObservableTable($0, where: predicate, sortedBy: order) }
    }

    /// The records to show, in order.
    public var wrappedValue: [DecodedRecord<Value>] { projectedValue?.records ?? [] }

    /// The list that follows the table; `nil` if the table cannot be read.
    public var projectedValue: ObservableTable<Value>? { try? list.get() }

    /// Why the table, or another program's changes of it, cannot be read; `nil` if they can.
    public var error: (any Error)? {
      switch list {
      case .success(let list): list.error
      case .failure(let error): error
      }
    }

    private var list: Result<ObservableTable<Value>, any Error> {
      shown.list(of: store) { store in observe(try store.table(name)) }
    }

    /// Outlives the view's value, so that the table is read once.
    @MainActor
    private final class Shown {
      private var known: (store: RecordStore, list: Result<ObservableTable<Value>, any Error>)?

      func list(
        of store: RecordStore, _ open: (RecordStore) throws -> ObservableTable<Value>
      ) -> Result<ObservableTable<Value>, any Error> {
        if let known, known.store === store { return known.list }
        let list = Result { try open(store) }
        known = (store, list)
        return list
      }
    }
  }

  private struct RecordStoreKey: EnvironmentKey {
    static let defaultValue = RecordStore.inMemory()
  }

  extension EnvironmentValues {
    /// The store whose tables ``ObservedRecords`` shows. By default, it is a store in memory, for previews.
    ///
    ///     ContentView().environment(\.recordStore, store)
    public var recordStore: RecordStore {
      get { self[RecordStoreKey.self] }
      set { self[RecordStoreKey.self] = newValue }
    }
  }
#endif
