import FileDB
import FileDBEssentials
import FileDBPlist

/// The commits that wait in the journal.
struct WaitingCommits {
  private let commits: [PendingCommit]
  /// `nil` for all tables.
  private let table: TableName<Fields>?

  init(_ commits: [PendingCommit], of table: TableName<Fields>?) {
    (self.commits, self.table) = (commits, table)
  }

  func print(in output: FormatOption) throws {
    guard output.format == .table else { return try printRows(in: output) }
    let commits = commits.map { ($0, changes(of: $0)) }.filter { !$0.1.isEmpty }
    if commits.isEmpty { Terminal.note("no commits are waiting") }
    for (commit, changes) in commits {
      Terminal.print("\(commit.number)  \(commit.date.ISO8601Format())")
      for (table, change) in changes { Terminal.print("    \(TerminalText.defused(table)): \(change)") }
    }
  }

  private func printRows(in output: FormatOption) throws {
    let rows = commits.flatMap { commit in
      changes(of: commit).map { table, change -> [PlistValue?] in
        [.integer(Int64(commit.number)), .date(commit.date), .string(table), .string(change)]
      }
    }
    try SummaryPrinter(output: output, titles: ["commit", "date", "table", "change"], keyCount: 0).print(rows)
  }

  private func changes(of commit: PendingCommit) -> [(table: String, change: String)] {
    guard let table else { return commit.changes }
    return commit.changes.filter { TableName($0.table) == table }
  }
}
