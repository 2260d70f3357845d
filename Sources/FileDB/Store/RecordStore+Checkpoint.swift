import Dispatch
import FileDBEssentials

extension RecordStore {
  /// Writes the commits in the journal into the tables' files. By default, the store does this itself; see
  /// ``StoreOptions/checkpoints``. Readers of the store see no difference.
  /// - Throws: ``StoreError/Code/conflict`` if another program changed one of the files; ``StoreError/Code/locked``,
  ///   ``StoreError/Code/insideWrite``, ``StoreError/Code/closed``, and the disk's errors. The commits then stay in the
  ///   journal.
  /// - Complexity: O(*n*) in the size of the tables that have commits in the journal.
  public func checkpoint() throws { try checkpoint(.all, timeout: options.lockTimeout) }

  /// The tables whose files lack commits, by name, among those that this store has looked at.
  package var tablesBehind: [String] { files?.tablesBehind.sorted().map(\.text) ?? [] }

  /// Makes the checkpoint of ``CheckpointPolicy/automatic``.
  package func checkpointTablesThatAreDue() throws { try checkpoint(due, timeout: options.lockTimeout) }

  /// The tables that an automatic checkpoint writes.
  private var due: CheckpointScope {
    options.checkpoints == .everyCommit ? .all : .due(largeFile: options.largeFile)
  }

  private func checkpoint(_ scope: CheckpointScope, timeout: Duration) throws {
    guard writers.currentTransaction == nil else {
      throw StoreError(.insideWrite, "a checkpoint cannot be part of a transaction", file: url.path)
    }
    try writers.enter(timeout: timeout) { try writeFiles(scope, timeout: timeout) }
  }

  /// Must be called by the thread inside ``writers``.
  private func writeFiles(_ scope: CheckpointScope, timeout: Duration) throws {
    try checkOpen()
    if let files {
      try shownFiles?.prepare()
      let written = try files.checkpoint(timeout: timeout, scope: scope) { key throws(StoreError) in
        try tables.catchUp()
        let table = try tables.newest(key)
        return NewestTable(state: table.state, base: table.base)
      }
      tables.setBases(written.numbers)
      if let conflict = written.conflict { throw conflict }
      try shownFiles?.update()
    }
    checkpoints.noteCheckpoint()
  }

  /// Makes a checkpoint, unless the policy is ``CheckpointPolicy/manual``, and accepts no more writes. You can still
  /// read the store. Observations end.
  ///
  /// The checkpoint leaves out a file of 16 MB or more while its commits have less than 1/8 of its size.
  ///
  /// A store that is released without this call also makes the checkpoint, but cannot report an error. Nothing is lost
  /// then, since all commits are in the journal.
  /// - Throws: as `checkpoint()`; then the store is closed, except for ``StoreError/Code/insideWrite``. If another
  ///   writer has the lock, this throws nothing: that writer makes the checkpoint.
  public func close() throws {
    guard writers.currentTransaction == nil else {
      throw StoreError(.insideWrite, "a store cannot be closed inside a write", file: url.path)
    }
    defer {
      isClosed.store(true, ordering: .relaxed)
      tables.listeners.finish()
    }
    guard options.checkpoints != .manual, checkpoints.hasCommits,
      !isClosed.load(ordering: .relaxed)
    else { return }
    do { try checkpointTablesThatAreDue() } catch StoreError.Code.locked {}
  }

  /// After a commit, makes a checkpoint now or later, depending on the options. It does not report errors, because the
  /// commit is done.
  package func checkpointWhenDue() {
    switch options.checkpoints {
    case .manual: break
    case .everyCommit: try? checkpoint()
    case .automatic:
      if checkpoints.noteCommit() {
        lookAgainLater()
        ExitCheckpoints.add(self)
      }
      guard let (size, fileSize) = files?.sizes else { break }
      guard checkpoints.isOutgrown(size, files: fileSize) else { break }
      do { try checkpointTablesThatAreDue() } catch {
        checkpoints.noteFailure(size: files?.sizes.journal ?? size)
      }
    }
  }

  private func lookAgainLater() {
    let pause = options.checkpointPause
    queues.writing.asyncAfter(deadline: .now() + pause / .seconds(1)) { [weak self] in
      guard let self else { return }
      if checkpoints.isQuiet(for: pause) { try? checkpoint(due, timeout: .zero) } else { lookAgainLater() }
    }
  }

  /// Called when a store is released. It does not wait for the lock: whoever has it will write the journal into the
  /// files, too.
  func checkpointAtEnd() { if isBehind { try? checkpoint(due, timeout: .zero) } }

  /// Called for a store that is open when the process ends. It does not wait for a thread in the middle of a write,
  /// which may never continue.
  func checkpointAtExit() {
    if isBehind { try? writers.enterIfFree { try writeFiles(due, timeout: .zero) } }
  }

  private var isBehind: Bool { options.checkpoints == .automatic && checkpoints.hasCommits }
}

extension RecordStore {
  /// Keeps out of this store's own folder, and of the files of its new tables, whoever is kept out of another store.
  /// Call it before records of the other store come here.
  package func restrictAccess(asIn other: RecordStore) throws {
    guard let here = files?.folder, let there = other.files?.folder else { return }
    try here.restrictAccess(asIn: there)
  }
}
