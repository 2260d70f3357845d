import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Listeners get what other stores and programs write, without a call to `refresh`.
@Suite struct StoreWatcherTests {
  @Test func commitsOfAnotherStoreAreObserved() async throws {
    try await withTemporaryStore { store in
      let other = try await RecordStore(at: store.url).table("list")
      var changes = try await store.table("list").changes().makeAsyncIterator()
      _ = try await changes.nextInTime()
      var view = StrictTableView()
      for n in 1...30 {
        // The folder of the journal comes with the first commit, another journal with each checkpoint.
        try await other.add(["n": .integer(Int64(n))], at: .top)
        if n.isMultiple(of: 7) { try await other.store.checkpoint() }
        let change = try await changes.nextInTime()
        try view.show(change)
        try #require(change.after.ids == other.lastSnapshot.ids && view.shows(change.after))
      }
      try await other.store.close()
    }
  }

  @Test func storeFolderMayAppearAndVanishWhileWatched() async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("below/store")
    let store = try RecordStore(at: url)
    var changes = try await store.table("list").changes().makeAsyncIterator()
    #expect(try await changes.nextInTime().after.exists == false)
    let other = try RecordStore(at: url)
    for n in 1...3 {
      try await other.table("list").add(["n": .integer(Int64(n))])
      #expect(try await changes.nextInTime().after.count == n)
    }
    // Files disappear and appear again.
    try await other.close()
    try FileManager.default.removeItem(at: url)
    #expect(try await changes.nextInTime().after.exists == false)
    try await RecordStore(at: url).table("list").add(["n": 1])
    #expect(try await changes.nextInTime().after.count == 1)
  }

  @Test func editsByAnotherProgramAreObserved() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      try await table.add(contentsOf: [["n": 1], ["n": 2]])
      try await store.checkpoint()
      var changes = table.changes(since: table.lastSnapshot).makeAsyncIterator()
      for (n, place) in [(11, Place.beside), (12, .inPlace), (13, .beside), (14, .inPlace)] {
        try edit(table, "<integer>\(n == 11 ? 1 : n - 1)<", "<integer>\(n)<", place)
        let change = try await changes.nextInTime()
        #expect(change.steps.updates.map(\.newIndex) == [0] && change.steps.sequence.count == 1)
        #expect(change.after[0].fields == ["n": .integer(Int64(n))])
      }
    }
  }

  @Test func targetOfLinkedTableIsWatched() async throws {
    let elsewhere = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: elsewhere) }
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      try await table.add(["n": 1])
      try await store.checkpoint()
      let target = elsewhere.appendingPathComponent("list.plist")
      try FileManager.default.moveItem(at: table.url, to: target)
      try FileManager.default.createSymbolicLink(at: table.url, withDestinationURL: target)
      try await store.refresh()
      var changes = table.changes(since: table.lastSnapshot).makeAsyncIterator()
      try edit(table, "<integer>1<", "<integer>2<", .inPlace)
      #expect(try await changes.nextInTime().after[0].fields == ["n": 2])
    }
  }

  @Test func halfWrittenFileIsAnErrorUntilComplete() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      try await table.add(["n": 1])
      try await store.checkpoint()
      let whole = try Data(contentsOf: table.url)
      var changes = table.changes(since: table.lastSnapshot).makeAsyncIterator()
      var errors = store.observationErrors().makeAsyncIterator()
      try whole.dropLast(20).write(to: table.url)
      // It may be seen while it is shorter still.
      repeat {
        try #require(try await errors.nextInTime() != nil)
      } while store.observationError?.code != .damagedTable
      #expect(store.observationError?.table == "list")
      try Data(String(decoding: whole, as: UTF8.self).replacing("<integer>1<", with: "<integer>2<").utf8)
        .write(to: table.url)
      #expect(try await changes.nextInTime().after[0].fields == ["n": 2])
      while try await errors.nextInTime() != nil {}
      #expect(store.observationError == nil)
    }
  }

  @MainActor @Test func observableTableShowsReadError() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      try await table.add(["n": 1])
      try await store.checkpoint()
      let whole = try Data(contentsOf: table.url)
      let list = ObservableTable(table)
      try whole.dropLast(20).write(to: table.url)
      try await wait(for: "the error") { list.error != nil }
      #expect(list.count == 1)
      try whole.write(to: table.url)
      try await wait(for: "the end of the error") { list.error == nil }
    }
  }

  @Test func storeChangesIncludeTablesMadeByOthers() async throws {
    try await withTemporaryStore { store in
      try await store.table("old").add(["n": 1])
      var changes = store.changes().makeAsyncIterator()
      let other = try RecordStore(at: store.url)
      for name in ["first", "second"] {
        try await other.table(name).add(["n": 1])
        let change = try await changes.nextInTime()
        #expect(change.tables == [name])
        #expect(change.change(of: .records(name))?.after.count == 1)
      }
      try await other.close()
    }
  }

  @Test func listenerGetsCommitsMadeWhileNobodyListened() async throws {
    try await withTemporaryStore { store in
      let table = try await store.table("list")
      let other = try RecordStore(at: store.url)
      for n in 1...5 {
        let shown = table.lastSnapshot
        try await other.table("list").add(["n": .integer(Int64(n))])
        #expect(table.lastSnapshot.count == n - 1)
        var changes = table.changes(since: shown).makeAsyncIterator()
        #expect(try await changes.nextInTime().steps.insertions.count == 1)
      }
      try await other.close()
    }
  }

  @Test func ownCommitsAreObservedWhenWatchingFails() async throws {
    func changes(on disk: FaultyDisk) throws -> (RecordTable<Fields>, ChangeSequence<TableChange<Fields>>) {
      let folder = URL(fileURLWithPath: "/store")
      let table = try RecordStore(at: folder, disk: disk, options: StoreOptions()).table("list")
      return (table, table.changes())
    }
    let sound = FaultyDisk(over: MemoryDisk())
    var (table, sequence) = try changes(on: sound)
    _ = sequence.makeAsyncIterator()
    let verb = try #require(sound.verbs.firstIndex(of: .makeWatch))

    (table, sequence) = try changes(
      on: FaultyDisk(over: MemoryDisk(), faults: .fail(at: verb, errno: EMFILE)))
    var iterator = sequence.makeAsyncIterator()
    #expect(table.store.observationError?.message.contains("makeWatch") == true)
    _ = try await iterator.nextInTime()
    try await table.add(["n": 1])
    #expect(try await iterator.nextInTime().after.count == 1)
  }

  // MARK: - An editor

  private enum Place { case beside, inPlace }

  private func edit(
    _ table: RecordTable<Fields>, _ old: String, _ new: String, _ place: Place
  ) throws {
    let text = try String(contentsOf: table.url, encoding: .utf8)
    #expect(text.contains(old))
    let bytes = Data(text.replacing(old, with: new).utf8)
    switch place {
    case .beside: try bytes.write(to: table.url, options: .atomic)
    case .inPlace:
      let file = try FileHandle(forWritingTo: table.url)
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: bytes)
      try file.close()
    }
  }
}
