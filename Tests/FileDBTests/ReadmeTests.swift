import FileDB
import Foundation
import TestSupport
import Testing

nonisolated struct Note: DefaultedValue {  // or any Codable & Sendable
  var title: String
  var isDone = false
  static let defaults = Note(title: "")  // for fields that a record lacks
}

nonisolated extension TableName<Note> {
  static var notes: Self { "notes" }
}

/// The Swift code of the README and of the article "Getting started", word for word.
@Suite struct ReadmeTests {
  @Test func firstProgramMakesTheFileThatReadmeShows() throws {
    nonisolated struct Note: Codable, Sendable {
      var title: String
      var isDone = false
    }
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let notes = try store.table(TableName<Note>("notes"))
      let milk = try notes.add(Note(title: "Buy milk"))
      let rent = try notes.add(Note(title: "Pay the rent"))
      try notes.update(rent) { $0.isDone = true }
      try notes.move(milk, to: .bottom)  // .top .bottom .index(3) .before(id) .after(id)
      try store.close()

      let readme = try String(contentsOf: packageRoot.appendingPathComponent("README.md"), encoding: .utf8)
      let shown = try #require(readme.firstMatch(of: /```xml\n((?s).*?)```/)).1
      let file = try String(contentsOf: folder.appendingPathComponent("notes.plist"), encoding: .utf8)
      #expect(file.hasSuffix("\n<plist version=\"1.0\">\n\(shown)</plist>\n"))
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func asyncCodeRuns() async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try await RecordStore.open(at: folder)
    let notes = try await store.table(.notes)
    let milk = try await notes.add(Note(title: "Buy milk"))
    try await store.write { tx in
      let copy = try tx[.notes].duplicate(milk)
      try tx[.notes].move(copy, to: .top)
    }
    try await store.refresh()
    let titles = try notes.lastSnapshot.map { try $0.value.title }
    #expect(titles == ["Buy milk", "Buy milk"] && notes.lastSnapshot.last?.id == milk)
    try store.checkInvariants()
  }

  @Test func tourRuns() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let notes = try store.table(.notes)

      let milk = try notes.add(Note(title: "Buy milk"), at: .top)
      let rent = try notes.add(Note(title: "Pay the rent"))
      try notes.move(milk, to: .bottom)  // .top .bottom .index(3) .before(id) .after(id)
      try notes.update(milk) { $0.isDone = true }  // fields that Note does not declare stay
      try notes.duplicate(rent, to: .top)
      try notes.set(\.isDone, to: true, of: [milk, rent])
      try notes.sort(by: \.title)  // saves this order

      try store.write { tx in  // all or nothing
        let copy = try tx[.notes].duplicate(milk)
        try tx[.notes].update(copy) { $0.title = "Buy oat milk" }
        try tx[.notes].delete(rent)
      }

      let records = try notes.snapshot()  // the newest records; a snapshot never changes
      for record in records { print(record.id, try record.value.title) }  // decoded when you ask for it
      #expect(try records.values().get().map(\.title) == ["Buy milk", "Buy oat milk", "Pay the rent"])

      let things = try store.table("things")
      let thing = try things.add(["name": "Lamp", "watts": 7.5, "rooms": ["hall", "attic"]])
      try things.set(["broken": true], of: thing)
      let price = Decimal(5)
      try things.set(Fields(encoding: ["price": price]), of: thing)  // values that are not literals
      let snapshot = try things.snapshot()
      let lamps = snapshot.filter { $0.fields["watts"] != nil }
      let byName = try snapshot.sorted(by: [.ascending("name", text: .localized), .descending("watts")])
      let bright = try snapshot.records(where: RecordPredicate("watts > %@ AND name LIKE[cd] 'l*'", 5))
      let found = snapshot.search("lamp", in: ["name"])  // has every word; ignores case and accents
      #expect(lamps.map(\.id) == byName.map(\.id) && lamps.map(\.id) == bright.map(\.id) && found.count == 1)

      let open = try notes.records(where: #Predicate { !$0.isDone })  // with their ids
      let next = try notes.records.first { !$0.isDone }
      let titled = try notes.withLookup(by: \.title).records(where: \.title, equals: "Buy oat milk")
      #expect(open.map(\.id) == [next?.id] && titled.count == 1)

      let edits = UndoStack(store: store)
      try edits.write(named: "Delete") { tx in try tx[.notes].delete(milk) }
      try edits.undo()
      #expect(notes.lastSnapshot.ids == records.ids)

      do {
        try notes.delete(99)
      } catch StoreError.Code.recordNotFound {
        print("somebody was quicker")
      }
      try store.checkInvariants()
    }
  }

  @Test func attachedStoreExampleRuns() throws {
    try withTemporaryFolder { folder in
      let (user, shipped) = (folder.appendingPathComponent("user"), folder.appendingPathComponent("shipped"))
      let app = try RecordStore(at: shipped)
      let apple = try app.table("foods").add(["name": "Apple", "kcal": 52])
      try app.close()
      let mine = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try mine.table("foods")
      let soup = try foods.add(["name": "My soup"], at: .top)
      try foods.set(["kcal": 53], of: apple)  // a later version may still change the name
      #expect(try foods.isOverridden(apple))
      try foods.revert(apple)
      #expect(try foods.lastSnapshot.ids == [soup, apple] && !foods.isOverridden(apple))
      try mine.checkInvariants()
    }
  }

  @Test func changesExampleRuns() async throws {
    struct List {
      var count = 0
      mutating func apply(_ steps: ListSteps) { count += steps.insertions.count - steps.deletions.count }
    }
    let store = RecordStore.inMemory()
    let notes = try await store.table(.notes)
    try await notes.add(Note(title: "Buy milk"))
    try await store.close()
    var list = List()
    for await change in notes.changes() { list.apply(change.steps) }  // other processes and editors, too
    #expect(list.count == 1)
  }

  @Test(arguments: [("README.md", 1), ("Sources/FileDB/FileDB.docc/GettingStarted.md", 12)])
  func showsThisCode(page: String, count: Int) throws {
    let text = try String(contentsOf: packageRoot.appendingPathComponent(page), encoding: .utf8)
    let here = try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
    .filter { !$0.hasPrefix(".package(") }  // Tests/app tries this one.
    #expect(blocks.count == count)
    for line in blocks.joined(separator: "\n").split(separator: "\n") {
      #expect(here.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }
}
