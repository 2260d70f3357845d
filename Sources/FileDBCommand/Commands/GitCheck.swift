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
      command names them, prints the commands that help, and ends with exit code 1. It stages nothing. If a table that is \
      not staged lacks commits, the command only says so: the file of a large table may stay behind for long, and then \
      git sees no change. 'filedb git setup' installs a pre-commit hook that runs this command.
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
    let root = URL(fileURLWithPath: top.output, isDirectory: true)
    let staged = try files(
      ["diff", "--cached", "--name-only", "--no-renames", "--diff-filter=ACMT", "-z"], of: git)
    let tracked = try files(["ls-files", "--full-name", "-z", top.output], of: git)
    let findings = try findings(staged, in: root)
    // What cannot be read here is not part of this commit.
    for finding in (try? self.findings(tracked.subtracting(staged), in: root)) ?? [] {
      Terminal.note(
        "\(finding.path) is not in this git commit, and lacks \(finding.commits.counted("commit")) of the store; "
          + "'filedb checkpoint' writes \(finding.commits == 1 ? "it" : "them")")
    }
    if findings.isEmpty { return }
    complain(findings, in: root)
    throw ExitCode(1)
  }

  private func files(_ command: [String], of git: Git) throws -> Set<String> {
    let (output, error, status) = try git.read(command)
    guard status == 0 else {
      throw StoreError(
        .inputOutput, "git could not list the files: \(String(decoding: error, as: UTF8.self))",
        file: git.folder.path)
    }
    return Set(String(decoding: output, as: UTF8.self).parts(between: "\0").filter { !$0.isEmpty })
  }

  /// What files lack that are tables of stores. A repository may have many other files, in few folders.
  private func findings(_ paths: Set<String>, in root: URL) throws -> [Finding] {
    let folders = Dictionary(grouping: paths) { path in
      path.parts(between: "/").dropLast().joined(separator: "/")
    }
    let stores = folders.filter { folder, _ in FileInfo.isStore(root.appendingPathComponent(folder)) }
    return try stores.values.joined().sorted().compactMap { try finding($0, in: root) }
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
    let name =
      file.pathExtension == "plist" ? file.deletingPathExtension().lastPathComponent : file.lastPathComponent
    let store = path.parts(between: "/").dropLast().joined(separator: "/")
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
