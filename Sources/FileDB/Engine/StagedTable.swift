import FileDBStorage
import FileDBTables

/// Which tables a checkpoint writes.
package enum CheckpointScope: Sendable {
  /// All tables that have commits in the journal.
  case all
  /// The tables for which it pays: adding one record must not rewrite a large file. A file of at least this size waits
  /// until its commits weigh 1/8 of its size, or until the journal is too long; see ``JournalSizes``.
  case due(largeFile: Int)

  func contains(_ table: PendingTable) -> Bool {
    switch self {
    case .all: true
    case .due(let largeFile):
      table.exists == false || table.fileSize < largeFile || table.waitingWeight >= table.fileSize / 8
    }
  }
}

/// A table whose new file is written and synced, but does not have its name yet; or whose file is to be removed.
struct StagedTable {
  /// Where the new file comes from.
  enum Origin {
    /// The table's file with its commits.
    case commits
    /// The same, and another program saved that file while commits were waiting.
    case savedFile
    /// What a repair has made of the file.
    case repair
  }

  /// A draft is synced each time that it has grown by so many bytes. So a commit never has to wait until the disk has
  /// written the whole draft.
  private static let piece = 4 << 20

  let key: TableKey
  /// The table with the commits that the new file includes.
  let source: TableVersion
  /// The file that it was made from, which it may replace.
  let base: FileVersion
  let origin: Origin
  let path: String
  /// The journal at that time.
  let salt: UInt32
  /// `nil` if the file is to be removed.
  let file: StagedFile?
  let version: FileVersion
  /// `nil` if the file is to be removed.
  let offsets: TableOffsets?
  /// Complete with all records.
  let lookups: [LookupDraft]
  /// The file's stamp once it has its name.
  var stamp: FileStamp?
  /// Keeps the bytes of the former file on the disk for as long as this is there.
  private var former: (any OpenFile)?

  init(
    _ key: TableKey, _ source: TableVersion, of base: FileVersion, _ origin: Origin, in folder: StoreFolder,
    salt: UInt32
  ) throws(StoreError) {
    (self.key, self.source, self.base, self.origin, self.salt) = (key, source, base, origin, salt)
    path = try folder.file(of: key.text).path
    guard source.state.exists else {
      (file, version, offsets, lookups) = (nil, .absent, nil, [])
      return
    }
    var checksum = Checksum()
    var (size, unsynced) = (0, 0)
    var offsets: TableOffsets?
    var lookups = source.state.emptyLookups
    let visit = { (record: EncodedRecord) in lookups.add(record) }
    file = try folder.disk.stage(path, mostOpen: folder.modeOfNewTables()) { file throws(DiskError) in
      offsets = try TableFile.encode(source.state, visiting: visit) { bytes throws(DiskError) in
        bytes.withUnsafeBytes { checksum.update($0) }
        size += bytes.count
        unsynced += bytes.count
        try file.append(bytes)
        guard unsynced >= Self.piece else { return }
        try file.sync()
        unsynced = 0
      }
    }
    version = .file(size: size, checksum: checksum.value)
    (self.offsets, self.lookups) = (offsets, lookups)
  }

  /// The new file, as the journal names it.
  var known: KnownVersion {
    KnownVersion(
      version: version, through: source.through,
      identity: origin == .repair ? nil : file?.stamp.flatMap { FileIdentity($0) })
  }

  /// Keeps the former file open, which is about to be removed. Freeing its bytes takes time, and happens only when it is
  /// closed: even 4 MB may take milliseconds.
  mutating func keepFormerOpen(on disk: StoreDisk) {
    if base != .absent { former = try? disk.open(file?.target ?? path) }
  }
}

extension JournalCheckpoint {
  init(of staged: [StagedTable]) {
    for table in staged {
      files[table.key] = File(
        new: table.known, saved: table.origin == .savedFile ? table.base : nil,
        isRepaired: table.origin == .repair)
    }
  }
}
