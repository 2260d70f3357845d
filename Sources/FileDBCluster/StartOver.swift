import FileDBEssentials

/// A moment at which the folder of a shared store started over: it read all tables again, because the shared log no
/// longer had the commits that the folder lacked. See `RecordStore.lastStartOver()`.
///
/// Records, ids and counters are those of the shared store afterwards, and edits in the folder's files still become
/// commits. Only the undo history of the folder ends.
public struct StartOver: Hashable, Sendable {
  /// When the folder started over, to the second.
  public let date: Date
  /// The number of the folder's last commit before.
  public let lastCommitBefore: UInt64
  /// The number of the commit whose tables the folder read.
  public let commitAfter: UInt64
}
