import FileDB
import Foundation
import TestSupport
import Testing

/// The code of the guides that moves data into a store, word for word.
@Suite struct GuideCodeTests {
  private let old = [Note(title: "Buy milk"), Note(title: "Pay the rent", isDone: true)]

  /// Moves the notes of an earlier version of the app into the store.
  func moveNotes(from defaults: UserDefaults, into store: RecordStore) throws {
    guard let data = defaults.data(forKey: "notes") else { return }
    let notes = try JSONDecoder().decode([Note].self, from: data)
    try store.write { tx in
      guard try tx[.notes].snapshot().isEmpty else { return }
      try tx[.notes].add(contentsOf: notes)
    }
    defaults.removeObject(forKey: "notes")
  }

  /// Moves the notes of a JSON file into the store, and renames the file.
  func moveNotes(from file: URL, into store: RecordStore) throws {
    guard let data = try? Data(contentsOf: file) else { return }
    let notes = try JSONDecoder().decode([Note].self, from: data)
    try store.write { tx in
      guard try tx[.notes].snapshot().isEmpty else { return }
      try tx[.notes].add(contentsOf: notes)
    }
    try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("moved"))
  }

  @Test func notesOfUserDefaultsAreMovedOnce() throws {
    let suite = "FileDBGuide-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    let data = try JSONEncoder().encode(old)
    let store = RecordStore.inMemory()
    // The second time, as after a crash between the write and the removal.
    for _ in 0..<2 {
      defaults.set(data, forKey: "notes")
      try moveNotes(from: defaults, into: store)
    }
    try moveNotes(from: defaults, into: store)
    #expect(defaults.data(forKey: "notes") == nil)
    #expect(try store.table(.notes).snapshot().values().get().map(\.title) == old.map(\.title))
    try store.checkInvariants()
  }

  @Test func notesOfFileAreMovedOnce() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("notes.json")
      try JSONEncoder().encode(old).write(to: file)
      let store = try RecordStore(at: folder.appendingPathComponent("Store"))
      for _ in 0..<2 { try moveNotes(from: file, into: store) }
      #expect(try store.table(.notes).snapshot().values().get().map(\.title) == old.map(\.title))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
          "Store", "notes.json.moved",
        ])
      try store.checkInvariants()
    }
  }

  @Test func articleShowsThisCode() throws {
    let article = Article.folder.appendingPathComponent("Guides/FromCodableFiles.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let here = try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    for code in text.components(separatedBy: "```swift\n").dropFirst(2) {
      for line in code.components(separatedBy: "```")[0].split(separator: "\n") {
        #expect(here.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
      }
    }
  }
}
