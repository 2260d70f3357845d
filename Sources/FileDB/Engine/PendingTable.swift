import FileDBTables

/// What the journal holds for one table.
struct PendingTable: Sendable {
  struct Commit: Sendable {
    /// What a record that a commit moves or removes costs, in bytes: a command must look it up in the file.
    private static let weightOfRecord = 256

    let sequence: UInt64
    let changes: [LoggedChange]
    /// The length of the commit in the journal, with its records.
    let byteCount: Int
    /// What it costs to carry out the commit, in bytes. If the weight is a large part of the file, it pays to write the
    /// file.
    let weight: Int

    init(sequence: UInt64, changes: [LoggedChange], byteCount: Int) {
      (self.sequence, self.changes, self.byteCount) = (sequence, changes, byteCount)
      weight = changes.reduce(byteCount) { $0 + $1.change.foundCount * Self.weightOfRecord }
    }
  }

  /// The versions that the file may have: the one that the first of the commits was made for, and each that a checkpoint
  /// was about to install since.
  private(set) var versions: [KnownVersion]
  /// Whether the first of them is a file that another program saved while commits were waiting. Then the commits are
  /// carried out on that file.
  private(set) var isSaved: Bool
  private(set) var commits: [Commit] = []

  init(versions: [KnownVersion] = [], isSaved: Bool = false) {
    (self.versions, self.isSaved) = (versions, isSaved)
  }

  init(_ written: WrittenFiles.File) { self.init(versions: [written.known], isSaved: written.isSaved) }

  /// The length of the commits in the journal, with their records.
  private(set) var byteCount = 0

  /// The last commit that a file of this version includes; `nil` if the journal knows no such file.
  func lastCommit(in version: FileVersion) -> UInt64? { versions.last { $0.version == version }?.through }

  /// The last commit that a file of this version includes, if the later ones were made for that file. `nil` for a file
  /// that another program saved while commits were waiting: then all commits must be carried out on it.
  func replayStart(of version: FileVersion) -> UInt64? {
    guard let last = lastCommit(in: version), !isSaved || last > versions[0].through else { return nil }
    return last
  }

  /// Whether all commits may be carried out on a file that another program saved. After a checkpoint has written the
  /// table, this is so only for the file that the new version was made from. Nobody can tell which of the commits any
  /// other file includes, and commits that the program reverted would come back.
  func mayCarryOut(on version: FileVersion) -> Bool {
    versions.count == 1 || (isSaved && version == versions[0].version)
  }

  mutating func append(_ commit: Commit) {
    commits.append(commit)
    byteCount += commit.byteCount
  }

  mutating func append(_ version: KnownVersion) { versions.append(version) }

  /// Takes over a file that another program saved. Later commits are made for it.
  mutating func adopt(saved version: FileVersion) {
    // In a damaged journal, the commit that named the file's version may be lost.
    let through = versions.first?.through ?? (commits.first?.sequence ?? 1) - 1
    versions = [KnownVersion(version: version, through: through)]
    isSaved = true
  }

  /// Takes over what a checkpoint has written: the file includes all commits but the latest.
  mutating func settle(_ written: WrittenFiles.File) {
    versions = [written.known]
    isSaved = written.isSaved
    commits.removeAll { $0.sequence <= written.known.through }
    byteCount = commits.reduce(0) { $0 + $1.byteCount }
  }

  /// The size of the file that the last checkpoint wrote, or that was there before.
  var fileSize: Int { versions.last?.version.size ?? 0 }

  /// The weight of the commits that were made since.
  var waitingWeight: Int {
    let last = versions.last?.through ?? 0
    return commits.reduce(0) { $0 + ($1.sequence > last ? $1.weight : 0) }
  }

  var changes: [Change] { commits.flatMap(\.changes).map(\.change) }

  /// The highest id of a record in the commits, or 0.
  var highestID: Int64 { changes.flatMap(\.records).map(\.id.rawValue).max() ?? 0 }

  /// The highest id that the commits have given, or 0.
  var counter: Int64 {
    changes.reduce(highestID) { highest, change in
      if case .raiseCounter(let counter) = change { max(highest, counter) } else { highest }
    }
  }

  /// The ids of the records that the commits added.
  var newIDs: Set<AnyRecordID> {
    Set(
      changes.flatMap { change in
        if case .insert(let records, _) = change { records.map(\.id) } else { [AnyRecordID]() }
      })
  }

  /// Whether the table exists after all commits; `nil` if no commit creates or drops it.
  var exists: Bool? {
    for change in changes.reversed() {
      if case .create = change { return true }
      if case .drop = change { return false }
    }
    return nil
  }
}

extension Change {
  /// How many records of the table it moves or removes by their ids.
  fileprivate var foundCount: Int {
    switch self {
    case .remove(let ids), .reorder(let ids): ids.count
    case .move: 1
    case .create, .drop, .insert, .replace, .removeAll, .truncate, .raiseCounter, .declare: 0
    }
  }
}
