import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBCluster

/// What folders do with commits to paged tables.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PagedReplicaTests {
  private func makeLog() throws -> SharedLog {
    let server = try #require(PostgresServer.current)
    let log = SharedLog.postgreSQL(server.info, store: UUID().uuidString, timeout: longestWait)
    try log.create()
    return log
  }

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do { try await body() } catch { return (error as? StoreError)?.code }
    return nil
  }

  private func catchUp(_ store: RecordStore) throws { try store.catchUp() }
  private func checkpoint(_ store: RecordStore) throws { try store.checkpoint() }
  private func add(_ store: RecordStore, _ title: String) throws {
    try store.table("notes").add(["title": .string(title)])
  }

  private func count(_ store: RecordStore, _ table: String) throws -> Int { try store.table(table).count }
  private func titles(_ store: RecordStore) throws -> [PlistValue?] {
    try store.table("notes").snapshot().map { $0.fields["title"] }
  }

  @Test func folderHasNoFileForAPagedTable() async throws {
    try await withFolder { folder in
      let log = try makeLog()
      let a = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: log)
      let b = try RecordStore(at: folder.appendingPathComponent("b"), sharedBy: log)
      try add(a, "one")
      let events = try a.paged(.events)
      for number in 0..<5 { try await events.add(LogEvent(kind: "\(number)")) }
      try await events.load((0..<3_000).map { LogEvent(kind: "loaded", level: $0) })
      try add(b, "two")
      for store in [a, b] {
        try catchUp(store)
        try checkpoint(store)
        #expect(try store.tableNames == ["notes"])
        #expect(try titles(store) == ["one", "two"] && count(store, "events") == 0)
        #expect(
          !FileManager.default.fileExists(atPath: store.url.appendingPathComponent("events.plist").path))
        try store.checkInvariants()
      }
      let late = try RecordStore(at: folder.appendingPathComponent("late"), sharedBy: log)
      #expect(try late.tableNames == ["notes"] && count(late, "notes") == 2)
      #expect(try await late.paged(.events).count() == 3_005)
    }
  }

  @Test func writesToTheWrongKindOfTableFail() async throws {
    try await withFolder { folder in
      let log = try makeLog()
      let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: log)
      try add(store, "one")
      try await store.paged(.events).add(LogEvent(kind: "one"))
      #expect(await code { try await store.table(.events).add(LogEvent(kind: "two")) } == .tableExists)
      #expect(await code { try await store.paged("notes").add(["title": "two"]) } == .tableExists)
      #expect(await code { try await store.paged("notes").load([["title": "two"]]) } == .tableExists)
      #expect(await code { try await store.paged("Notes").add(["title": "two"]) } == .invalidTableName)
      #expect(try await store.paged("notes").records(in: 0..<9).map { $0.fields["title"] } == ["one"])
      #expect(try await store.paged(.events).count() == 1)
      try add(store, "two")
      try store.checkInvariants()
    }
  }

  @Test func nameIsNotPagedBeforeItsTableHasRecords() async throws {
    try await withFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: makeLog())
      let paged = try store.paged("notes")
      #expect(await code { try await paged.delete(1) } == .recordNotFound)
      #expect(await code { try await paged.add(["wgFileDbSecretId": 1]) } != nil)
      #expect(try await paged.load([Fields]()) == 0)
      try add(store, "one")
      #expect(await code { try await paged.add(["title": "two"]) } == .tableExists)
      try catchUp(store)
      #expect(try titles(store) == ["one"])
      try store.checkInvariants()
    }
  }

  @Test func plainStoreHasNoPagedTables() {
    #expect(storeError { _ = try RecordStore.inMemory().paged(.events) }?.code == .notAFolder)
    #expect(storeError { _ = try RecordStore.inMemory().paged("events") }?.code == .notAFolder)
  }

  /// Otherwise a machine that receives only commits to a paged table would keep them forever.
  @Test func commitsToPagedTablesDoNotGrowAFoldersJournal() async throws {
    try await withFolder { folder in
      let log = try makeLog()
      var options = StoreOptions(checkpoints: .manual)
      options.keptJournal = 8 << 10
      let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: log, options: options)
      try add(store, "one")
      try checkpoint(store)
      let events = try store.paged(.events)
      for number in 0..<120 { try await events.add(LogEvent(kind: "\(number)")) }
      try catchUp(store)
      let replica = try #require(store.log as? ReplicaLog).folder
      let before = replica.sizes.journal
      try checkpoint(store)
      #expect(before > 8 << 10 && replica.sizes.journal < 1 << 10)
      try add(store, "two")
      #expect(try count(store, "notes") == 2)
      try store.checkInvariants()
    }
  }

  // MARK: Changes

  @Test func changesReportWhatOtherMachinesDid() async throws {
    try await withFolder { folder in
      let log = try makeLog()
      let a = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: log).paged(.events)
      let b = try RecordStore(at: folder.appendingPathComponent("b"), sharedBy: log).paged(.events)
      let before = try await a.add(LogEvent(kind: "before"))
      var changes = b.changes().makeAsyncIterator()
      await changes.start()
      let ids = try await a.add(contentsOf: [LogEvent(kind: "one"), LogEvent(kind: "two")], at: .top)
      guard case .added(let records, index: 0) = try await changes.nextInTime() else { return fail() }
      #expect(try records.map(\.id) == ids && records.map { try $0.value.kind } == ["one", "two"])
      try await a.update(before) { $0.level = 5 }
      guard case .updated(let record) = try await changes.nextInTime() else { return fail() }
      #expect(try record.id == before && record.value == LogEvent(kind: "before", level: 5))
      try await a.move(before, to: .top)
      guard case .moved(before, index: 0) = try await changes.nextInTime() else { return fail() }
      try await a.delete(ids)
      guard case .deleted(ids) = try await changes.nextInTime() else { return fail() }
      try await a.load([LogEvent(kind: "loaded")])
      guard case .reloaded = try await changes.nextInTime() else { return fail() }
      try await a.add(LogEvent(kind: "never seen"))
      try log.forgetCommits(olderThan: .zero)
      try await a.add(LogEvent(kind: "last"))
      guard case .reloaded = try await changes.nextInTime() else { return fail() }
      guard case .added = try await changes.nextInTime() else { return fail() }
    }
  }

  private func fail() { Issue.record("this is not what the other machine did") }

  @Test func changesEndWithTheirTask() async throws {
    try await withFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: makeLog())
      let table = try store.paged(.events)
      let hasStarted = Atomic(false)
      let listener = Task {
        var changes = table.changes().makeAsyncIterator()
        await changes.start()
        hasStarted.store(true, ordering: .relaxed)
        return try await changes.endsInTime()
      }
      try await wait(for: "the first look at the log") { hasStarted.load(ordering: .relaxed) }
      listener.cancel()
      #expect(try await listener.value)
    }
  }
}
