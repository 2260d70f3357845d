/// What the journal holds for one table.
struct PendingTable: Sendable {
  struct Commit: Sendable {
    var sequence: UInt64
    var changes: [Change]
  }

  /// What the file may be, and the last commit that is in it then: as it was before the journal, and as each checkpoint was
  /// about to make it.
  var versions: [(version: FileVersion, lastCommit: UInt64)]
  var commits: [Commit] = []
  /// How long the commits are in the journal.
  var byteCount = 0

  /// The last commit that a file of this version includes; `nil` where the journal knows no such file.
  func lastCommit(in version: FileVersion) -> UInt64? { versions.last { $0.version == version }?.lastCommit }

  /// The highest id of a record in the commits, or 0.
  var highestID: Int64 { commits.flatMap(\.changes).flatMap(\.records).map(\.id.rawValue).max() ?? 0 }

  /// The ids that the commits gave to new records.
  var newIDs: Set<RecordID> {
    Set(
      commits.flatMap(\.changes).flatMap { change in
        if case .insert(let records, _) = change { records.map(\.id) } else { [RecordID]() }
      })
  }

  /// Whether the table is there once all is carried out.
  var exists: Bool? {
    for change in commits.flatMap(\.changes).reversed() {
      if case .create = change { return true }
      if case .drop = change { return false }
    }
    return nil
  }
}

extension [TableKey: PendingTable] {
  /// Adds a commit that was read.
  mutating func note(_ commit: LoggedCommit, sequence: UInt64, byteCount: Int) throws(PayloadFault) {
    for table in commit.tables where self[table] == nil && commit.bases[table] == nil {
      throw PayloadFault(message: "it does not say which file of '\(table.text)' it changes")
    }
    noteOwn(commit, sequence: sequence, byteCount: byteCount)
  }

  mutating func noteOwn(_ commit: LoggedCommit, sequence: UInt64, byteCount: Int) {
    for (table, version) in commit.bases where self[table] == nil {
      self[table] = PendingTable(versions: [(version, sequence - 1)])
    }
    for table in commit.tables {
      let changes = commit.changes.compactMap { $0.table == table ? $0.change : nil }
      self[table]?.commits.append(PendingTable.Commit(sequence: sequence, changes: changes))
      self[table]?.byteCount += byteCount
    }
  }

  mutating func note(_ checkpoint: LoggedCheckpoint, at sequence: UInt64) {
    for (table, version) in checkpoint.tables { self[table]?.versions.append((version, sequence)) }
  }
}
