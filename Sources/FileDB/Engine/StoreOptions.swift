import FileDBPlist
import FileDBStorage
import FileDBTables

/// The options of a store: how it waits, when it writes its files, and what it keeps in memory.
public struct StoreOptions: Sendable {
  /// How long a write waits for one of another process, and how long for one of this process, before it fails with
  /// ``StoreError/Code/locked``.
  public var lockTimeout: Duration
  /// How large and how deeply nested a table's file may be. The limits are the same for reading and writing.
  public var limits: PlistLimits
  /// When commits go from the journal into the tables' files.
  public var checkpoints: CheckpointPolicy
  /// What a commit waits for.
  public var durability: Durability
  /// How many bytes of memory the store may use for the values of fields that predicates and sort keys have read. They
  /// make the next query of the same fields several times as fast. 0 turns this off.
  public var columnBytes: Int
  /// Where the store has its journal, its locks and its backups.
  public var ownFolder: OwnFolderPlace
  /// The user's state folder, if it is not the usual one.
  package var stateFolder: String?
  /// How tables' files are read.
  package var reading = TableReading.whole
  /// Files with fewer bytes are always read as a whole.
  package var leastUnread = 1 << 18
  /// How tables are divided in memory.
  package var shape = OrderedRecords.Shape.standard
  /// If a commit has more bytes of records than this, they go into a file beside the journal.
  package var longestFrame = 8 << 20
  /// How long a store is without commits before it makes an automatic checkpoint.
  package var checkpointPause = Duration.seconds(1)
  /// A table's file of at least this size is not rewritten for a few commits.
  package var largeFile = 16 << 20
  /// A checkpoint keeps a journal of up to this size. It replaces a longer one.
  package var keptJournal = 60 << 10
  /// Commits of up to this size may always be copied into the next journal, and others if they have at most half the
  /// length of the present one.
  package var shortJournal = 1 << 20

  /// The options of a store. The defaults suit most stores.
  public init(
    lockTimeout: Duration = .seconds(5), limits: PlistLimits = PlistLimits(),
    checkpoints: CheckpointPolicy = .automatic, durability: Durability = .full, columnBytes: Int = 32 << 20,
    ownFolder: OwnFolderPlace = .inStore
  ) {
    self.lockTimeout = lockTimeout
    self.limits = limits
    self.checkpoints = checkpoints
    self.durability = durability
    self.columnBytes = columnBytes
    self.ownFolder = ownFolder
  }
}

/// Where a store has its own folder, with the journal, the locks, the undo log and the backups.
public enum OwnFolderPlace: Sendable {
  /// The folder `.filedb` in the store's folder. A store whose own folder is elsewhere stays as it is.
  case inStore
  /// In this user's state folder on this machine: `$XDG_STATE_HOME/filedb` or `~/.local/state/filedb`, on Apple
  /// platforms `Application Support/filedb`. This is for a folder that a service copies between machines
  /// (<doc:SyncedFolders>), since the journal and the locks belong to one machine.
  ///
  /// In the store's folder, `.filedb` is then a small file, which tells all machines and programs. Opening the store
  /// makes it. If the folder `.filedb` is there already, its files move; a program that has the store open at that
  /// moment then gets ``StoreError/Code/storeGone``. A folder that is renamed keeps its own folder, and a copy gets
  /// another one. All programs that use the store on one machine must have the same state folder, so they run as one
  /// user: two users would not see each other's locks, only each other's files.
  case inUserState
}

/// When FileDB writes the commits in the journal into the tables' files.
///
/// Readers of the store see no difference. Programs that read the files themselves see a commit only after the
/// checkpoint. If they change a file before it, the store has a ``StoreError/Code/conflict``.
public enum CheckpointPolicy: Sendable {
  /// When the store is closed or released, when the program ends, after a second without commits, and when the journal
  /// has at least 1 MB and half the size of the files that it changes. Commits go on meanwhile.
  ///
  /// A file of 16 MB or more is written only when its commits have 1/8 of its size, or when the journal is as long as
  /// that. A record that is moved or deleted counts as 256 bytes. So a sort writes the file, and adding one record never
  /// rewrites a large file.
  case automatic
  /// With each commit. The files are always up to date, and each commit rewrites the files of the tables that it
  /// changes.
  case everyCommit
  /// Only when you call `RecordStore.checkpoint()`. The journal grows until then.
  case manual
}

/// What a commit waits for before `write` returns.
///
/// | | a crash of the process | a power cut, or a crash of the system |
/// | --- | --- | --- |
/// | ``full`` | loses nothing | loses nothing |
/// | ``barrier`` | loses nothing | may lose the last commits on Apple platforms; the same as ``full`` elsewhere |
/// | ``none`` | loses nothing | may lose the commits since the last checkpoint |
///
/// Only the latest commits can be lost, and each is lost as a whole. What remains is the store as it was before them.
public enum Durability: Sendable {
  /// The commit waits until its data is on the disk: `fdatasync`, or `F_FULLFSYNC` on Apple platforms. There, a file
  /// system that lacks it, such as a network share, gets `fsync`.
  case full
  /// The commit does not wait until its data is on the disk, but the disk writes it before all later commits:
  /// `F_BARRIERFSYNC` on Apple platforms. Other platforms have no such call, and use ``full``.
  case barrier
  /// The commit waits only for the operating system, which writes it to the disk later. Checkpoints are still synced.
  case none

  var syncStrength: SyncStrength? {
    switch self {
    case .full: .full
    case .barrier: .barrier
    case .none: nil
    }
  }
}
