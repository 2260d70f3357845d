import FileDB
import FileDBEssentials

/// The options of `git merge -X` and similar commands. Git does not pass them on to a merge driver.
enum GitStrategy {
  /// The side that the git process above this one was told to favor; `nil` for neither, or if it is unknown.
  static func favored() -> MergeRenumbering.Side? {
    var process = getppid()
    // Git runs a driver through a shell.
    for _ in 0..<4 where process > 1 {
      guard let words = words(of: process) else { return nil }
      if let name = words.first?.split(separator: "/").last, name == "git" || name.hasPrefix("git-") {
        return favored(by: words) ?? (words.contains("--continue") ? favoredBefore() : nil)
      }
      guard let parent = parent(of: process) else { return nil }
      process = parent
    }
    return nil
  }

  /// If there are several, the last one counts.
  static func favored(by words: [String]) -> MergeRenumbering.Side? {
    var side: MergeRenumbering.Side?
    for (index, word) in words.enumerated() {
      let next = index + 1 < words.count ? words[index + 1] : ""
      let option =
        switch word {
        case "-X", "--strategy-option": next
        case _ where word.hasPrefix("-X"): String(word.dropFirst(2))
        case _ where word.hasPrefix("--strategy-option="): String(word.dropFirst("--strategy-option=".count))
        default: ""
        }
      side = MergeRenumbering.Side(rawValue: option) ?? side
    }
    return side
  }

  /// The options of the rebase or cherry-pick that is being continued.
  private static func favoredBefore() -> MergeRenumbering.Side? {
    let git = Git(folder: URL(fileURLWithPath: ".", isDirectory: true))
    for name in ["rebase-merge/strategy_opts", "sequencer/opts"] {
      guard let file = try? git.run("rev-parse", "--git-path", name), file.status == 0,
        let text = try? String(contentsOf: URL(fileURLWithPath: file.output), encoding: .utf8)
      else { continue }
      let words = text.split { !$0.isLetter }
      if let side = words.compactMap({ MergeRenumbering.Side(rawValue: String($0)) }).last { return side }
    }
    return nil
  }

  /// The words that a process was started with. Only Linux tells them.
  private static func words(of process: pid_t) -> [String]? {
    let bytes = try? Array(Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline")))
    return bytes?.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func parent(of process: pid_t) -> pid_t? {
    let status = try? String(
      contentsOf: URL(fileURLWithPath: "/proc/\(process)/status"), encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("PPid:") }
    return line?.split(separator: "\t").last.flatMap { pid_t($0) }
  }
}
