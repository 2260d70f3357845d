import FileDB
import FileDBEssentials

/// How a SQLite database begins.
package enum SQLiteSignature {
  private static let text = "SQLite format 3\0"

  /// Whether the file at `url` begins so. A pipe is not looked into: what it gives is gone once it is read.
  package static func begins(_ url: URL) -> Bool {
    let kind = try? FileInfo(at: url.resolvingSymlinksInPath()).kind
    guard kind == .file, let start = try? InputFile(url).read() else { return false }
    return begins(start)
  }

  package static func begins(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: text.utf8) }
}
