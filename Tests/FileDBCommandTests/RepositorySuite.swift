import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

let hasGit = (try? shell("git --version", in: packageRoot))?.status == 0

/// Tests in real git repositories.
protocol RepositorySuite {}

extension RepositorySuite {
  /// Runs `body` in a repository with a store of three records, committed on the branch `main`, and a branch `other`.
  /// - Parameter setup: what makes git merge records, if anything does.
  func withRepository(setup: String = "filedb git setup", _ body: (URL) throws -> Void) throws {
    let sample = try SampleRepositories.folder(of: setup) { folder in
      try run(
        """
        git init -q -b main && git config user.name Test && git config user.email test@example.com
        filedb create todo && filedb add todo title=Milk note=fresh && filedb add todo title=Bread
        filedb add todo title=Salt && \(setup) && git add . && git commit -q -m base && git branch other
        """, in: folder)
    }
    try withTemporaryFolder { parent in
      let folder = parent.appendingPathComponent("repository")
      // The files keep the times that git knows.
      try run("cp -Rp '\(sample.path)' '\(folder.path)'", in: parent)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @discardableResult
  func run(_ lines: String, status: Int32 = 0, in folder: URL) throws -> ToolResult {
    // No settings of the person who runs the tests.
    let quiet = "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true GIT_PAGER=cat; "
    let result = try shell(quiet + "set -e\n" + lines, in: folder)
    #expect(result.status == status, "\(lines)\n\(result.output)\(result.error)")
    return result
  }

  func records(in folder: URL) throws -> [String] {
    try RecordStore(at: folder).table("todo").lastSnapshot.map { "\($0.id) \($0.fields)" }
  }
}

/// A repository for each setup. It takes a dozen programs to make one, so each test gets a copy.
private enum SampleRepositories {
  private static let made = Mutex<[String: URL]>([:])

  static func folder(of setup: String, make: (URL) throws -> Void) throws -> URL {
    try made.withLock { made in
      if let folder = made[setup] { return folder }
      if made.isEmpty { atexit { SampleRepositories.remove() } }
      let folder = try makeTemporaryFolder()
      made[setup] = folder
      try make(folder)
      return folder
    }
  }

  private static func remove() {
    made.withLock { made in
      for folder in made.values { try? FileManager.default.removeItem(at: folder) }
    }
  }
}
