import FileDB
import Foundation
import TestSupport
import Testing

private struct Shelf: Codable, Sendable {
  var name: String
}

private struct Book: Codable, Sendable {
  var title: String
  var shelf: RecordID<Shelf>?
}

extension TableName<Shelf> {
  fileprivate static var shelves: Self { "shelves" }
}

extension TableName<Book> {
  fileprivate static var books: Self { "books" }
}

/// An id knows the type of its table's values.
@Suite struct RecordIDTests {
  @Test(
    .enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"),
    arguments: [
      "try notes.delete(folder)", "_ = try notes.value(of: folder)", "try notes.move(1, to: .before(folder))",
      "_ = try notes.snapshot().index(of: folder)",
    ])
  func compilerRefusesIDOfAnotherTable(verb: String) throws {
    let source = """
      import FileDB
      struct Folder: Codable, Sendable {}
      struct Note: Codable, Sendable { var folder: RecordID<Folder>? }
      func use(_ notes: RecordTable<Note>, _ folder: RecordID<Folder>, _ note: RecordID<Note>) throws { \(verb) }
      """
    let refused = try compile(source)
    #expect(refused.status != 0 && refused.output.contains("'RecordID<Folder>'"), "\(refused.output)")
    let accepted = try compile(
      source.replacing("(folder)", with: "(note)").replacing(": folder)", with: ": note)"))
    #expect(accepted.status == 0, "\(accepted.output)")
  }

  private func compile(_ source: String) throws -> (status: Int32, output: String) {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("Snippet.swift")
      try Data(source.utf8).write(to: file)
      return try Compiler.run(["-typecheck", "-parse-as-library", file.path])
    }
  }

  @Test func idAsFieldIsAnIntegerAndRefersToItsRecord() throws {
    let store = RecordStore.inMemory()
    let (shelves, books) = (try store.table(.shelves), try store.table(.books))
    let home = try shelves.add(Shelf(name: "Home"))
    let emma = try books.add(Book(title: "Emma", shelf: home))
    #expect(try store.table("books").value(of: RecordID(emma)) == ["title": "Emma", "shelf": 1])
    #expect(try books.value(of: emma).shelf.map { try shelves.value(of: $0).name } == "Home")
    #expect(try books.snapshot().contains(emma))
    #expect(try !books.snapshot().contains(2))
    #expect(try books.snapshot().records(where: \.shelf, equals: home).map(\.id) == [emma])
    #expect(try books.snapshot().count(where: RecordPredicate("shelf == %@", home)) == 1)
    #expect(try JSONEncoder().encode([home]) == Data("[1]".utf8))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([RecordID<Shelf>].self, from: Data("[-1]".utf8))
    }
    try store.checkInvariants()
  }

  @Test func literalNameIsThatOfATableOfFields() throws {
    let store = RecordStore.inMemory()
    let id = try store.write { tx in try tx["t"].add(["n": 1]) }
    #expect(try store.table("t").value(of: id) == ["n": 1])
    #expect(try store.snapshot()["t"].ids == [id])
    try store.checkInvariants()
  }
}
