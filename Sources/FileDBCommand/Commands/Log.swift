import ArgumentParser
import FileDB
import FileDBEssentials

struct Log: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits that wait in the journal.",
    discussion: """
      The tables' files do not have them yet. A checkpoint writes them there. In all formats but table, each change of \
      a commit is a row.
      """)

  static var places: StorePlaces { .folders }

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @OptionGroup var output: FormatOption

  func run() throws {
    let commits = try existingStore().pendingCommits()
    guard output.format == .table else { return try print(commits) }
    if commits.isEmpty { Terminal.note("no commits are waiting") }
    for commit in commits {
      Terminal.print("\(commit.number)  \(commit.date.ISO8601Format())")
      for (table, change) in commit.changes {
        Terminal.print("    \(TerminalText.defused(table)): \(change)")
      }
    }
  }

  /// Prints a row for each change.
  private func print(_ commits: [PendingCommit]) throws {
    let rows = commits.flatMap { commit in
      commit.changes.map { table, change -> [PlistValue?] in
        [.integer(Int64(commit.number)), .date(commit.date), .string(table), .string(change)]
      }
    }
    try SummaryPrinter(output: output, titles: ["commit", "date", "table", "change"], keyCount: 0).print(rows)
  }
}
