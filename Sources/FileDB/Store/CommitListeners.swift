import FileDBTables
import Synchronization

/// Who is told when readers see something new.
protocol CommitListener: Sendable {
  func tell(of tables: Set<TableKey>)
  /// The store is closed or gone.
  func finish()
}

final class CommitListeners: Sendable {
  private let all = Mutex<[any CommitListener]>([])

  func add(_ listener: any CommitListener) { all.withLock { $0.append(listener) } }

  func tell(of tables: Set<TableKey>) {
    if tables.isEmpty { return }
    for listener in all.withLock(\.self) { listener.tell(of: tables) }
  }

  func finish() { for listener in all.withLock(\.self) { listener.finish() } }
}
