import FileDB
import Foundation
import TestSupport
import Testing

/// One process listens to what others do.
@Suite(.timeLimit(.minutes(40))) struct ObservationTests {
  @Test func commitsOfOtherProcessesAreObservedExactlyOnce() async throws {
    try await withTemporaryStore { store in
      let workers = try ["a", "b"].map { try Worker(["add", store.url.path, $0, "150"], in: store.url) }
      var view = StrictTableView()
      var inserted: [RecordID<Fields>] = []
      for await change in try await store.table("first").changes() {
        try view.show(change)
        inserted += change.steps.insertions.map { RecordID($0.id) }
        try #require(
          change.steps.deletions.isEmpty && change.steps.moves.isEmpty && change.steps.updates.isEmpty)
        if change.after.count == 300 { break }
      }
      #expect(inserted.sorted() == (Int64(1)...300).map { RecordID<Fields>(rawValue: $0) })
      try await end(workers)
      #expect(try await view.shows(store.table("first").lastSnapshot))
    }
  }

  /// The other process adds, moves, updates and deletes in two tables, and makes checkpoints.
  @Test func observedViewsMatchTheStore() async throws {
    var random = SeededRandom.fromEnvironment("what one shows is what is there")
    let seed = random.next()
    try await withTemporaryStore { store in
      let url = store.url
      let changes = store.changes()
      let worker = try Worker(["writer", url.path, "a", "\(seed)", "--commits", "300"], in: url)
      let marker = TableName<Fields>("end")
      let listening = Task {
        var views: [String: StrictTableView] = [:]
        for await change in changes {
          for name in change.tables {
            let table = try #require(change.change(of: .records(name)))
            try views[name, default: StrictTableView()].show(table)
            try #require(views[name]?.shows(table.after) == true)
          }
          if change.tables.contains(marker.text) { return views }
        }
        throw BrokenInvariant(description: "the changes ended early")
      }
      try await end([worker])
      let last = try RecordStore(at: url)
      try await last.table(marker).add(["n": 1])
      try await last.close()
      for (name, view) in try await listening.value {
        #expect(view.shows(try await RecordStore(at: url).table(name).lastSnapshot), "\(name)")
      }
    }
  }

  /// Polls instead of blocking a thread, so that the tasks of other tests go on.
  private func end(_ workers: [Worker]) async throws {
    for worker in workers {
      while worker.isRunning { try await Task.sleep(for: .milliseconds(5)) }
      _ = try worker.end()
    }
  }
}
