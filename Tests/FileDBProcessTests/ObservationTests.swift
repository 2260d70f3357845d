import FileDB
import Foundation
import TestSupport
import Testing

/// One process listens to what others do.
@Suite struct ObservationTests {
  @Test func commitsOfOtherProcessesAreObservedExactlyOnce() async throws {
    try await withTemporaryStore { store in
      let workers = try ["a", "b"].map { try Worker(["add", store.url.path, $0, "150"], in: store.url) }
      var view = StrictTableView()
      var inserted: [RecordID<Fields>] = []
      var changes = try await store.table("first").changes().makeAsyncIterator()
      while inserted.count < 300 {
        let change = try await changes.nextInTime()
        try view.show(change)
        inserted += change.steps.insertions.map { RecordID($0.id) }
        try #require(
          change.steps.deletions.isEmpty && change.steps.moves.isEmpty && change.steps.updates.isEmpty)
      }
      #expect(inserted.sorted() == (Int64(1)...300).map { RecordID<Fields>(rawValue: $0) })
      for worker in workers { _ = try await worker.end() }
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
        var iterator = changes.makeAsyncIterator()
        while views[marker.text] == nil {
          let change = try await iterator.nextInTime()
          for name in change.tables {
            let table = try #require(change.change(of: .records(name)))
            try views[name, default: StrictTableView()].show(table)
            try #require(views[name]?.shows(table.after) == true)
          }
        }
        return views
      }
      _ = try await worker.end()
      let last = try RecordStore(at: url)
      try await last.table(marker).add(["n": 1])
      try await last.close()
      for (name, view) in try await listening.value {
        #expect(view.shows(try await RecordStore(at: url).table(name).lastSnapshot), "\(name)")
      }
    }
  }

}
