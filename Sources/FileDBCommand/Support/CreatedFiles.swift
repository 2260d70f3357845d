import FileDB
import FileDBEssentials
import FileDBExchange

/// The files that this process creates, such as an export.
enum CreatedFiles {
  /// From here on, they are open to no more users than this table's file, from which their content comes.
  static func restrict(toReadersOf table: URL) {
    guard let mode = try? FileInfo(at: table.resolvingSymlinksInPath()).permissions else { return }
    let mask = umask(0o077)
    umask(mask | mode_t(~mode & 0o066))
  }
}
