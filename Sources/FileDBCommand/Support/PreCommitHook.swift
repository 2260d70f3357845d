import FileDB
import FileDBEssentials

/// The hook that runs `filedb git check` before each commit.
struct PreCommitHook {
  let git: Git
  /// How the shell finds this program.
  let program: String

  enum State {
    case missing(URL)
    case installed
    /// There is another hook, or the hooks are shared with other repositories.
    case occupied(URL)
  }

  private var script: String {
    """
    #!/bin/sh
    # Installed by 'filedb git setup': refuses a commit of a table whose file is behind its store.
    command -v \(program) >/dev/null || { echo 'filedb is not on the path; tables are not checked' >&2; exit 0; }
    exec \(line)

    """
  }

  /// The line that another hook needs.
  var line: String { "\(program) git check" }

  func state() throws -> State {
    let path = try git.run("rev-parse", "--git-path", "hooks/pre-commit").output
    let file = URL(fileURLWithPath: path, relativeTo: git.folder).standardizedFileURL
    if let old = try? String(contentsOf: file, encoding: .utf8) {
      return old.contains(" git check") ? .installed : .occupied(file)
    }
    let common = try git.run("rev-parse", "--git-common-dir").output
    let home = URL(fileURLWithPath: common, relativeTo: git.folder).standardizedFileURL.path
    return file.path.hasPrefix(home + "/") ? .missing(file) : .occupied(file)
  }

  func install(at file: URL) throws {
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(script.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    } catch {
      throw StoreError(.inputOutput, "the hook cannot be written: \(error.systemReason)", file: file.path)
    }
  }
}
