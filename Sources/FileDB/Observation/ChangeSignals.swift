import Synchronization

/// Wakes the threads that wait for changes of a store's tables.
///
/// A signal only says that it may be worth looking. Signals that come while nobody looks become one. The first listener
/// starts the watch on other processes, and the last one ends it.
package final class ChangeSignals: CommitListener {
  /// The tables that somebody waits for.
  enum Scope: Equatable, Sendable {
    case table(TableKey)
    case allTables
    case failures
    case conflictCopies
  }

  private struct Listener {
    let scope: Scope
    let continuation: AsyncStream<Void>.Continuation
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var watcher: StoreWatcher?
    var failures: [Watched: StoreError] = [:]
    /// How often ``failure`` has changed.
    var failureCount = 0
    var isFinished = false

    var failure: StoreError? { failures.min { $0.key < $1.key }?.value }
  }

  /// What a thread of a store watches in the background. If several fail, the first one is reported.
  package enum Watched: Comparable, Sendable {
    case sharedLog, folder, editedFiles
  }

  private let state = Mutex(State())

  /// A signal whenever it may be worth looking, until the store is closed. It ends with its last reference.
  /// - Parameter makeWatcher: called for the first listener. If it throws, the error is recorded as a failure, and the
  ///   next listener tries again.
  func listen(
    to scope: Scope, _ makeWatcher: () throws(StoreError) -> StoreWatcher?
  ) -> AsyncStream<Void> {
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    var failure: StoreError?
    let number: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = Listener(scope: scope, continuation: continuation)
      if state.watcher == nil {
        do throws(StoreError) { state.watcher = try makeWatcher() } catch { failure = error }
      }
      return state.lastNumber
    }
    if let failure { setFailure(failure, of: .folder) }
    if let number {
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
    } else {
      continuation.finish()
    }
    return signals
  }

  private func remove(_ number: Int) {
    let unneeded: StoreWatcher? = state.withLock { state in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return nil }
      defer { state.watcher = nil }
      return state.watcher
    }
    unneeded?.stop()
  }

  /// Ends all signals after the pending ones have been received.
  func finish() {
    let ended = state.withLock { state in
      defer { (state.listeners, state.watcher, state.isFinished) = ([:], nil, true) }
      return (listeners: state.listeners.values, watcher: state.watcher)
    }
    ended.watcher?.stop()
    for listener in ended.listeners { listener.continuation.finish() }
  }

  /// - Complexity: O(1) if nobody listens, otherwise O(*n*) in the number of listeners.
  func tell(of tables: Set<TableKey>) {
    if tables.isEmpty { return }
    wake { scope in
      if case .table(let table) = scope { tables.contains(table) } else { scope == .allTables }
    }
  }

  private func wake(_ isMeant: (Scope) -> Bool) {
    let continuations = state.withLock { state in
      state.listeners.values.filter { isMeant($0.scope) }.map(\.continuation)
    }
    for continuation in continuations { continuation.yield() }
  }

  /// Whether somebody listens to changes.
  var haveListeners: Bool { state.withLock { !$0.listeners.isEmpty } }
  /// Whether a thread watches what other processes do.
  var haveWatcher: Bool { state.withLock { $0.watcher != nil } }

  /// Whether somebody waits for tables that may not have been read yet.
  var concernAllTables: Bool {
    state.withLock { state in state.listeners.values.contains { $0.scope == .allTables } }
  }
}

extension ChangeSignals {
  /// Why something could not be read at the last look, and the number of this failure.
  var failure: (error: StoreError?, number: Int) { state.withLock { ($0.failure, $0.failureCount) } }

  func setFailure(_ failure: StoreError?, of watched: Watched) {
    let isNew = state.withLock { state in
      let former = state.failure?.description
      state.failures[watched] = failure
      // A broken file fails at every look until somebody repairs it. Report it once.
      guard state.failure?.description != former else { return false }
      state.failureCount += 1
      return true
    }
    if isNew { wake { $0 == .failures } }
  }

  /// Something in the folder may have changed.
  func tellOfFolder() { wake { $0 == .conflictCopies } }
}

extension RecordStore {
  /// Runs one look of a thread that watches something. Observers hear when it begins to fail, and when it no longer
  /// does.
  package func reportingFailure(of watched: ChangeSignals.Watched, _ look: () throws -> Void) {
    defer { signals.tellOfFolder() }
    do {
      try look()
      signals.setFailure(nil, of: watched)
    } catch {
      signals.setFailure(error as? StoreError ?? StoreError(.inputOutput, "\(error)"), of: watched)
    }
  }

  /// The observers of this store.
  var signals: ChangeSignals {
    source.extensions.value(ChangeSignals.self) {
      let signals = ChangeSignals()
      tables.listeners.add(signals)
      return signals
    }
  }
}
