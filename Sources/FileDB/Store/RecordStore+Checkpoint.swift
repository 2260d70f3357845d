import Dispatch
import FileDBEssentials
import Synchronization

extension RecordStore {
  /// Writes the commits in the journal into the tables' files. By default, the store does this itself; see
  /// ``StoreOptions/checkpoints``. Readers of the store see no difference.
  /// - Throws: ``StoreError/Code/conflict`` if another program changed one of the files; ``StoreError/Code/locked``,
  ///   ``StoreError/Code/insideWrite``, ``StoreError/Code/closed``, and the disk's errors. The commits then stay in the
  ///   journal.
  /// - Complexity: O(*n*) in the size of the tables that have commits in the journal.
  public func checkpoint() throws {
    try checkpoint(.all, patience: options.lockTimeout * 12, timeout: options.lockTimeout)
    guard options.checkpoints != .manual else { return }
    do { try lookAgain(timeout: options.lockTimeout) } catch StoreError.Code.locked {}
  }

  /// The tables whose files lack commits, by name, among those that this store has looked at.
  package var tablesBehind: [String] { files?.tablesBehind.sorted().map(\.text) ?? [] }

  /// Makes the checkpoint that the policy asks for. If another one is being made, this waits for it.
  package func checkpointTablesThatAreDue() throws {
    try checkpoint(due, patience: options.lockTimeout, timeout: options.lockTimeout)
  }

  /// The tables that an automatic checkpoint writes.
  private var due: CheckpointScope {
    options.checkpoints == .everyCommit ? .all : .due(largeFile: options.largeFile)
  }

  /// - Parameters:
  ///   - patience: how long to wait for another checkpoint, of this process or another.
  ///   - timeout: how long to wait for writers.
  private func checkpoint(_ scope: CheckpointScope, patience: Duration, timeout: Duration) throws {
    guard writers.currentTransaction == nil else {
      throw StoreError(.insideWrite, "a checkpoint cannot be part of a transaction", file: url.path)
    }
    try checkOpen()
    guard let files else { return }
    checkpoints.checkpointBegan()
    defer { checkpoints.checkpointEnded(files.sizes) }
    do {
      let conflicts = try files.checkpoint(
        scope, patience: patience, timeout: timeout,
        exclusively: { try writers.enter(timeout: timeout, $0) }, of: tables)
      if let conflict = conflicts.min(by: { $0.key < $1.key })?.value { throw conflict }
      try shownFiles?.update()
    } catch {
      checkpoints.checkpointFailed()
      throw error
    }
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
    guard options.checkpoints != .manual, !isClosed.load(ordering: .relaxed) else { return }
    queues.checkpoints.sync {}
    guard checkpoints.hasCommits else { return }
    do { try checkpointUnlessBusy(timeout: options.lockTimeout) } catch StoreError.Code.locked {}
  }

  /// Makes an automatic checkpoint, unless another process is making one. That process then looks again when it is
  /// done.
  private func checkpointUnlessBusy(timeout: Duration) throws {
    try checkpoint(due, patience: .zero, timeout: timeout)
    try lookAgain(timeout: timeout)
  }

  /// After a checkpoint, writes the commits of stores that were closed meanwhile. They made no checkpoint, because this
  /// one was running.
  private func lookAgain(timeout: Duration) throws {
    for _ in 0..<Self.mostLooks {
      guard try files?.isDue(due) ?? false else { return }
      try checkpoint(due, patience: .zero, timeout: timeout)
    }
  }

  /// How often it looks again. A writer that goes on makes its own checkpoint, so nobody has to wait for its last
  /// commit.
  private static let mostLooks = 2

  /// After a commit, makes a checkpoint now or later, depending on the options. It does not report errors, because the
  /// commit is done.
  package func checkpointWhenDue() {
    switch options.checkpoints {
    case .manual: break
    case .everyCommit: try? checkpointTablesThatAreDue()
    case .automatic:
      if checkpoints.commitWasMade() {
        lookAgainLater()
        ExitCheckpoints.add(self)
      }
      guard let files, checkpoints.beginRun(files.sizes) else { break }
      queues.checkpoints.async { [self] in
        try? checkpoint(due, patience: .zero, timeout: options.lockTimeout)
        checkpoints.endRun()
      }
    }
  }

  private func lookAgainLater() {
    let pause = options.checkpointPause
    queues.checkpoints.asyncAfter(deadline: .now() + pause / .seconds(1)) { [weak self] in
      guard let self else { return }
      if checkpoints.isQuiet(for: pause) {
        try? checkpointUnlessBusy(timeout: .zero)
      } else {
        lookAgainLater()
      }
    }
  }

  /// Called when a store is released. It does not wait for the lock: whoever has it will write the journal into the
  /// files, too.
  func checkpointAtEnd() { if isBehind { try? checkpointUnlessBusy(timeout: .zero) } }

  /// Called for a store that is open when the process ends. It does not wait for a thread in the middle of a write,
  /// which may never continue.
  func checkpointAtExit() { if isBehind { try? checkpoint(due, patience: .zero, timeout: .zero) } }

  private var isBehind: Bool { options.checkpoints == .automatic && checkpoints.hasCommits }
}

/// Makes checkpoints of the stores that are still open when the process ends normally. A store in a global variable is
/// never released, and would leave its commits in the journal.
enum ExitCheckpoints {
  private struct Open: Sendable {
    weak var store: RecordStore?
  }

  private struct State {
    var stores: [Open] = []
    /// The process that the hook belongs to. A forked child inherits a copy, with the locks that other threads held
    /// during the fork.
    var process: pid_t?
  }

  private static let state = Mutex(State())

  /// Adds a store that has commits in the journal.
  static func add(_ store: RecordStore) {
    let isFirst = state.withLock { state in
      state.stores.removeAll { $0.store == nil || $0.store === store }
      state.stores.append(Open(store: store))
      defer { state.process = getpid() }
      return state.process == nil
    }
    if isFirst { atexit { ExitCheckpoints.run() } }
  }

  private static func run() {
    guard let (stores, process) = state.withLockIfAvailable({ ($0.stores, $0.process) }), process == getpid()
    else { return }
    for store in stores.compactMap(\.store) { store.checkpointAtExit() }
  }
}
