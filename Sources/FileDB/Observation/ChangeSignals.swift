import Synchronization

/// Wakes those who wait for the tables of a store to change.
///
/// A signal says no more than that it pays to look, so that those that come while nobody looks are one. The first who
/// waits starts the watch on other processes, and the last ends it.
final class ChangeSignals: CommitListener {
  /// What somebody waits for.
  enum Scope: Sendable {
    case table(TableKey)
    case allTables
    case failures
  }

  private struct Listener {
    let scope: Scope
    let continuation: AsyncStream<Void>.Continuation
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var watcher: StoreWatcher?
    var failure: StoreError?
    /// How often ``failure`` became another one.
    var failureCount = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// A signal whenever it pays to look, until the store is closed; it ends with its last reference.
  /// - Parameter makeWatcher: called for the first who listens. Where it throws, that is a failure to note, and the
  ///   next who listens tries again.
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
    if let failure { note(failure) }
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

  /// Ends all signals, once those that were given are taken.
  func finish() {
    let ended = state.withLock { state in
      defer { (state.listeners, state.watcher, state.isFinished) = ([:], nil, true) }
      return (listeners: state.listeners.values, watcher: state.watcher)
    }
    ended.watcher?.stop()
    for listener in ended.listeners { listener.continuation.finish() }
  }

  /// - Complexity: O(1) if nobody listens, else O(*n*) in those who do.
  func tell(of tables: Set<TableKey>) {
    if tables.isEmpty { return }
    wake { scope in
      switch scope {
      case .table(let table): tables.contains(table)
      case .allTables: true
      case .failures: false
      }
    }
  }

  private func wake(_ isMeant: (Scope) -> Bool) {
    let continuations = state.withLock { state in
      state.listeners.values.filter { isMeant($0.scope) }.map(\.continuation)
    }
    for continuation in continuations { continuation.yield() }
  }

  var haveListeners: Bool { state.withLock { !$0.listeners.isEmpty } }
  var haveWatcher: Bool { state.withLock { $0.watcher != nil } }

  /// Whether somebody waits for tables that may not have been read yet.
  var concernAllTables: Bool {
    state.withLock { state in
      state.listeners.values.contains { if case .allTables = $0.scope { true } else { false } }
    }
  }
}

extension ChangeSignals {
  /// Why the store could not be read when it was last looked at, and which failure that was since the first.
  var failure: (error: StoreError?, number: Int) { state.withLock { ($0.failure, $0.failureCount) } }

  func note(_ failure: StoreError?) {
    let isNew = state.withLock { state in
      defer { state.failure = failure }
      // The same file is found broken at every look until somebody repairs it.
      guard state.failure?.description != failure?.description else { return false }
      state.failureCount += 1
      return true
    }
    if isNew { wake { if case .failures = $0 { true } else { false } } }
  }
}

extension RecordStore {
  /// Who observes this store.
  var signals: ChangeSignals {
    extensions.value(ChangeSignals.self) {
      let signals = ChangeSignals()
      tables.listeners.add(signals)
      return signals
    }
  }
}
