import FileDB
import Foundation
import TestSupport
import Testing

private struct Folder: Codable, Sendable {
  var name: String
}

private struct Note: Codable, Sendable {
  var title: String
  var folder: RecordID<Folder>?
}

extension TableName<Folder> {
  fileprivate static var folders: Self { "folders" }
}

extension TableName<Note> {
  fileprivate static var notes: Self { "notes" }
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
    let accepted = try compile(source.replacing("(folder)", with: "(note)").replacing(": folder)", with: ": note)"))
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
    let (folders, notes) = (try store.table(.folders), try store.table(.notes))
    let home = try folders.add(Folder(name: "Home"))
    let milk = try notes.add(Note(title: "Buy milk", folder: home))
    #expect(try store.table("notes").value(of: RecordID(milk)) == ["title": "Buy milk", "folder": 1])
    #expect(try notes.value(of: milk).folder.map { try folders.value(of: $0).name } == "Home")
    #expect(try notes.snapshot().records(where: \.folder, equals: home).map(\.id) == [milk])
    #expect(try notes.snapshot().count(where: RecordPredicate("folder == %@", home)) == 1)
    #expect(try JSONEncoder().encode([home]) == Data("[1]".utf8))
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([RecordID<Folder>].self, from: Data("[-1]".utf8)) }
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
