import ArgumentParser
import FileDB
import FileDBEssentials

struct Log: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits that are in the journal.",
    discussion: "A checkpoint writes them into the tables' files and empties the journal.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool

  func run() throws {
    let commits = try existingStore().pendingCommits()
    if commits.isEmpty { Terminal.note("the journal is empty") }
    for commit in commits {
      Terminal.print("\(commit.number)  \(commit.date.ISO8601Format())")
      for (table, change) in commit.changes {
        Terminal.print("    \(TerminalText.defused(table)): \(change)")
      }
    }
  }
}
