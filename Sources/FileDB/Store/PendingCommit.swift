import FileDBEssentials

/// A commit that is in the journal but not yet in the tables' files.
public struct PendingCommit: Sendable {
  /// The number of the commit. The store's first commit has number 1.
  public let number: UInt64
  /// The time of the commit, to the second.
  public let date: Date
  /// The changes, in order: the name of the table, and the change in words.
  public let changes: [(table: String, change: String)]
}

extension RecordStore {
  /// The commits in the journal that the next checkpoint writes into the tables' files, the oldest first.
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
