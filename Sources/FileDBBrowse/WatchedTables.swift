import FileDB
import Synchronization

/// A table at one moment. The version tells moments apart.
struct WatchedTable: Sendable {
  let snapshot: TableSnapshot<Fields>
  let version: String
}

/// The tables of a store, with a version that changes when they do.
final class WatchedTables: Sendable {
  private final class Entry: Sendable {
    struct State {
      var snapshot: TableSnapshot<Fields>
      var schema: TableSchema?
      var number = 0
    }
    let state = Mutex<State?>(nil)
  }

  private let store: RecordStore
  private let entries = Mutex<[String: Entry]>([:])
  /// Else a page that connects to the server's next start could take an old version for the new one.
  private let start = UInt32.random(in: 0 ... .max)

  init(_ store: RecordStore) { self.store = store }

  /// The newest state of a table.
  /// - Throws: as `RecordStore.table(_:)`; ``StoreError/Code/tableNotFound``.
  subscript(name: String) -> WatchedTable {
    get throws {
      let table = try store.table(name)
      guard try table.exists else {
        throw StoreError(.tableNotFound, "There is no such table.", table: name)
      }
      let entry = entries.withLock { entries in
        let entry = entries[name] ?? Entry()
        entries[name] = entry
        return entry
      }
      return try entry.state.withLock { state in
        let snapshot = try table.snapshot()
        let schema = try? snapshot.schema
        var next = state ?? Entry.State(snapshot: snapshot, schema: schema)
        if !Self.areSame(next.snapshot, snapshot) || next.schema != schema { next.number += 1 }
        (next.snapshot, next.schema) = (snapshot, schema)
        state = next
        return WatchedTable(snapshot: snapshot, version: "\(start)-\(next.number)")
      }
    }
  }

  /// Comparing all of a large table that was sorted takes seconds. Some records tell it at once.
  static func areSame(_ left: TableSnapshot<Fields>, _ right: TableSnapshot<Fields>) -> Bool {
    guard left.count == right.count else { return false }
    let some = stride(from: 0, to: left.count, by: max(1, left.count / 64))
    return some.allSatisfy { left[$0] == right[$0] } && left == right
  }
}
