import Dispatch
import FileDBEssentials
import Synchronization

/// Reads in what other processes and programs write to a store, for as long as somebody observes it.
///
/// A thread of its own, since it waits for the disk and for this process's writers. It keeps no reference to the store.
final class StoreWatcher: Sendable {
  /// How often to look if the system does not tell of changes, or the folder is not there yet.
  private static let pollingInterval = Duration.milliseconds(250)
  /// In microseconds. What follows a change within this time is read in with the next look, so that many commits are few looks.
  private static let pause: UInt32 = 20_000

  private let watch: any LogWatch
  private let isStopped = Atomic<Bool>(false)

  /// - Returns: `nil` for a store that only this process can reach.
  /// - Throws: the disk's errors if the process has too many open files.
  init?(_ store: RecordStore) throws(StoreError) {
    guard let watch = try store.log.makeWatch() else { return nil }
    self.watch = watch
    // A queue of its own is a thread of its own for as long as this runs.
    DispatchQueue(label: "FileDB.StoreWatcher").async { [weak store, self] in
      while !isStopped.load(ordering: .relaxed) {
        let isTold = store?.followLog(watch) ?? true
        watch.wait(upTo: isTold ? nil : Self.pollingInterval)
        usleep(Self.pause)
      }
    }
  }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    watch.interrupt()
  }
}

extension RecordStore {
  /// Reads in what is new on the disk. An error is kept for those who ask, and the next look tries again: an editor may
  /// be in the middle of writing its file.
  /// - Returns: whether `watch` will tell of the next change.
  fileprivate func followLog(_ watch: any LogWatch) -> Bool {
    // What changes from here on is told of, so that nothing falls between two looks.
    let isTold = watch.prepare()
    do {
      try refresh()
      if signals.concernAllTables { try readAllTables() }
      signals.note(nil)
    } catch {
      signals.note(error as? StoreError)
    }
    return isTold
  }

  /// Whether somebody listens to changes.
  package var isObserved: Bool { signals.haveListeners }

  /// Whether a thread waits for what other processes do.
  package var isWatched: Bool { signals.haveWatcher }
}
