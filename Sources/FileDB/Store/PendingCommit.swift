import FileDBStorage
import Foundation

/// A commit in the journal.
public struct PendingCommit: Sendable {
  /// Counted from 1 since the store was made.
  public let number: UInt64
  /// When it was made, to the second.
  public let date: Date
  /// What it does, in order: the table, and the change in words.
  public let changes: [(table: String, change: String)]
}

extension RecordStore {
  /// The commits in the journal, the oldest first. A checkpoint writes them into the tables' files and empties it.
  /// - Throws: ``StoreError/damagedJournal``, and the disk's errors.
  /// - Complexity: O(*n*) in the size of the journal.
  public func pendingCommits() throws -> [PendingCommit] {
    let opened = try onJournal { () throws(JournalError) in
      try Journal.open(folder.journalFile, on: folder.disk)
    }
    return try (opened?.frames ?? []).filter { $0.kind == .commit }.map { frame in
      do throws(PayloadFault) {
        return PendingCommit(
          try LoggedCommit(payload: frame.payload, depth: options.limits.depth), number: frame.sequence)
      } catch {
        throw StoreError(StoreError.damagedJournal, error.message, file: folder.journalFile)
      }
    }
  }
}

extension PendingCommit {
  fileprivate init(_ commit: LoggedCommit, number: UInt64) {
    self.number = number
    date = commit.date
    changes = commit.changes.map { ($0.table.text, $0.change.summary) }
  }
}

extension Change {
  fileprivate var summary: String {
    switch self {
    case .create, .drop, .removeAll, .truncate, .reorder: name
    case .insert(let records, let row): "insert \(Self.list(records.map(\.id))) at row \(row)"
    case .replace(let record): "replace \(record.id)"
    case .remove(let ids): "remove \(Self.list(ids))"
    case .move(let id, let row): "move \(id) to row \(row)"
    }
  }

  private static func list(_ ids: [RecordID]) -> String {
    let shown = ids.prefix(8).map(\.description).joined(separator: " ")
    return ids.count > 8 ? "\(shown) and \(ids.count - 8) more" : shown
  }
}
