import Foundation
import Synchronization

/// Many that add records at once, each with a commit for each; the time is that of a commit of all together.
extension EditedTable {
  /// With threads.
  func runWriters() -> Run? {
    guard let editor = editor as? any SharedEditor else { return nil }
    return run(with: editor, each: EditedTable.commits / 2) { edits, additions in
      EditedTable.onThreads(Workload.writerCount) {
        additions.collect {
          let log = EditLog(limit: EditedTable.commitSeconds)
          try editor.commit(edits, log)
          return log.ids
        }
      }
    }
  }

  /// With tasks.
  func runTasks() -> Run? {
    guard let editor = editor as? any AsyncEditor else { return nil }
    return run(with: editor, each: EditedTable.commits / 10) { edits, additions in
      EditedTable.inTasks(Workload.taskCount) {
        await additions.collectFromTask { try await editor.commit(edits) }
      }
    }
  }

  private func run(
    with editor: any SharedEditor, each most: Int, _ addAll: @escaping ([Edit], Additions) -> Void
  ) -> Run {
    { [self] in
      let additions = Additions()
      let edits = makeEdits(.bottom, min(most, ids.count))
      let whole = seconds(of: { addAll(edits, additions) }, check: { _ in })
      let new = try additions.all()
      try expect(Set(new).count == new.count, "ids given twice")
      try expect(try editor.count() == ids.count + new.count, "the number of records")
      try editor.transact(new.map { .delete($0) }, EditLog(limit: .infinity))
      try editor.settle()
      return whole / Double(new.count)
    }
  }

  /// Threads of its own: the system's pool has no more than there are cores.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      Thread {
        body()
        group.leave()
      }.start()
    }
    group.wait()
  }

  private static func inTasks(_ count: Int, _ body: @escaping @Sendable () async -> Void) {
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      Task.detached {
        await body()
        group.leave()
      }
    }
    group.wait()
  }
}

/// The ids that many added.
private final class Additions: Sendable {
  private let ids = Mutex<[Int]>([])
  private let failure = Mutex<(any Error)?>(nil)

  func collect(_ add: () throws -> [Int]) {
    do { take(try add()) } catch { take(error) }
  }

  func collectFromTask(_ add: () async throws -> [Int]) async {
    do { take(try await add()) } catch { take(error) }
  }

  private func take(_ added: [Int]) { ids.withLock { $0 += added } }
  private func take(_ error: any Error) { failure.withLock { $0 = error } }

  func all() throws -> [Int] {
    if let error = failure.withLock({ $0 }) { throw error }
    return ids.withLock { $0 }
  }
}
