import FileDB
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBCluster

struct LogEvent: Codable, Sendable, Equatable {
  var kind: String
  var level: Int?
}

extension TableName<LogEvent> { static var events: Self { "events" } }

/// Paged tables.
@Suite(
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PagedTableTests {
  /// A store without a folder, with its own log.
  private func store(
    _ name: String = UUID().uuidString, lockTimeout: Duration = longestWait
  ) throws -> RecordStore {
    let server = try #require(PostgresServer.current)
    let info = "\(server.info) application_name=\(name)"
    let log = PostgresLog(info, store: name, timeout: longestWait, history: .fromNow)
    try log.create()
    return RecordStore(
      at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions(lockTimeout: lockTimeout))
  }

  private func makeModel() throws -> RecordTable<LogEvent> { try RecordStore.inMemory().table(.events) }

  private func all(_ table: PagedTable<LogEvent>) async throws -> [StoredRecord<LogEvent>] {
    try await table.records(in: 0..<100_000)
  }

  private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do { try await body() } catch { return (error as? StoreError)?.code }
    return nil
  }

  // MARK: Reading and writing

  @Test func methodsWorkLikeThoseOfATableInMemory() async throws {
    let random = Mutex(SeededRandom.fromEnvironment("paged verbs"))
    func number(_ range: ClosedRange<Int>) -> Int {
      random.withLock { Int.random(in: range, using: &$0) }
    }
    let table = try store().paged(.events)
    let model = try makeModel()
    func id() -> RecordID<LogEvent> {
      let ids = (try? model.snapshot().ids) ?? []
      // One id in twenty does not exist.
      return ids.isEmpty || number(1...20) == 1
        ? RecordID(rawValue: 1_000_000)! : ids[number(0...ids.count - 1)]
    }
    func position() throws -> Position<LogEvent> {
      switch number(1...5) {
      case 1: .top
      case 2: .bottom
      case 3: .index(number(0...(try model.count) + 1))
      case 4: .before(id())
      default: .after(id())
      }
    }
    for round in 1...300 {
      let event = LogEvent(kind: "\(round)", level: number(0...9))
      let (id, place) = (id(), try position())
      switch number(1...10) {
      case 1...3:
        let values = (0..<(number(1...5) == 1 ? number(300...900) : 2)).map {
          LogEvent(kind: "\(round) \($0)")
        }
        await expectSame {
          try await table.add(contentsOf: values, at: place)
        } as: {
          try model.add(contentsOf: values, at: place)
        }
      case 4...5:
        await expectSame {
          try await table.update(id) { $0.kind += "!" }
        } as: {
          try model.update(id) { $0.kind += "!" }
        }
      case 6:
        await expectSame {
          try await table.update(id, to: event)
        } as: {
          try model.update(id, to: event)
        }
      case 7:
        await expectSame {
          try await table.set(["more": true], of: id)
        } as: {
          try model.set(["more": true], of: id)
        }
        await expectSame {
          try await table.unset(["level"], of: id)
        } as: {
          try model.unset(["level"], of: id)
        }
      case 8:
        await expectSame {
          try await table.move(id, to: place)
        } as: {
          try model.move(id, to: place)
        }
      case 9:
        await expectSame {
          try await table.delete(id)
        } as: {
          try model.delete(id)
        }
      default:
        let ids = try model.snapshot().ids.filter { _ in number(1...4) == 1 } + [id, id]
        await expectSame {
          try await table.delete(ids)
        } as: {
          try model.delete(ids)
        }
      }
      if round % 10 == 0 { try await expectSameRecords(table, model, number) }
    }
    try checkChunks()
  }

  private func expectSame(_ paged: () async throws -> Void, as plain: () throws -> Void) async {
    #expect(await code(paged) == storeError(plain)?.code)
  }

  private func expectSame(
    _ paged: () async throws -> [RecordID<LogEvent>], as plain: () throws -> [RecordID<LogEvent>]
  ) async {
    var (left, right): ([RecordID<LogEvent>], [RecordID<LogEvent>]) = ([], [])
    #expect(await code { left = try await paged() } == storeError { right = try plain() }?.code)
    #expect(left == right)
  }

  private func expectSameRecords(
    _ table: PagedTable<LogEvent>, _ model: RecordTable<LogEvent>, _ number: (ClosedRange<Int>) -> Int
  ) async throws {
    let expected = Array(try model.snapshot())
    #expect(try await all(table) == expected)
    #expect(try await table.count() == expected.count)
    #expect(try await table.counter() == model.snapshot().counter)
    for _ in 0..<5 where !expected.isEmpty {
      let index = number(0...expected.count - 1)
      let (end, limit, id) = (
        min(index + number(0...700), expected.count), number(0...600), expected[index].id
      )
      #expect(try await table.records(in: index..<end) == Array(expected[index..<end]))
      #expect(try await table.record(at: index) == expected[index])
      #expect(try await table.record(with: id) == expected[index])
      #expect(try await table.index(of: id) == index)
      #expect(
        try await table.records(after: id, limit: limit) == Array(expected[(index + 1)...].prefix(limit)))
      #expect(
        try await table.records(before: id, limit: limit) == Array(expected[..<index].suffix(limit)))
    }
    #expect(await code { _ = try await table.record(at: expected.count) } == .indexOutOfRange)
    #expect(await code { _ = try await table.records(after: 1_000_000, limit: 5) } == .recordNotFound)
  }

  @Test func tableThatDoesNotExistIsEmpty() async throws {
    let table = try store().paged(.events)
    #expect(try await table.count() == 0)
    #expect(try await table.records(in: 0..<10).isEmpty)
    #expect(await code { _ = try await table.record(with: 1) } == .recordNotFound)
    #expect(await code { try await table.move(1, to: .top) } == .recordNotFound)
    #expect(await code { try await table.delete(1) } == .recordNotFound)
  }

  // MARK: Rules

  @Test func rulesAboutASingleRecordAreKept() async throws {
    let store = try store()
    let ruled = TableName<LogEvent>(
      "events", declaring: TableDeclaration(.field(\.kind, isRequired: true), .field(\.level, minimum: 1)))
    let table = try store.paged(ruled)
    let id = try await table.add(LogEvent(kind: "one", level: 1))
    #expect(await code { try await table.add(LogEvent(kind: "two", level: 0)) } == .valueNotAllowed)
    #expect(await code { try await table.update(id) { $0.level = -1 } } == .valueNotAllowed)
    #expect(await code { try await table.unset(["kind"], of: id) } == .requiredField)
    #expect(await code { try await table.load([LogEvent(kind: "three", level: 0)]) } == .valueNotAllowed)
    // The rules also apply to writers without the declaration.
    #expect(
      await code { try await store.paged("events").add(["kind": "four", "level": 0]) } == .valueNotAllowed)
    #expect(try await all(table).map(\.id) == [id])
  }

  @Test func rulesAboutOtherRecordsAreRefused() async throws {
    let declarations: [TableDeclaration<LogEvent>] = [
      TableDeclaration(.field(\.kind, isUnique: true)), TableDeclaration(unique: [["kind", "level"]]),
      TableDeclaration(.field(\.level, references: ReferenceRule("others"))),
    ]
    for declaration in declarations {
      let table = try store().paged(TableName<LogEvent>("events", declaring: declaration))
      #expect(await code { try await table.add(LogEvent(kind: "one")) } == .invalidSchema)
      #expect(try await table.count() == 0)
    }
  }

  @Test func rulesOfATableWithRecordsCannotChange() async throws {
    let store = try store()
    try await store.paged(.events).add(LogEvent(kind: "one"))
    let ruled = TableName<LogEvent>("events", declaring: TableDeclaration(.field(\.level, isRequired: true)))
    #expect(
      await code { try await store.paged(ruled).add(LogEvent(kind: "two", level: 2)) } == .invalidSchema)
  }

  // MARK: Several writers

  @Test func orderIsKeptWhileSeveralWritersSplitChunks() async throws {
    let (name, writers, each) = (UUID().uuidString, 5, 40)
    let first = try store(name).paged(.events)
    try await first.add(contentsOf: (0..<500).map { LogEvent(kind: "first", level: $0) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        group.addTask {
          let table = try store(name).paged(.events)
          var last: RecordID<LogEvent> = RecordID(rawValue: Int64(1 + writer * 100))!
          for round in 0..<each {
            let values = (0..<20).map { LogEvent(kind: "\(writer)", level: round * 20 + $0) }
            last = try await table.add(contentsOf: values, at: .after(last)).last!
            if round % 8 == 3 { try await table.move(last, to: .after(last)) }
          }
        }
      }
      try await group.waitForAll()
    }
    let records = try await all(first).map { try $0.value }
    #expect(records.count == 500 + writers * each * 20)
    // Each writer added its records one below the other. They are all below the record that has not moved.
    #expect(records.filter { $0.kind == "first" }.map(\.level) == Array(0..<500))
    for writer in 0..<writers {
      let start = try #require(records.firstIndex { $0.kind == "first" && $0.level == writer * 100 })
      let own = records[(start + 1)...].prefix(each * 20)
      #expect(own.allSatisfy { $0.kind == "\(writer)" } && own.map(\.level) == Array(0..<each * 20))
    }
    try checkChunks()
  }

  /// Adds records, moves and deletes them, and leaves the first 2,000 unchanged.
  private func writeUntilCancelled(_ name: String, seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let table = try store(name).paged(.events)
    while true {
      let neighbour = RecordID<LogEvent>(rawValue: .random(in: 1...2_000, using: &random))!
      let values = (0..<Int.random(in: 1...60, using: &random)).map { LogEvent(kind: "\($0)") }
      let ids = try await table.add(contentsOf: values, at: .before(neighbour))
      try await table.move(ids[0], to: Bool.random(using: &random) ? .top : .bottom)
      try await table.delete(ids.filter { _ in Bool.random(using: &random) })
    }
  }

  @Test func pageHasEachRecordOnceWhileOthersWrite() async throws {
    let seed = SeededRandom.fromEnvironment("pages while others write").seed
    let (name, fixed) = (UUID().uuidString, 2_000)
    let reader = try store(name).paged(.events)
    try await reader.add(contentsOf: (0..<fixed).map { LogEvent(kind: "fixed", level: $0) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        group.addTask {
          do { try await writeUntilCancelled(name, seed: seed &+ UInt64(writer)) } catch is CancellationError
          {}
        }
      }
      var random = SeededRandom(seed: seed &+ 9)
      for _ in 0..<250 {
        let start = Int.random(in: 0..<fixed, using: &random)
        let page = try await reader.records(in: start..<start + Int.random(in: 1...1_500, using: &random))
        #expect(Set(page.map(\.id)).count == page.count)
        let levels = try page.map { try $0.value }.compactMap(\.level)
        #expect(levels == Array((levels.first ?? 0)..<(levels.first ?? 0) + levels.count))
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    try checkChunks()
  }

  // MARK: Loading

  private func extend(
    _ model: RecordTable<LogEvent>, _ values: [LogEvent], at position: Position<LogEvent>
  ) throws {
    try model.add(contentsOf: values, at: position)
  }

  @Test(arguments: [0, 1, 700, 1_024, 1_499, 1_500]) func loadedRecordsAreAtTheirPosition(index: Int)
    async throws
  {
    let table = try store().paged(.events)
    let model = try makeModel()
    for start in [0, 700] {
      let values = (start..<start + 750).map { LogEvent(kind: "first", level: $0) }
      try await table.add(contentsOf: values)
      try extend(model, values, at: .bottom)
    }
    let values = (0..<5_000).map { LogEvent(kind: "loaded", level: $0) }
    #expect(try await table.load(values, at: .index(index)) == 5_000)
    try extend(model, values, at: .index(index))
    try await table.add(LogEvent(kind: "last"), at: .index(index + 3_000))
    try extend(model, [LogEvent(kind: "last")], at: .index(index + 3_000))
    #expect(try await all(table) == Array(model.snapshot()))
    try checkChunks()
  }

  private func killConnectionThatCopies(of program: String) {
    let found = try? runStatement(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE 'COPY filedb.records%' AND application_name = '\(program)'
      """)
    #expect(found?.count == 1)
  }

  @Test func nothingIsLoadedIfTheConnectionBreaksInTheMiddle() async throws {
    let name = UUID().uuidString
    let table = try store(name).paged(.events)
    try await table.add(LogEvent(kind: "one"))
    let error = await code {
      let values = (0..<100_000).lazy.map { number in
        if number == 70_000 { killConnectionThatCopies(of: name) }
        return LogEvent(kind: "killed", level: number)
      }
      try await table.load(values)
    }
    #expect(error == .unreachable)
    #expect(try await table.count() == 1)
    #expect(try await table.counter() == 1)
    let rows = try runStatement(
      "SELECT count(*) FROM filedb.records WHERE position('killed' IN encode(body, 'escape')) > 0")
    #expect(rows.first?.number(0) == 0)
    #expect(try await table.add(LogEvent(kind: "two")).rawValue == 2)
    try checkChunks()
  }

  @Test func othersReadAndWriteOtherTablesDuringALoad() async throws {
    let store = try store(lockTimeout: .zero)
    let table = try store.paged(.events)
    try await table.add(LogEvent(kind: "one"))
    let isLoading = Atomic(false)
    let mayEnd = Event("the end of the test")
    async let count = table.load(
      (0..<10_000).lazy.map { number in
        if number == 9_000 {
          isLoading.store(true, ordering: .relaxed)
          try? mayEnd.wait()
        }
        return LogEvent(kind: "loaded")
      })
    try await wait(for: "the load to begin") { isLoading.load(ordering: .relaxed) }
    #expect(await code { try await table.add(LogEvent(kind: "two")) } == .locked)
    #expect(await code { try await table.load([LogEvent(kind: "two")]) } == .locked)
    try await store.table("others").add(["title": "goes on"])
    #expect(try await table.count() == 1)
    mayEnd.report()
    #expect(try await count == 10_000)
    #expect(try await table.add(LogEvent(kind: "two")).rawValue == 10_002)
  }

  /// Meanwhile, a machine that does not know the table yet tries to create it.
  @Test func firstLoadOfATableDoesNotStopTheStore() async throws {
    let store = try store()
    let table = try store.paged(.events)
    try table.rows.makePaged()
    let load = try PagedLoad(into: table.rows)
    var plain = TableState()
    let applied = try plain.applyRecording(.create)
    let commit = NewCommit(
      changes: [LoggedChange(applied, of: "events")], position: 0, tables: ["events": 0],
      states: ["events": plain])
    func append() throws {
      _ = try table.rows.log.append(timeout: .zero, { commit }, beforeOthersSee: { _ in })
    }
    #expect(storeError { try append() }?.code == .locked)
    try table.rows.makePaged()
    try await store.table("others").add(["title": "goes on"])
    var copy = try load.copy()
    try load.send([EncodedRecord(id: 1, bytes: record(1).bytes)], by: &copy)
    try load.commit(&copy, [.raiseCounter(to: 1)], behind: nil)
    #expect(try await table.count() == 1)
    // It learns that others have changed the table, and reads it before it tries again.
    #expect(storeError { try append() }?.code == .locked)
    #expect(storeError { try store.table("events").add(["kind": "plain"]) }?.code == .tableExists)
    try checkChunks()
  }

  @Test func recordsAreReadWhileAWriteWaits() async throws {
    let table = try store().paged(.events)
    let id = try await table.add(LogEvent(kind: "one"))
    let load = try PagedLoad(into: table.rows)
    let attempts = Atomic(0)
    let isDone = Atomic(false)
    async let change: Void = {
      try await table.update(id) { event in
        attempts.add(1, ordering: .relaxed)
        event.kind = "two"
      }
      isDone.store(true, ordering: .relaxed)
    }()
    try await wait(for: "a second attempt to write") { attempts.load(ordering: .relaxed) > 1 }
    for _ in 0..<20 { #expect(try await table.record(with: id).value.kind == "one") }
    let wasDone = isDone.load(ordering: .relaxed)
    #expect(!wasDone)
    var copy = try load.copy()
    try copy.finish()
    try load.commit(&copy, [.raiseCounter(to: 1)], behind: nil)
    try await change
    #expect(try await table.record(with: id).value.kind == "two")
  }

  @Test func limitsMayBeAsLargeAsTheyLike() async throws {
    let table = try store().paged(.events)
    let ids = try await table.add(contentsOf: (1...3).map { LogEvent(kind: "\($0)") })
    #expect(try await table.records(in: 1..<Int.max).map(\.id) == Array(ids[1...]))
    #expect(try await table.records(after: ids[0], limit: .max).map(\.id) == Array(ids[1...]))
    #expect(try await table.records(before: ids[2], limit: .max).map(\.id) == Array(ids[..<2]))
    #expect(await code { _ = try await table.record(at: .max) } == .indexOutOfRange)
    #expect(await code { _ = try await table.record(at: -1) } == .indexOutOfRange)
  }

  /// The log cannot be read when the sequence begins.
  @Test func changesAfterAFailedStartBeginWithReloaded() async throws {
    let server = try #require(PostgresServer.current)
    let name = UUID().uuidString
    let log = PostgresLog(server.info, store: name, timeout: longestWait, history: .fromNow)
    let store = RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
    var changes = try store.paged(.events).changes().makeAsyncIterator()
    await changes.start()
    try log.create()
    guard case .reloaded = try await changes.nextInTime() else {
      Issue.record("changes may be missing")
      return
    }
  }
}
