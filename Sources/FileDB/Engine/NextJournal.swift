import FileDBStorage
import FileDBTables

extension FileLog {
  /// Whether this journal is long, and the next one would be much shorter.
  func isJournalOutgrown(without conflicts: Set<TableKey>) -> Bool {
    state.withLock { $0.isOutgrown(without: conflicts, options) }
  }

  /// Begins the next journal: writes and syncs a draft, exchanges the names, and syncs the folder. The next journal has
  /// the commits that wait, with their numbers, and leaves out those before. But if a sync service puts another journal
  /// there meanwhile, that one stays, and is read.
  ///
  /// Call it with the store's lock.
  /// - Parameter conflicts: the tables in conflict. Their commits are parked, so that no other commits have to be kept
  ///   for their sake.
  func beginJournal(parking conflicts: Set<TableKey>) throws(StoreError) {
    guard let former = state.withLock(\.journal), let present = try disk.openJournal(folder.journalFile)
    else {
      throw damage("the journal is gone")
    }
    var salt: UInt32?
    if present.journal.inode == former.inode, present.journal.salt == former.salt {
      salt = try install(nextJournal(present.frames, parking: conflicts), over: former)
    }
    try readPresentJournal()
    guard let salt, state.withLock({ $0.journal?.salt == salt }) else {
      // A sync service has just brought another one.
      return try onDisk(keepIfLost(former.file))
    }
    // If some cannot be removed, the next checkpoint removes them.
    folder.removeRecords(except: state.withLock { Set($0.recordsFiles.map(\.file.name)) })
    tellWhatIsDurable()
  }

  /// Adds a frame that says that the journal's name and the commits before are durable, so that the next process need
  /// not write or sync them again. It is not synced: if a power cut takes it, nothing else is lost.
  func tellWhatIsDurable() {
    guard let inode = state.withLock(\.journal).flatMap({ Int64(exactly: $0.inode) }),
      let extended = try? writeFrame(.written, WrittenFiles(journal: inode).payload)
    else { return }
    state.withLock { $0.take(extended) }
  }

  /// - Returns: the salt of the next journal; `nil` if another journal has come, which keeps the name.
  private func install(_ next: NextJournal, over former: Journal) throws(StoreError) -> UInt32? {
    var (next, adopted) = (next, [String: String]())
    if isOfAnotherMachine {
      let needed = state.withLock { $0.recordsFiles.map(\.file.name) }
      try folder.keepRecords(except: Set(needed))
      adopted = try folder.adoptRecords(needed)
      next.rename(adopted)
    }
    do throws(StoreError) {
      let isInstalled = try disk.install(stage(next)) { [disk = disk.disk] path throws(DiskError) in
        guard let path else { return false }
        return try former.isFile(at: path, on: disk)
      }
      guard isInstalled else {
        folder.remove(Set(adopted.values))
        return nil
      }
      state.withLock { $0.salt = next.salt }
      return next.salt
    } catch {
      // The journal is still the former one, which does not name these files.
      if try disk.isCurrent(former) { folder.remove(Set(adopted.values)) }
      throw error
    }
  }

  /// Makes the name of the journal durable and reads the journal from the start.
  private func readPresentJournal() throws(StoreError) {
    try sync([folder.ownFolder])
    try state.withLock { state throws(StoreError) in
      state.journal = nil
      try readOn(&state)
      state.isNameSynced = true
    }
  }

  private func stage(_ next: NextJournal) throws(StoreError) -> StagedFile {
    try disk.stageJournal(
      folder.journalFile, after: next.start, lastToken: next.lastToken,
      undoStep: next.undoStep, salt: next.salt, frames: next.frames)
  }

  private func nextJournal(
    _ frames: [JournalFrame], parking conflicts: Set<TableKey>
  ) throws(StoreError) -> NextJournal {
    let state = state.withLock(\.self)
    var next = NextJournal(start: state.firstNeeded(without: conflicts))
    next.lastToken = state.token(of: next.start)
    next.undoStep = state.undoHead
    next.frames += frame(of: state.knownFiles(after: next.start))
    for frame in frames {
      switch frame.kind {
      case .start, .written, .checkpoint: break
      case .commit where frame.sequence > next.start: next.frames.append((.commit, Array(frame.payload)))
      case .commit:
        for table in conflicts.sorted() where state.waits(frame.sequence, table) {
          next.frames.append((.parked, ParkedCommit.payload(of: frame, table: table)))
        }
      case .parked:
        let parked = try parkedCommit(in: frame)
        if state.waits(parked.commit.sequence, parked.table) {
          next.frames.append((.parked, Array(frame.payload)))
        }
      }
    }
    next.frames +=
      frame(of: state.undecidedFiles(after: next.start))
      + state.undecidedVersions.map { (.checkpoint, $0.payload) }
    return next
  }

  private func frame(of files: WrittenFiles) -> [(kind: JournalFrame.Kind, payload: [UInt8])] {
    files.files.isEmpty ? [] : [(.written, files.payload)]
  }
}

/// What the next journal has.
private struct NextJournal {
  let salt = UInt32.random(in: 1 ... .max)
  /// The number of the last commit before it, and its token.
  let start: UInt64
  var lastToken: CommitToken?
  /// The newest step of the undo log at its end. The commits in it name it, too.
  var undoStep: CommitToken?
  var frames: [(kind: JournalFrame.Kind, payload: [UInt8])] = []

  init(start: UInt64) { self.start = start }

  /// Gives the files of records that the commits name other names.
  mutating func rename(_ names: [String: String]) {
    for index in frames.indices {
      let (kind, payload) = frames[index]
      let commit = kind == .parked ? payload.drop { $0 != UInt8(ascii: "\n") }.dropFirst() : payload[...]
      guard kind == .parked || kind == .commit, let old = (try? JournalCommit.recordsFile(of: commit))?.name,
        let new = names[old], let place = payload.firstRange(of: Array("\nrecords \(old) ".utf8))
      else { continue }
      frames[index].payload.replaceSubrange(place, with: Array("\nrecords \(new) ".utf8))
    }
  }
}

extension FileLog.State {
  /// The last commit that no table needs any longer. All later ones stay in the journal.
  fileprivate func firstNeeded(without conflicts: Set<TableKey>) -> UInt64 {
    let waiting = pending.filter { !conflicts.contains($0.key) && !isParked($0.value) }
    return max(waiting.values.compactMap { $0.versions.first?.through }.min() ?? lastSequence, start.sequence)
  }

  /// Whether all commits of a table come from earlier journals.
  private func isParked(_ table: PendingTable) -> Bool {
    table.commits.allSatisfy { $0.sequence <= start.sequence }
  }

  fileprivate func waits(_ sequence: UInt64, _ table: TableKey) -> Bool {
    pending[table]?.commits.contains { $0.sequence == sequence } ?? false
  }

  fileprivate func token(of sequence: UInt64) -> CommitToken? {
    sequence == start.sequence ? start.token : commits[Int(sequence - start.sequence) - 1].token
  }

  /// The files of the tables for which commits wait, and of those that a checkpoint has written. Dropped tables are
  /// among them only if commits in the journal concern them.
  fileprivate func knownFiles(after start: UInt64) -> WrittenFiles {
    var files = WrittenFiles(
      files: written.filter { $1.known.version != .absent || $1.known.through > start })
    for (table, waiting) in pending {
      if let first = waiting.versions.first {
        files.files[table] = WrittenFiles.File(known: first, isSaved: waiting.isSaved)
      }
    }
    return files
  }

  /// The tables whose files may have several versions: a checkpoint did not end, or another program has saved the file
  /// since the first commit that waits. The journal names these versions after the commits, which name the files that
  /// were there first.
  private var undecided: [TableKey: PendingTable] { pending.filter { $1.isSaved || $1.versions.count > 1 } }

  fileprivate func undecidedFiles(after start: UInt64) -> WrittenFiles {
    WrittenFiles(files: knownFiles(after: start).files.filter { undecided[$0.key] != nil })
  }

  /// The versions that their files may also have.
  fileprivate var undecidedVersions: [JournalCheckpoint] {
    var checkpoints: [JournalCheckpoint] = []
    for (table, waiting) in undecided {
      for (number, version) in waiting.versions.dropFirst().enumerated() {
        if checkpoints.count == number { checkpoints.append(JournalCheckpoint()) }
        checkpoints[number].files[table] = JournalCheckpoint.File(new: version)
      }
    }
    return checkpoints
  }

  fileprivate func isOutgrown(without conflicts: Set<TableKey>, _ options: StoreOptions) -> Bool {
    guard let journal else { return false }
    let needed = firstNeeded(without: conflicts)
    let rest = byteCount(after: needed)
    let hasNeedlessRecords = recordsFiles.contains { file in
      file.sequence <= needed
        && !pending.values.contains { $0.commits.contains { $0.sequence == file.sequence } }
    }
    if hasNeedlessRecords { return true }
    guard needed > start.sequence else { return false }  // The next one would have the same commits.
    let length = journal.end - parkedBytes
    return length > options.keptJournal && rest <= max(options.shortJournal, length / 2)
  }
}
