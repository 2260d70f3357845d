import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

private struct OldMemo: Codable, Sendable { var name: String }

private struct Memo: VersionedValue, Equatable {
  var title: String
  var tags: [String]

  static let migrations: [ValueMigration] = [
    .rename("name", to: "title"),
    .custom { record in
      guard record["title"] != "bad" else { throw Refusal() }
      record["tags"] = record["tags"] ?? []
    },
  ]

  struct Refusal: Error {}
}

/// The record as a version between the two knows it.
private struct MiddleMemo: VersionedValue {
  var title: String
  static var migrations: [ValueMigration] { [Memo.migrations[0]] }
}

private let notes = TableName<Memo>("notes")
private let versionKey = "wgFileDbVersion"

@Suite struct MigrationTests {
  @Test func newRecordHasNewestVersion() throws {
    try withStore { store in
      let id = try store.table(notes).add(Memo(title: "a", tags: ["x"]))
      let record = try store.table("notes").value(of: RecordID(id))
      #expect(record == ["title": "a", "tags": ["x"], "wgFileDbVersion": 2])
      #expect(try store.table(notes).value(of: RecordID(id)) == Memo(title: "a", tags: ["x"]))
    }
  }

  @Test(arguments: StorePlace.allCases) func readingMigratesOldRecordWithoutWriting(place: StorePlace) throws
  {
    try withStore(place) { store in
      let old = try store.table(TableName<OldMemo>("notes"))
      try old.add(contentsOf: ["c", "a", "b"].map(OldMemo.init))
      let middle = try store.table(TableName<MiddleMemo>("notes")).add(MiddleMemo(title: "d"))
      let table = try store.table(notes)
      let titles = ["c", "a", "b", "d"]
      #expect(try table.lastSnapshot.values().get() == titles.map { Memo(title: $0, tags: []) })
      #expect(try table.lastSnapshot.map { try $0.value.title } == titles)
      #expect(try table.lastSnapshot.sorted(by: \.title).map { try $0.value.title } == titles.sorted())
      #expect(try store.table("notes").value(of: 1) == ["name": "c"])
      #expect(try store.table("notes").value(of: RecordID(middle)) == ["title": "d", "wgFileDbVersion": 1])
    }
  }

  @Test func changingOldRecordWritesNewVersionAndKeepsUnknownFields() throws {
    try withStore { store in
      let raw = try store.table("notes")
      let table = try store.table(notes)
      let ids = try raw.add(contentsOf: (0..<4).map { ["name": .string("\($0)"), "mine": true] })
        .map { RecordID<Memo>($0) }
      try table.update(ids[0]) { $0.tags = ["x"] }
      try table.update(ids[1], to: Memo(title: "1", tags: []))
      try table.set(["title": "new"], of: ids[2])
      try table.unset(["mine"], of: ids[3])
      let version: PlistValue = 2
      let records = try raw.lastSnapshot.values().get()
      #expect(records[0] == ["title": "0", "tags": ["x"], "mine": true, "wgFileDbVersion": version])
      #expect(records[1] == ["title": "1", "tags": [], "mine": true, "wgFileDbVersion": version])
      #expect(records[2] == ["title": "new", "tags": [], "mine": true, "wgFileDbVersion": version])
      #expect(records[3] == ["title": "3", "tags": [], "wgFileDbVersion": version])
    }
  }

  @Test(arguments: StorePlace.allCases) func migrateRewritesAllRecordsInOneCommit(place: StorePlace) throws {
    try withStore(place, options: StoreOptions(checkpoints: .manual)) { store in
      let table = try store.table(notes)
      try store.table("notes").add(contentsOf: (0..<5).map { ["name": .string("\($0)")] })
      try table.add(Memo(title: "new", tags: ["t"]))
      let before = try store.pendingCommits().count
      #expect(try table.migrate() == 5)
      #expect(try store.pendingCommits().count == before + 1)
      #expect(try store.table("notes").lastSnapshot.map { $0[versionKey] } == Array(repeating: 2, count: 6))
      #expect(try table.lastSnapshot.values().get().map(\.title) == ["0", "1", "2", "3", "4", "new"])
      #expect(try table.migrate() == 0)
      #expect(try store.pendingCommits().count == before + 1)
    }
  }

  /// A power cut after a fault at each call of the disk.
  @Test func diskFaultMigratesAllRecordsOrNone() throws {
    func open(_ disk: any Disk) throws -> RecordStore {
      try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions())
    }
    for verb in 0... {
      let memory = MemoryDisk()
      try open(memory).table("notes").add(contentsOf: (0..<3).map { ["name": .string("\($0)")] })
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: true, halfWritten: true))
      let isDone = (try? open(disk).table(notes).migrate()) != nil
      for survivor in [memory.surviving(.kept), memory.surviving(.lost)] {
        let store = try open(survivor)
        let versions = Set(try store.table("notes").lastSnapshot.map { $0[versionKey] })
        #expect(versions == [2] || versions == [nil] && !isDone, "verb \(verb)")
        #expect(try store.table(notes).lastSnapshot.values().get().map(\.title) == ["0", "1", "2"])
        try store.checkInvariants()
      }
      if disk.faultCount == 0 { break }
    }
  }

  @Test func failingMigrationNamesRecordAndChangesNothing() throws {
    try withStore { store in
      let raw = try store.table("notes")
      try raw.add(contentsOf: [["name": "good"], ["name": "bad"], ["name": "good"]])
      let before = try raw.lastSnapshot.values().get()
      let table = try store.table(notes)
      let attempts: [() throws -> Void] = [
        { try table.migrate() }, { _ = try table.lastSnapshot.values().get() },
        { _ = try table.value(of: 2) },
        { try table.update(2) { $0.title = "x" } }, { try table.set(["title": "x"], of: 2) },
      ]
      for attempt in attempts {
        let error = try #require(storeError(attempt))
        #expect(error.code == .migrationFailed)
        #expect(error.table == "notes" && error.record == 2)
        #expect(error.message.contains("from version 1 to 2") && error.message.contains("Refusal"))
        #expect(try raw.lastSnapshot.values().get() == before)
      }
      try table.update(2, to: Memo(title: "mended", tags: []))
      #expect(try table.migrate() == 2)
      #expect(try table.lastSnapshot.values().get().map(\.title) == ["good", "mended", "good"])
    }
  }

  @Test func recordThatStillDoesNotFitIsNotMigrated() throws {
    try withStore { store in
      let raw = try store.table("notes")
      try raw.add(contentsOf: [["name": "a"], ["name": 5], [:]])
      let before = try raw.lastSnapshot.values().get()
      let error = try #require(storeError { try store.table(notes).migrate() })
      #expect(error.code == .invalidValue && error.record == 2 && error.field == "title")
      #expect(try raw.lastSnapshot.values().get() == before)
    }
  }

  @Test func migrationCannotProduceUnrepresentableValue() throws {
    struct Broken: VersionedValue {
      var text: String
      static let migrations: [ValueMigration] = [.default("text", "\u{0}")]
    }
    try withStore { store in
      let id = try store.table("t").add([:])
      let error = try #require(
        storeError { _ = try store.table(TableName<Broken>("t")).value(of: RecordID(id)) })
      #expect(error.code == .migrationFailed && error.message.contains("'text'"))
    }
  }

  @Test func recordOfNewerVersionIsNeitherReadNorChanged() throws {
    try withStore(.disk) { store in
      let id = try store.table(notes).add(Memo(title: "a", tags: []))
      let newest = try store.table("notes").value(of: RecordID(id))
      // Another process, and another version of the program.
      let other = try RecordStore(at: store.url)
      let table = try other.table(TableName<MiddleMemo>("notes"))
      let attempts: [() throws -> Void] = [
        { _ = try table.value(of: RecordID(id)) }, { _ = try table.lastSnapshot.values().get() },
        { try table.migrate() },
        { try table.update(RecordID(id)) { $0.title = "b" } },
        { try table.update(RecordID(id), to: MiddleMemo(title: "b")) },
        { try table.set(["title": "b"], of: RecordID(id)) }, { try table.unset(["tags"], of: RecordID(id)) },
        { try table.delete(where: RecordPredicate("title != 'b'")) },
        { _ = try table.lastSnapshot.first(where: RecordPredicate("title == 'a'")) },
        { _ = try table.record(with: RecordID(id)).decode(String.self, "title") },
      ]
      for attempt in attempts {
        let error = try #require(storeError(attempt))
        #expect(error.code == .newerVersion && error.table == "notes" && error.record == AnyRecordID(id))
        #expect(error.message.contains("is 2") && error.message.contains("knows 1"))
      }
      #expect(try store.table("notes").value(of: RecordID(id)) == newest)
      // Verbs that do not decode a record still work, and each version reads what the older one adds.
      let added = try table.add(MiddleMemo(title: "c"))
      try table.move(RecordID(id), to: .bottom)
      try store.refresh()
      #expect(try store.table(notes).value(of: RecordID(added)) == Memo(title: "c", tags: []))
    }
  }

  @Test func invalidVersionIsAnError() throws {
    try withStore { store in
      for version: PlistValue in ["2", -1, 1.5] {
        let id = try store.table("notes").add(["title": "a", "wgFileDbVersion": version])
        let error = try #require(storeError { _ = try store.table(notes).value(of: RecordID(id)) })
        #expect(error.code == .invalidValue && error.field == versionKey && error.record == AnyRecordID(id))
      }
    }
  }

  @Test func versionedValueMayNotUseReservedVersionField() throws {
    struct Clash: VersionedValue {
      var wgFileDbVersion = 1
      static let migrations: [ValueMigration] = []
    }
    try withStore { store in
      let error = try #require(storeError { try store.table(TableName<Clash>("t")).add(Clash()) })
      #expect(error.code == .reservedField && error.field == versionKey && error.table == "t")
    }
  }

  /// The first version of a type leaves no trace in the file.
  @Test func versionZeroIsNotWritten() throws {
    struct First: VersionedValue {
      var name: String
      static let migrations: [ValueMigration] = []
    }
    try withStore { store in
      let id = try store.table(TableName<First>("notes")).add(First(name: "a"))
      #expect(try store.table("notes").value(of: RecordID(id)) == ["name": "a"])
      #expect(try store.table(notes).value(of: RecordID(id)) == Memo(title: "a", tags: []))
    }
  }
}
