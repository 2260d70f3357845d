import FileDB
import Synchronization

/// What the pages themselves wrote and were not told yet, so that only the changes of others are marked as such.
final class OwnWrites: Sendable {
  enum Origin: String {
    case here, elsewhere
  }

  /// What a write of a page left behind.
  private enum Trace {
    /// So many records that it would take too long to remember them.
    case whole
    /// By their ids; `nil` for a deleted one.
    case records([AnyRecordID: StoredRecord<Fields>?])
  }

  private static let mostRecords = 10_000
  private let traces = Mutex<[String: Trace]>([:])

  /// A change that is about to be committed: others are told of it before the write returns.
  func note(_ change: TableChange<Fields>, of table: String) {
    let ids = change.ids
    if ids.isEmpty { return }
    traces.withLock { traces in
      if case .whole = traces[table] { return }
      guard ids.count <= Self.mostRecords else {
        traces[table] = .whole
        return
      }
      var records: [AnyRecordID: StoredRecord<Fields>?] = [:]
      if case .records(let known) = traces[table], known.count <= Self.mostRecords { records = known }
      for id in ids { records[id] = .some(change.after[id: RecordID(id)]) }
      traces[table] = .records(records)
    }
  }

  /// Changes of these tables that are about to be committed, whatever they are.
  func expectChanges(of tables: [String]) { traces.withLock { for table in tables { $0[table] = .whole } } }

  /// What was noted of these tables does not happen, or has happened.
  func forget(_ tables: [String]) { traces.withLock { for table in tables { $0[table] = nil } } }

  /// Whose change it is, of which it is then forgotten.
  func take(_ change: TableChange<Fields>, of table: String) -> Origin {
    traces.withLock { traces in
      switch traces[table] {
      case nil: return .elsewhere
      case .whole:
        traces[table] = nil
        return .here
      case .records(var records):
        let isOwn = change.ids.allSatisfy { id in
          guard let left = records[id] else { return false }
          return left == change.after[id: RecordID(id)]
        }
        for id in change.ids { records[id] = nil }
        traces[table] = records.isEmpty ? nil : .records(records)
        return isOwn ? .here : .elsewhere
      }
    }
  }
}

extension TableChange {
  /// The records that are not as they were, or not where.
  fileprivate var ids: Set<AnyRecordID> {
    Set(
      (steps.insertions + steps.deletions).map(\.id) + (steps.moves + steps.updates).map(\.id))
  }
}
