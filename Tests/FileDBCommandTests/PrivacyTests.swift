import Foundation
import TestSupport
import Testing

/// Records of a table that only its owner may read never reach a file that others may read.
@Suite struct PrivacyTests {
  private static let secret = "geheim-4711"

  /// Commands that make other files of a private table `t`. Beside it is a public table `u`.
  private static let commands: [[[String]]] = [
    [["add", "t", "n=1"], ["drop", "t", "--yes"], ["add", "u", "n=2"], ["checkpoint"]],
    [["set", "t", "1", "n=2"], ["drop", "t", "--yes"], ["undo"]],
    [["table", "rename", "t", "v"], ["add", "u", "n=2"]], [["table", "rename", "t", "v"], ["undo"]],
    [["table", "copy", "t", "v"]], [["copy", ".", "new"], ["add", "u", "n=1", "--store", "new"]],
    [["copy", ".", "open"]],
    [["ship", "install", ".", "new", "--version", "1"], ["add", "u", "n=1", "--store", "new"]],
    [["export", "t", "t.csv"]], [["export", "t", "t.json", "--schema", "s.json"]],
    [["export", "t", "out.sqlite"]],
    [["merge", "t.plist", "t.plist", "t.plist", "--output", "merged.plist"]],
    [["init", "--own-folder"], ["drop", "t", "--yes"], ["add", "u", "n=2"]],
    [["sort", "t", "n"], ["repair"]], [["truncate", "t", "--yes"], ["undo"], ["redo"], ["undo"]],
  ]

  @Test(arguments: commands, ["022", "000", "077"])
  func noCommandMakesAPrivateTablePublic(_ commands: [[String]], umask: String) throws {
    try withTemporaryFolder { folder in
      let words = commands.map { line in
        (["filedb"] + line).map { "'\($0)'" }.joined(separator: " ")
      }
      let script = """
        umask 022; chmod 755 .; mkdir open; export XDG_STATE_HOME="$PWD/state"
        filedb create t; filedb add t secret=\(Self.secret); filedb create u; filedb add u n=1
        filedb checkpoint; chmod 600 t.plist; filedb add u n=1; umask \(umask)
        \(words.joined(separator: "\n"))
        """
      let result = try shell(script, in: folder)
      #expect(result.status == 0, "\(result)")
      // `grep` as somebody else would do it: a file counts if its folders let others in.
      let found = try shell(
        "find . -type d ! -perm -005 -prune -o -type f -perm /066 -exec grep -la \(Self.secret) {} +",
        in: folder)
      #expect(found.output == "", "\(found)")
    }
  }
}
