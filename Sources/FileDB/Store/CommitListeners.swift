import FileDBTables
import Synchronization

/// Who is told when readers see something new.
protocol CommitListener: Sendable {
  func tell(of tables: Set<TableKey>)
  /// The store is closed or gone.
  func finish()
}

final class CommitListeners: Sendable {
  private struct State {
    var listeners: [any CommitListener] = []
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Adds a listener. One that comes after the end is told of the end.
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
