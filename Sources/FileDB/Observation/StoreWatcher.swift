import FileDBStorage
import Foundation
import Synchronization

/// Reads in what other processes and programs write to a store, for as long as somebody observes it.
///
/// A thread of its own, since it waits for the disk and for this process's writers. It keeps no reference to the store.
final class StoreWatcher: Sendable {
  /// How often to look where the system does not tell of changes, or the folder is not there yet.
  private static let pollingInterval = Duration.milliseconds(250)
  /// What follows a change within this time is read in with the next look, so that many commits are few looks.
  private static let pause = 0.02

  private let watch: FolderWatch
  private let isStopped = Atomic<Bool>(false)

  /// - Returns: `nil` for a store that only this process can reach.
  /// - Throws: the disk's errors where the process has too many open files.
  init?(_ store: RecordStore) throws(StoreError) {
    guard let watch = try onDisk({ () throws(DiskError) in try store.disk.makeWatch() }) else { return nil }
    self.watch = watch
    let thread = Thread { [weak store, self] in
      while !isStopped.load(ordering: .relaxed) {
        let isTold = store?.followDisk(watch) ?? true
        watch.wait(upTo: isTold ? nil : Self.pollingInterval)
        Thread.sleep(forTimeInterval: Self.pause)
      }
    }
    thread.name = "FileDB.StoreWatcher"
    thread.start()
  }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    watch.interrupt()
  }
}

extension RecordStore {
  /// Reads in what is new on the disk. An error is kept for those who ask, and the next look tries again: an editor may be in
  /// the middle of writing its file.
  /// - Returns: whether `watch` will tell of the next change.
  fileprivate func followDisk(_ watch: FolderWatch) -> Bool {
    // What changes from here on is told of, so that nothing falls between two looks.
    let isTold = watch.watch(folder.watchedFolders + (visible.attached?.store.folder.watchedFolders ?? []))
    do {
      try refresh()
      if log.signals.concernAllTables { try readAllTables() }
      log.signals.note(nil)
    } catch {
      log.signals.note(error as? StoreError)
    }
    return isTold
  }

  /// Whether somebody listens to changes.
  package var isObserved: Bool { log.signals.haveListeners }

  /// Whether a thread waits for what other processes do.
  package var isWatched: Bool { log.signals.haveWatcher }

  /// Reads the tables that were not read yet.
  /// - Throws: for the first that cannot be read, once all others have been.
  func readAllTables() throws {
    var failure: StoreError?
    for name in try tableNames {
      do throws(StoreError) { _ = try state(of: TableKey(name)) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

extension StoreFolder {
  /// The folders in which a change may be one of the store: its own, and those that links lead to.
  fileprivate var watchedFolders: [String] {
    let names = (try? disk.list(path)) ?? []
    let targets = names.map { "\(path)/\($0)" }.filter { (try? disk.status($0))?.isLink == true }
      .compactMap { try? parentFolder(of: disk.resolve($0)) }
    // Where there is no such folder yet, the store's own tells of it.
    return [path] + (names.contains(".filedb") ? [ownFolder] : []) + Set(targets)
  }
}
