import FileDBTables
import Synchronization

/// An object that is notified when readers see something new.
protocol CommitListener: Sendable {
  func tell(of tables: Set<TableKey>)
  /// The store was closed or released.
  func finish()
}

final class CommitListeners: Sendable {
  private struct State {
    var listeners: [any CommitListener] = []
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Adds a listener. If the store has ended already, the listener is notified of that.
  func add(_ listener: any CommitListener) {
    let isFinished = state.withLock { state in
      state.listeners.append(listener)
      return state.isFinished
    }
    if isFinished { listener.finish() }
  }

  func tell(of tables: Set<TableKey>) {
    if tables.isEmpty { return }
    for listener in state.withLock(\.listeners) { listener.tell(of: tables) }
  }

  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return state.listeners
    }
    for listener in listeners { listener.finish() }
  }
}
