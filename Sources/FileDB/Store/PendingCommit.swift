import FileDBEssentials

/// A commit in the journal that a table's file does not have yet.
public struct PendingCommit: Sendable {
  /// The number of the commit, from 1 for the store's first.
  public let number: UInt64
  /// The time of the commit, to the second.
  public let date: Date
  /// The changes, in order: the table of each, and the change in words.
  public let changes: [(table: String, change: String)]
}

extension RecordStore {
  /// The commits in the journal that wait for a checkpoint, the oldest first. A checkpoint writes them into the tables'
  /// files.
  /// - Throws: ``StoreError/Code/damagedJournal``, and the disk's errors.
  /// - Complexity: O(*n*) in the size of the journal.
  public func pendingCommits() throws -> [PendingCommit] {
    try fileLog.waitingCommits().map(PendingCommit.init)
  }
}

extension PendingCommit {
  fileprivate init(_ commit: LoggedCommit) {
    number = commit.sequence
    date = commit.date
    changes = commit.changes.map { ($0.table.text, $0.change.summary) }
  }
}

extension Change {
  fileprivate var summary: String {
    switch self {
    case .create: "create"
    case .drop: "drop"
    case .removeAll: "removeAll"
    case .truncate: "truncate"
    case .reorder: "reorder"
    case .raiseCounter(let counter): "counter \(counter)"
    case .declare(let schema): schema == nil ? "noSchema" : "schema"
    case .insert(let records, let index): "insert \(Self.list(records.map(\.id))) at index \(index)"
    case .replace(let record): "replace \(record.id)"
    case .remove(let ids): "remove \(Self.list(ids))"
    case .move(let id, let index): "move \(id) to index \(index)"
    }
  }

  private static func list(_ ids: [AnyRecordID]) -> String {
    let shown = ids.prefix(8).map(\.description).joined(separator: " ")
    return ids.count > 8 ? "\(shown) and \(ids.count - 8) more" : shown
  }
}
