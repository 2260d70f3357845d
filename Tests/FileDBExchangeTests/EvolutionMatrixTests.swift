import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Hours as minutes, and a name as a title.
struct Job: VersionedValue, Equatable {
  var title: String
  var archived: Bool
  var minutes: Int

  static let migrations: [ValueMigration] = [
    .rename("name", to: "title"),
    .custom(replacing: ["hours"]) { fields in
      fields["minutes"] = fields["minutes"] ?? .integer((fields["hours"]?.integer ?? 0) * 60)
      fields["hours"] = nil
    },
    .default("archived", false),
  ]

  static let cherry = Job(title: "Cherry", archived: true, minutes: 120)
  static let fields: Fields = ["title": "Cherry", "archived": true, "minutes": 120]
  static let oldFields: Fields = ["name": "Cherry", "archived": true, "hours": 2]
}

/// The type in an old program.
private struct OldJob: Codable { var name: String, archived: Bool, hours: Int }

/// Whoever writes a record of a type with versions, whoever asks for it sees it as of the newest.
@Suite struct EvolutionMatrixTests {
  typealias Jobs = RecordTable<Job>

  /// Makes record 1, which is old, or a new one into Cherry.
  struct Writer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var addsVersion = true
    let write: @Sendable (Jobs, _ raw: RecordTable<Fields>) throws -> RecordID<Job>

    init(
      _ name: String, addsVersion: Bool = true,
      _ write: @escaping @Sendable (Jobs, RecordTable<Fields>) throws -> RecordID<Job>
    ) {
      (testDescription, self.addsVersion, self.write) = (name, addsVersion, write)
    }
  }

  /// Whether it finds Cherry, and Cherry alone.
  struct Reader: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let finds: @Sendable (Jobs, RecordID<Job>) async throws -> Bool

    init(_ name: String, _ finds: @escaping @Sendable (Jobs, RecordID<Job>) async throws -> Bool) {
      (testDescription, self.finds) = (name, finds)
    }
  }

  private static let typed = [
    Writer("typed add") { jobs, _ in try jobs.add(.cherry) },
    Writer("update") { jobs, _ in
      try jobs.update(1) { $0 = .cherry }
      return 1
    },
    Writer("update to a value") { jobs, _ in
      try jobs.update(1, to: .cherry)
      return 1
    },
    Writer("set") { jobs, _ in
      try jobs.set(Job.fields, of: 1)
      return 1
    },
    Writer("unset") { jobs, raw in
      let id = RecordID<Job>(try raw.add(["title": "Cherry", "archived": true, "minutes": 120, "more": 1]))
      try jobs.unset(["more"], of: id)
      return id
    },
    Writer("duplicate") { jobs, _ in
      let id = try jobs.add(.cherry)
      let copy = try jobs.duplicate(id)
      try jobs.delete(id)
      return copy
    },
    Writer("duplicate of an old record", addsVersion: false) { jobs, raw in
      let id = RecordID<Job>(try raw.add(Job.oldFields.withVersion(0)))
      let copy = try jobs.duplicate(id)
      try jobs.delete(id)
      return copy
    },
    Writer("replaceAll") { jobs, _ in try jobs.replaceAll(identified: [IdentifiedValue(.cherry)])[0] },
    Writer("migrate") { jobs, raw in
      let id = RecordID<Job>(try raw.add(Job.oldFields.withVersion(0)))
      try jobs.migrate()
      return id
    },
    Writer("merge") { jobs, raw in
      let base = try raw.snapshot()
      let theirs = try jobs.store.undoableWrite { tx in
        try tx[jobs.name].update(1) { $0 = .cherry }
        return try tx["jobs"].snapshot()
      }
      try jobs.store.undo(theirs.step)
      try jobs.update(2) { $0.minutes = 2 }
      let merge = try TableMerge(base: base, ours: raw.snapshot(), theirs: theirs.result)
      #expect(merge.conflicts.isEmpty)
      try raw.replaceAll(identified: merge.merged.map { IdentifiedValue($0.fields, id: $0.id) })
      return 1
    },
    Writer("undo and redo") { jobs, _ in
      let edits = UndoStack(store: jobs.store)
      try edits.write(named: "Update") { tx in try tx[jobs.name].update(1) { $0 = .cherry } }
      try edits.undo()
      try edits.redo()
      return 1
    },
    Writer("undo", addsVersion: false) { jobs, raw in
      let id = RecordID<Job>(try raw.add(Job.oldFields.withVersion(0)))
      let edits = UndoStack(store: jobs.store)
      try edits.write(named: "Update") { tx in try tx[jobs.name].update(id) { $0.title = "Pear" } }
      try edits.undo()
      return id
    },
  ]

  private static let untyped = [
    Writer("untyped add") { _, raw in RecordID(try raw.add(Job.fields)) },
    Writer("untyped add of several") { _, raw in RecordID(try raw.add(contentsOf: [Job.fields], at: .top)[0])
    },
    Writer("untyped set") { _, raw in
      let id = try raw.add(["title": "Pear", "archived": false, "minutes": 1])
      try raw.set(Job.fields, of: id)
      return RecordID(id)
    },
    Writer("untyped set of an old record", addsVersion: false) { _, raw in
      try raw.set(Job.oldFields, of: 1)
      return 1
    },
    Writer("untyped add of what looks otherwise", addsVersion: false) { _, raw in
      RecordID(try raw.add(["name": "Cherry", "archived": true, "minutes": 120]))
    },
    Writer("untyped update") { _, raw in
      let id = try raw.add(["title": "Pear", "archived": false, "minutes": 1])
      try raw.update(id, to: Job.fields)
      return RecordID(id)
    },
    Writer("untyped replaceAll") { _, raw in
      RecordID(try raw.replaceAll(identified: [IdentifiedValue(Job.fields)])[0])
    },
    Writer("import of text") { jobs, _ in
      try importing(.delimited(.csv), "title,archived,minutes\nCherry,true,120\n", into: jobs)
    },
    Writer("import of JSON") { jobs, _ in
      try importing(.ndjson, #"{"title": "Cherry", "archived": true, "minutes": 120}"#, into: jobs)
    },
    Writer("import of an old export", addsVersion: false) { jobs, _ in
      try importing(.ndjson, #"{"name": "Cherry", "archived": true, "hours": 2}"#, into: jobs)
    },
    Writer("import by key") { jobs, raw in
      let id = try jobs.add(Job(title: "Cherry", archived: false, minutes: 1))
      _ = try importing(
        .delimited(.csv), "title,archived,minutes\nCherry,true,120\n", by: .key(["title"]), into: jobs)
      return id
    },
    Writer("old program", addsVersion: false) { jobs, _ in
      let old = try jobs.store.table(TableName<OldJob>("jobs"))
      return RecordID(try old.add(OldJob(name: "Cherry", archived: true, hours: 2)))
    },
    Writer("editor", addsVersion: false) { jobs, raw in
      let id = RecordID<Job>(try raw.add(["title": "PEAR", "archived": true, "minutes": 120]))
      try edited(jobs) { text in
        text.replacing("PEAR", with: "Cherry")
          .replacing(
            "\t\t\t<key>wgFileDbVersion</key>\n\t\t\t<integer>3</integer>\n\t\t</dict>\n\t</array>",
            with: "\t\t</dict>\n\t</array>")
      }
      return id
    },
    Writer("editor, of an old record") { jobs, _ in
      try edited(jobs) { $0.replacing("Old", with: "Cherry").replacing("<integer>0<", with: "<integer>2<") }
      try jobs.set(["archived": true], of: 1)
      return 1
    },
  ]

  private static let readers = [
    Reader("values") { jobs, id in
      try jobs.snapshot().values().get().filter { $0 == .cherry }.count == 1 && jobs.value(of: id) == .cherry
    },
    Reader("closures") { jobs, id in
      try jobs.snapshot().records.filter { $0.minutes > 100 }.map(\.id) == [id]
        && jobs.snapshot().records.max(by: \.minutes)?.id == id
    },
    Reader("one field") { jobs, id in
      try jobs.record(with: id).decode(Int.self, "minutes") == 120
    },
    Reader("predicate") { jobs, id in
      let cherry = try RecordPredicate(
        "title == 'Cherry' AND archived == TRUE AND minutes BETWEEN {119, 121}")
      let snapshot = try jobs.snapshot()
      return try snapshot.records(where: cherry).map(\.id) == [id] && snapshot.first(where: cherry)?.id == id
        && snapshot.filter { try cherry.matches($0) }.map(\.id) == [id]
        && cherry.unknownFields(in: snapshot).isEmpty
    },
    Reader("search") { jobs, id in
      try jobs.snapshot().search("cherry", in: ["title"]).map(\.id) == [id]
    },
    Reader("sort by name of field") { jobs, id in
      try await jobs.sort(by: [.descending("minutes"), .ascending("title")])
      return try jobs.snapshot().first?.id == id
    },
    Reader("sort by property") { jobs, id in
      try jobs.snapshot().sorted(by: \.minutes, order: .reverse).first?.id == id
    },
    Reader("lookup") { jobs, id in
      let table = jobs.withLookup(by: \.title).withLookup(by: \.minutes)
      return try table.records(where: \.title, equals: "Cherry").map(\.id) == [id]
        && table.records(where: \.minutes, in: 100...).map(\.id) == [id]
    },
    Reader("delete") { jobs, id in
      try await jobs.delete(where: RecordPredicate("archived != TRUE"))
      return try jobs.snapshot().ids == [id]
    },
    Reader("observation by predicate") { jobs, id in
      let archived = try RecordPredicate("archived == TRUE")
      for await change in jobs.changes(where: archived) { return change.after.ids == [id] }
      return false
    },
    Reader("observation by closure") { jobs, id in
      for await change in jobs.changes(where: { $0.archived }) { return change.after.ids == [id] }
      return false
    },
    Reader("observation in order") { jobs, id in
      for await change in jobs.changes(sortedBy: [.descending("minutes")]) {
        return change.after.ids.first == id
      }
      return false
    },
    Reader("update") { jobs, id in
      try await jobs.update(id) { $0.minutes += 1 }
      return try jobs.value(of: id) == Job(title: "Cherry", archived: true, minutes: 121)
    },
  ]

  @Test(arguments: typed + untyped, readers)
  func readerSeesWhatWriterMeans(_ writer: Writer, _ reader: Reader) async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (jobs, id) = try Self.written(writer, in: folder)
    #expect(try await reader.finds(jobs, id))
    try jobs.store.checkInvariants()
  }

  private static func written(_ writer: Writer, in folder: URL) throws -> (Jobs, RecordID<Job>) {
    let store = try RecordStore(at: folder, options: StoreOptions(durability: .none))
    let jobs = try store.table(TableName<Job>("jobs"))
    let raw = try store.table("jobs")
    try raw.add(["name": "Old", "hours": 0])
    try jobs.add(Job(title: "New", archived: false, minutes: 1))
    let id = try writer.write(jobs, raw)
    let stored = try raw.value(of: RecordID(id))
    #expect((stored["wgFileDbVersion"] == 3) == writer.addsVersion, "\(stored)")
    return (jobs, id)
  }

  private static func importing(
    _ format: ExchangeFormat, _ text: String, by matching: TableImport.Matching = .nothing, into jobs: Jobs
  ) throws -> RecordID<Job> {
    var rows = TableImport(format: format)
    rows.types = ["archived": .bool, "minutes": .integer]
    rows.matching = matching
    let source = ImportSource(Array(text.utf8), name: "file")
    return try jobs.store.write { [rows] tx in
      _ = try rows.run(source, into: "jobs", in: &tx)
      return try #require(tx[jobs.name].snapshot().last?.id)
    }
  }

  private static func edited(_ jobs: Jobs, _ change: (String) -> String) throws {
    try jobs.store.checkpoint()
    let text = try String(contentsOf: jobs.url, encoding: .utf8)
    try #require(change(text) != text)
    try Data(change(text).utf8).write(to: jobs.url)
    try jobs.store.refresh()
  }
}

extension Fields {
  fileprivate func withVersion(_ version: Int64) -> Fields {
    var fields = self
    fields["wgFileDbVersion"] = .integer(version)
    return fields
  }
}
