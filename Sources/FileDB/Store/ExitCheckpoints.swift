import FileDBEssentials
import Synchronization

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
