import FileDB
import Synchronization

/// The writes of the pages that the pages have not been told about yet. With this, only changes of others are marked as
/// such.
final class OwnWrites: Sendable {
  enum Origin: String {
    case here, elsewhere
  }

  /// What is known about a page's write.
  private enum Trace {
    /// Too many records to remember each of them.
    case whole
    /// The records by their ids; `nil` for a deleted one.
    case records([AnyRecordID: StoredRecord<Fields>?])
  }

  private static let mostRecords = 10_000
  private let traces = Mutex<[String: Trace]>([:])

  /// Adds a change that is about to be committed. Pages are told of it before the write returns.
  func add(_ change: TableChange<Fields>, of table: String) {
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

  /// Expects changes of these tables that are about to be committed, whatever they are.
  func expectChanges(of tables: [String]) { traces.withLock { for table in tables { $0[table] = .whole } } }

  /// Forgets what was recorded for these tables: it does not happen, or it has happened.
  func forget(_ tables: [String]) { traces.withLock { for table in tables { $0[table] = nil } } }

  /// Who made this change. What was recorded about it is then forgotten.
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
  /// The records that have changed or moved.
  fileprivate var ids: Set<AnyRecordID> {
    Set(
      (steps.insertions + steps.deletions).map(\.id) + (steps.moves + steps.updates).map(\.id))
  }
}
