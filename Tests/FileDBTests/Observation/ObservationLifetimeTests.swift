import Observation
import TestSupport
import Testing

@testable import FileDB

/// Observations keep nothing alive and leave nothing behind.
@Suite struct ObservationLifetimeTests {
  @Test func releasedStoreEndsItsObservations() async throws {
    var store: RecordStore? = RecordStore.inMemory()
    weak let released = store
    let changes = try await #require(store).table("list").changes()
    try await #require(store).table("list").add(["n": 1])
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.nextInTime().after.count == 1)
    let waiting = Task { try await iterator.endsInTime() }
    store = nil
    #expect(try await waiting.value)
    try await wait(for: "the thread that wrote to release the store") { released == nil }
  }

  @Test func releasedIteratorStopsObserving() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      do {
        var changes = table.changes().makeAsyncIterator()
        _ = try await changes.nextInTime()
        #expect(store.signals.haveListeners && store.signals.haveWatcher)
      }
      #expect(!store.signals.haveListeners && !store.signals.haveWatcher)
    }
  }

  @MainActor @Test func releasedTokenStopsObserving() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      let (counts, continuation) = AsyncStream<Int>.makeStream()
      var token: TableObservation? = table.observe { continuation.yield($0.records.count) }
      var received = counts.makeAsyncIterator()
      #expect(try await received.nextInTime() == 0)
      try await table.add(["n": 1])
      #expect(try await received.nextInTime() == 1)
      #expect(token != nil)
      token = nil
      try await table.add(["n": 2])
      continuation.finish()
      #expect(try await received.endsInTime())
      try await wait(for: "the end of the observation") {
        !store.signals.haveListeners && !store.signals.haveWatcher
      }
    }
  }

  @MainActor @Test func cancelledTokenIsNeverCalledAgain() async throws {
    let store = RecordStore.inMemory()
    let table = try await store.table("list")
    for n in 0..<200 {
      let cancellation = Flag()
      let token = table.observe { _ in #expect(!cancellation.isSet) }
      for _ in 0..<(n % 7) { await Task.yield() }
      token.cancel()
      cancellation.isSet = true
      try await table.add(["n": .integer(Int64(n))])
      await Task.yield()
    }
  }

  @MainActor @Test func observableTableShowsCommittedRecords() async throws {
    struct Note: Codable, Sendable { var title: String }
    try await withTemporaryStore { store in
      let table = try await store.table(TableName<Note>("notes"))
      try await table.add(Note(title: "first"))
      var notes: ObservableTable? = ObservableTable(table)
      #expect(notes?.count == 1 && notes?.error == nil)
      for title in ["second", "third"] {
        try await changed(of: notes) { try table.add(Note(title: title)) }
        #expect(notes?.records.last?.value.title == title)
      }
      weak let released = notes
      notes = nil
      #expect(released == nil)
      try await wait(for: "the end of the observation") { !store.signals.haveListeners }
    }
  }

  /// Waits until the observed records change, as SwiftUI does.
  @MainActor
  private func changed<Value>(of table: ObservableTable<Value>?, after body: () throws -> Void) async throws {
    let (changes, continuation) = AsyncStream<Void>.makeStream()
    withObservationTracking {
      _ = table?.records
    } onChange: {
      continuation.yield()
    }
    try body()
    // This is told just before the change is made, but the main actor makes it before it goes on here.
    var iterator = changes.makeAsyncIterator()
    try await iterator.nextInTime()
  }
}

@MainActor
private final class Flag {
  var isSet = false
}
