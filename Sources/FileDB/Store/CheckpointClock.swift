import FileDBStorage
import Foundation
import Synchronization

/// When the next checkpoint of an automatic kind is due.
final class CheckpointClock: Sendable {
  private struct State {
    var hasCommits = false
    var lastCommit = ContinuousClock.now
    var isScheduled = false
    /// A checkpoint that failed is not tried again with every commit.
    var nextSize = 0
  }

  /// How long a store must be quiet.
  static let pause = Duration.seconds(1)
  /// A journal shorter than this is no burden, whatever the files are.
  static let smallestSize = 1 << 20

  private let state = Mutex(State())

  /// Whether this process has committed anything since the last checkpoint.
  var hasCommits: Bool { state.withLock { $0.hasCommits } }

  /// Remembers a commit.
  /// - Returns: whether the caller must see to it that somebody looks again after ``pause``.
  func noteCommit() -> Bool {
    state.withLock { state in
      state.hasCommits = true
      state.lastCommit = .now
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Whether a pause without commits is over. Where it is not, somebody must look again.
  func isQuiet() -> Bool {
    state.withLock { state in
      let isQuiet = ContinuousClock.now - state.lastCommit >= Self.pause
      state.isScheduled = !isQuiet
      return isQuiet
    }
  }

  /// Whether a journal of `size` bytes has outgrown files of `fileSize`.
  func isOutgrown(_ size: Int, files fileSize: Int) -> Bool {
    size >= max(Self.smallestSize, fileSize / 2, state.withLock(\.nextSize))
  }

  func noteCheckpoint() {
    state.withLock { state in
      state.hasCommits = false
      state.nextSize = 0
    }
  }

  /// Remembers that a checkpoint failed with a journal of this size.
  func noteFailure(size: Int) { state.withLock { $0.nextSize = 2 * size } }
}

extension RecordStore {
  /// Writes the commits in the journal into the tables' files. ``StoreOptions/checkpoints`` says when that happens by
  /// itself; readers of the store see no difference.
  /// - Throws: ``StoreError/conflict`` where another program changed one of those files; ``StoreError/locked``,
  ///   ``StoreError/insideWrite``, ``StoreError/closed``, and the disk's errors. The commits stay in the journal.
  /// - Complexity: O(*n*) in the size of the tables that have commits in the journal.
  public func checkpoint() throws { try checkpoint(timeout: options.lockTimeout) }

  private func checkpoint(timeout: Duration) throws {
    guard writers.currentTransaction == nil else {
      throw StoreError(StoreError.insideWrite, "a checkpoint is no part of a transaction", file: folder.path)
    }
    try Commit.locked(self, timeout: timeout) { try Checkpoint.run(in: self) }
    checkpoints.noteCheckpoint()
  }

  /// Ends writing to the store: makes a checkpoint, except by ``CheckpointPolicy/manual``, and takes no more writes.
  /// Reading goes on, observing ends. A store that is released without it does the same and has nobody to tell of an
  /// error; nothing is lost by that, since what was committed is in the journal.
  /// - Throws: as ``checkpoint()``, except that nothing is thrown where another writer has the lock: it will do it.
  public func close() throws {
    defer {
      isClosed.store(true, ordering: .relaxed)
      log.signals.finish()
    }
    guard options.checkpoints != .manual, checkpoints.hasCommits,
      !isClosed.load(ordering: .relaxed)
    else { return }
    do { try checkpoint() } catch StoreError.locked {}
  }

  /// Makes a checkpoint now or later, as the options say, after a commit. Its errors are not the commit's, which is done.
  func checkpointWhenDue() {
    switch options.checkpoints {
    case .manual: break
    case .everyCommit: try? checkpoint()
    case .automatic:
      if checkpoints.noteCommit() { lookAgainLater() }
      let (size, fileSize) = log.sizes
      guard checkpoints.isOutgrown(size, files: fileSize) else { break }
      do { try checkpoint() } catch { checkpoints.noteFailure(size: size) }
    }
  }

  private func lookAgainLater() {
    let (seconds, attoseconds) = CheckpointClock.pause.components
    let pause = Double(seconds) + Double(attoseconds) * 1e-18
    background.asyncAfter(deadline: .now() + pause) { [weak self] in
      guard let self else { return }
      if checkpoints.isQuiet() { try? checkpoint(timeout: .zero) } else { lookAgainLater() }
    }
  }

  /// For a store that is released: whoever has the lock will see to the journal as well.
  func checkpointAtEnd() {
    guard options.checkpoints == .automatic, checkpoints.hasCommits else { return }
    try? checkpoint(timeout: .zero)
  }

  /// Clears away what a crash left. For who holds the lock.
  func sweep() throws(StoreError) {
    try folder.sweep()
    if !hasSweptLinks.exchange(true, ordering: .relaxed) { folder.sweepBesideLinkTargets() }
  }

  /// Runs `body`, a sync of which the outcome is unknown where it throws, and takes no more writes then. Who opens the
  /// store anew does it all again.
  func closingAfterFailure(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do { try body() } catch {
      isClosed.store(true, ordering: .relaxed)
      throw error
    }
  }
}
