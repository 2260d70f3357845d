import FileDBPlist
import FileDBStorage
import FileDBTables

/// How a store behaves.
public struct StoreOptions: Sendable {
  /// How long a write waits for another process to finish its own before it fails with ``StoreError/Code/locked``.
  public var lockTimeout: Duration
  /// What a table file may hold; the same for reading and writing.
  public var limits: PlistLimits
  /// When commits go from the journal into the tables' files.
  public var checkpoints: CheckpointPolicy
  /// What a commit waits for.
  public var durability: Durability
  /// How many bytes the store may take to remember what the records of its tables have in the fields that predicates
  /// and sort keys ask for. With it, asking again is several times as fast. 0 remembers nothing.
  public var columnBytes: Int
  /// How tables' files are read.
  package var reading = TableReading.whole
  /// A file of fewer bytes is always read as a whole.
  package var leastUnread = 1 << 18
  /// How tables lie in memory.
  package var shape = OrderedRecords.Shape.standard
  /// Commits with more bytes of records have these in a file beside the journal.
  package var longestFrame = 8 << 20
  /// A table's file of this many bytes is not written for a few commits.
  package var largeFile = 16 << 20
  /// A checkpoint keeps a journal of this many bytes, and adds to it what it has done. A longer one is replaced.
  package var keptJournal = 60 << 10
  /// Commits of this many bytes may be copied into the next journal with each checkpoint.
  package var shortJournal = 1 << 20

  /// The options of a store, each with the value that most stores want.
  public init(
    lockTimeout: Duration = .seconds(5), limits: PlistLimits = PlistLimits(),
    checkpoints: CheckpointPolicy = .automatic, durability: Durability = .full, columnBytes: Int = 32 << 20
  ) {
    self.lockTimeout = lockTimeout
    self.limits = limits
    self.checkpoints = checkpoints
    self.durability = durability
    self.columnBytes = columnBytes
  }
}

/// When commits go from the journal into the tables' files. Readers of the store see no difference; programs that read
/// the files by themselves do, and until then an edit of such a file is a ``StoreError/Code/conflict``.
public enum CheckpointPolicy: Sendable {
  /// When the store is closed or released, when the program ends, after a second without commits, and when the journal
  /// has grown to half the size of the files that it changes. A file of 16 MB or more waits until its commits have 1/8
  /// of its size, so that adding one record never rewrites a large file.
  case automatic
  /// With each commit: the files are always up to date, and a commit costs a rewrite of the tables it changes.
  case everyCommit
  /// Only by `RecordStore.checkpoint()`. The journal grows until then.
  case manual
}

/// What a commit waits for before `write` returns.
///
/// | | a crash of the process | a power cut, or a crash of the system |
/// | --- | --- | --- |
/// | ``full`` | loses nothing | loses nothing |
/// | ``barrier`` | loses nothing | may lose the last commits, on Apple platforms; elsewhere as ``full`` |
/// | ``none`` | loses nothing | may lose the commits since the last checkpoint |
///
/// Whatever is lost, it is the latest commits, each as a whole: what remains is the store as it was before them.
public enum Durability: Sendable {
  /// The commit is on the medium: `fdatasync`, on Apple platforms `F_FULLFSYNC`.
  case full
  /// The commit is on its way to the medium, before all later ones: `F_BARRIERFSYNC` on Apple platforms.
  case barrier
  /// The commit is with the system, which writes it when it likes. Checkpoints are synced all the same.
  case none

  var syncStrength: SyncStrength? {
    switch self {
    case .full: .full
    case .barrier: .barrier
    case .none: nil
    }
  }
}
