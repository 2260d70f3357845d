import FileDB
import FileDBEssentials

/// The first bytes of a SQLite database.
package enum SQLiteSignature {
  private static let text = "SQLite format 3\0"

  /// Whether the file at `url` begins like this. A pipe is not read, because its bytes would be gone.
  package static func begins(_ url: URL) -> Bool {
    let kind = try? FileInfo(at: url.resolvingSymlinksInPath()).kind
    guard kind == .file, let start = try? InputFile(url).read() else { return false }
    return begins(start)
  }

  package static func begins(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: text.utf8) }
}
