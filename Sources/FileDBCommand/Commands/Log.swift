import ArgumentParser
import FileDB
import FileDBEssentials

struct Log: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits that wait in the journal.",
    discussion: "The tables' files do not have them yet. A checkpoint writes them there.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool

  func run() throws {
    let commits = try existingStore().pendingCommits()
    if commits.isEmpty { Terminal.note("no commits are waiting") }
    for commit in commits {
      Terminal.print("\(commit.number)  \(commit.date.ISO8601Format())")
      for (table, change) in commit.changes {
        Terminal.print("    \(TerminalText.defused(table)): \(change)")
      }
    }
  }
}
