import Dispatch
import FileDBEssentials
import Synchronization

/// Reads what other processes and programs write to a store, as long as somebody observes the store.
///
/// It has its own thread, because it waits for the disk and for writers of this process. It keeps no reference to the
/// store.
final class StoreWatcher: Sendable {
  /// How often to look if the system does not report changes, or if the folder does not exist yet.
  private static let pollingInterval = Duration.milliseconds(250)
  /// In microseconds. Changes that follow within this time are read with the next look, so that many commits take few
  /// looks.
  private static let pause: UInt32 = 20_000

  private let watch: any LogWatch
  private let isStopped = Atomic<Bool>(false)

  /// - Returns: `nil` for a store that only this process can reach.
  /// - Throws: the disk's errors, for example if the process has too many open files.
  init?(_ store: RecordStore) throws(StoreError) {
    guard let watch = try store.log.makeWatch() else { return nil }
    self.watch = watch
    // A queue of its own, so that it has a thread of its own while this runs.
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
  /// Reads what is new on the disk. It keeps an error for those who ask, and the next look tries again: an editor may
  /// be writing its file just now.
  /// - Returns: whether `watch` will report the next change.
  fileprivate func followLog(_ watch: any LogWatch) -> Bool {
    // From here on, the watch reports everything, so nothing is missed between two looks.
    let isTold = watch.prepare()
    reportingFailure(of: .folder) {
      try refresh()
      if signals.concernAllTables { try readAllTables() }
    }
    return isTold
  }
}
