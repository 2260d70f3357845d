import Foundation

/// SQLite by its C interface, with statements that are prepared once: what GRDB stands on.
final class SQLitePeer: Peer {
  static let name = "SQLite, C interface"

  private let sample: Sample
  private lazy var opened = Result { try SQLiteConnection(GRDBPeer.makeDatabase(sample, in: "GRDB-read")) }
  private lazy var edited = Result { try editedTable(in: "SQLite", .full) }
  private lazy var unsynced = Result { try editedTable(in: "SQLite-unsynced", .off) }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .record: try readingRecords()
    case .filter, .predicate, .predicateAgain: try filtering()
    case .groups, .groupsAgain: try grouping()
    case .edit, .writers, .slow(.one), .slow(.writers): try edited.get().prepare(workload)
    case .ruled(let work, let rules):
      try SQLiteRuledTables.prepare(work, rules, sample, in: "SQLite-rules")
    case .processorTime: try unsynced.get().prepare(workload)
    default: nil
    }
  }

  private func editedTable(in scratch: String, _ synchronous: SQLiteConnection.Synchronous) throws
    -> EditedTable
  {
    let connection = try SQLiteConnection(GRDBPeer.makeDatabase(sample, in: scratch), synchronous)
    return try EditedTable(SQLiteEditor(connection), records: sample.records)
  }

  static let columns = "title, note, amount, price, due, isDone"

  private func readingRecords() throws -> Run {
    let statement = try opened.get().prepare("SELECT \(Self.columns) FROM storedEntry WHERE id = ?")
    return { [sample] in
      try sample.readRecords { id in try statement.read([.integer(id)], \.entry).first?.amount }
    }
  }

  private func filtering() throws -> Run {
    // The plus keeps SQLite from going by the index of the positions, which takes longer than to sort what is found.
    let statement = try opened.get().prepare(
      "SELECT \(Self.columns) FROM storedEntry WHERE price >= ? ORDER BY +position")
    return { [sample] in try sample.filterRows { try statement.read([.real(Sample.dear)], \.entry) } }
  }

  private func grouping() throws -> Run {
    let statement = try opened.get().prepare(
      "SELECT isDone, count(*), sum(amount), avg(price), max(price) FROM storedEntry GROUP BY isDone")
    return { [sample] in try sample.readGroups { try statement.read([], \.group) } }
  }
}

extension SQLiteStatement {
  fileprivate var group: Sample.Group {
    Sample.Group(
      isDone: integer(0) != 0, count: integer(1), amounts: integer(2), averagePrice: real(3),
      highestPrice: real(4))
  }
}
