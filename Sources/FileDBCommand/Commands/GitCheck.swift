import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct GitCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Refuse a git commit of a table whose file lacks commits of the store.",
    discussion: """
      Looks at the tables that are staged. If the file of one lacks commits that are still in the store's journal, the \
      command names them, prints the commands that help, and ends with exit code 1. It stages nothing. \
      'filedb git setup' installs a pre-commit hook that runs this command.
      """)

  /// A staged table whose file lacks commits.
  private struct Finding {
    let path: String
    let store: String
    let commits: Int
  }

  func run() throws {
    let git = Git(folder: URL(fileURLWithPath: ".", isDirectory: true))
    let top = try git.run("rev-parse", "--show-toplevel")
    guard top.status == 0 else {
      throw StoreError(.fileNotFound, "this folder is not in a git repository", file: git.folder.path)
    }
    let staged = try git.run("diff", "--cached", "--name-only", "--no-renames", "--diff-filter=ACMT", "-z")
    guard staged.status == 0 else {
      throw StoreError(
        .inputOutput, "git could not list the staged files: \(staged.error)", file: git.folder.path)
    }
    let root = URL(fileURLWithPath: top.output, isDirectory: true)
    let findings = try staged.output.split(separator: "\0").compactMap { try finding(String($0), in: root) }
    if findings.isEmpty { return }
    complain(findings, in: root)
    throw ExitCode(1)
  }

  private func complain(_ findings: [Finding], in root: URL) {
    for finding in findings {
      let commits = finding.commits == 1 ? "a commit that is" : "\(finding.commits) commits that are"
      Terminal.complain("\(finding.path) lacks \(commits) still in the store's journal")
    }
    // Git runs hooks at the root, and passes on the folder in which the person is.
    let environment = ProcessInfo.processInfo.environment
    let isAtRoot =
      (environment["GIT_PREFIX"] ?? "").isEmpty
      && FileManager.default.currentDirectoryPath == root.standardizedFileURL.path
    let prefix = isAtRoot ? "" : root.path + "/"
    Terminal.note("Write them into the file, and stage it:")
    for store in Set(findings.map { prefix + $0.store }).sorted() {
      Terminal.note("  filedb checkpoint\(store.isEmpty ? "" : " --store \(ShellText.word(store))")")
    }
    Terminal.note("  git add \(findings.map { ShellText.word(prefix + $0.path) }.joined(separator: " "))")
  }

  /// - Parameter path: the path from the root of the repository.
  /// - Returns: `nil` for a file that does not belong to a store, or that has all commits.
  private func finding(_ path: String, in root: URL) throws -> Finding? {
    let file = root.appendingPathComponent(path)
    let folder = file.deletingLastPathComponent()
    guard FileInfo.isFolder(folder.appendingPathComponent(".filedb")) else { return nil }
    let name =
      file.pathExtension == "plist" ? file.deletingPathExtension().lastPathComponent : file.lastPathComponent
    let store = path.split(separator: "/").dropLast().joined(separator: "/")
    do {
      let commits = try RecordStore(at: folder).table(name).commitsBehind
      return commits == 0 ? nil : Finding(path: path, store: store, commits: commits)
    } catch let error as StoreError {
      // If the file is another one or is damaged, no commit can be missing in it.
      guard error.code == .conflict || error.code == .damagedJournal else { return nil }
      throw error
    }
  }
}
