/// What a store has in its own folder, `.filedb`, beside the files of records. Format.md says what each is for.
///
/// This is the only list. A path to anything in a folder of this list is followed without links; see ``SystemPath``.
package enum OwnName: String, CaseIterable, Sendable {
  case ignored = ".gitignore"
  /// The locks of writers, of those who wait to write, and of those who make a checkpoint.
  case lock, queue, checkpoint
  case journal
  case counters = "counters.plist"
  case installed = "installed.plist"
  case backups, conflicts, offsets, shipped, undo
  /// A folder of a shared store: which log it follows, when it started over, and the commit on its way there.
  case shared, start, sent
  /// The store in which such a folder keeps the commits of the log. Its own folder has ``shown``.
  case replica, shown

  package var isFolder: Bool {
    switch self {
    case .backups, .conflicts, .offsets, .shipped, .undo, .replica, .shown: true
    default: false
    }
  }

  /// The most bytes that this file, or one in this folder, can have. FileDB has not made a longer one.
  package var longestFile: Int {
    switch self {
    case .shared, .start, .sent: 64 << 10
    case .ignored, .lock, .queue, .checkpoint, .counters: 64 << 20
    case .journal, .installed, .backups, .conflicts, .offsets, .shipped, .undo, .replica, .shown: 16 << 30
    }
  }
}
