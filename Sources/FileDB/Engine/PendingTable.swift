import FileDBTables

/// What the journal holds for one table.
struct PendingTable: Sendable {
  struct Commit: Sendable {
    var sequence: UInt64
    var changes: [LoggedChange]
    /// The length of the commit in the journal, with its records.
    var byteCount: Int
  }

  /// The versions that the file may have, each with the last commit that it includes: the version before the journal,
  /// and each version that a checkpoint was about to install.
  var versions: [(version: FileVersion, lastCommit: UInt64)]
  /// Whether the first of them is a file that another program saved while commits were waiting. The commits are carried
  /// out on it.
  private(set) var isSaved = false
  private(set) var commits: [Commit] = []
  /// The length of the commits in the journal.
  private(set) var byteCount = 0

  /// The last commit that a file of this version includes; `nil` if the journal knows no such file.
  func lastCommit(in version: FileVersion) -> UInt64? { versions.last { $0.version == version }?.lastCommit }

  /// The last commit that a file of this version includes, if the later ones were made for that file. `nil` for a file
  /// that another program saved while commits were waiting: then all commits must be carried out on it.
  func replayStart(of version: FileVersion) -> UInt64? {
    guard let last = lastCommit(in: version), !isSaved || last > versions[0].lastCommit else { return nil }
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

  /// From here on, commits are made for a file that another program saved.
  mutating func adopt(saved version: FileVersion) {
    // In a damaged journal, the commit that named the file's version may be lost.
    let lastCommit = versions.first?.lastCommit ?? (commits.first?.sequence ?? 1) - 1
    versions = [(version, lastCommit)]
    isSaved = true
  }

  /// The size of the file that the last checkpoint wrote, or that was there before.
  var fileSize: Int { versions.last?.version.size ?? 0 }

  /// The length of the commits that were made since.
  var waitingBytes: Int {
    let last = versions.last?.lastCommit ?? 0
    return commits.reduce(0) { $0 + ($1.sequence > last ? $1.byteCount : 0) }
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

extension [TableKey: PendingTable] {
  /// Adds a commit.
  /// - Parameters:
  ///   - sequence: its number.
  ///   - byteCount: its length in the journal.
  /// - Throws: if the commit was made for another state of the tables.
  mutating func add(
    _ commit: JournalCommit, sequence: UInt64, byteCount: Int
  ) throws(PayloadFault) {
    for (table, former) in commit.tables {
      if let base = former.base {
        if self[table] == nil {
          self[table] = PendingTable(versions: [(base, sequence - 1)])
        } else {
          self[table]?.adopt(saved: base)
        }
      } else if self[table] == nil {
        throw PayloadFault(message: "it does not say which file of '\(table.text)' it changes")
      }
      if let former = former.sequence, let last = self[table]?.commits.last, last.sequence > former {
        throw PayloadFault(message: "it was made for '\(table.text)' as of commit \(former)")
      }
    }
    for table in commit.tables.keys {
      let changes = commit.changes.filter { $0.table == table }
      self[table]?.append(
        PendingTable.Commit(sequence: sequence, changes: changes, byteCount: byteCount))
    }
  }

  mutating func add(_ checkpoint: JournalCheckpoint, at sequence: UInt64) {
    for (table, file) in checkpoint.files {
      if let saved = file.saved { self[table]?.adopt(saved: saved) }
      self[table]?.versions.append((file.version, sequence))
    }
  }
}
