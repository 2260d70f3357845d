import FileDBLegacy
import Foundation
import Testing

/// Two files that the original class wrote, kept outside the package.
private let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus/wgfiledb")
private let corpusIsThere = FileManager.default.fileExists(atPath: corpus.path)

extension LegacyTests {
  @Suite(.enabled(if: corpusIsThere, "../shared/corpus/wgfiledb is not there")) struct CorpusTests {
    /// Runs `body` on a copy of both files, where the original kept them.
    private func withTables(_ body: (String) throws -> Void) throws {
      try LegacyTests.withRoot { _ in
        let folder = try wgPaths.databaseDirectory() + kFileDbFolder + "/"
        #expect(wgIo.createFolderIfNotExists(folder))
        for name in ["todo", "empty"] {
          let bytes = try Data(contentsOf: corpus.appendingPathComponent(name))
          try bytes.write(to: URL(fileURLWithPath: folder + name))
        }
        try body(folder)
      }
    }

    @Test func filesOfOriginalClassAreRead() throws {
      try withTables { folder in
        let original = try OriginalReader(corpus.path + "/todo")
        #expect(try wgFileDb.isDatabase("todo"))
        #expect(try wgFileDb.getItemsFromDb("todo").map { $0 as NSDictionary } == original.items)
        #expect(try wgFileDb.getItemsFromDb("todo").map(wgFileDb.getId) == [7, 1, 2, 5, 4, 6])
        #expect(try wgFileDb.getItem(2, inDb: "todo")["title"] as? String == "Call Jiří")
        for id in try original.ids {
          #expect(try wgFileDb.getItem(id, inDb: "todo") as NSDictionary == original.item(id))
        }
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 7)
        #expect(try wgFileDb.getNumberOfItems(inDb: "empty") == 0)
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "empty") == 1)
        #expect(LegacyTests.contents(folder) == ["todo", "empty"], "a look writes nothing")
      }
    }

    @Test func rewrittenFilesKeepNamesItemsAndOrder() throws {
      try withTables { folder in
        let before = try ["todo", "empty"].map { try OriginalReader(folder + $0) }
        // There and back, so that both files are written anew by us.
        for name in ["todo", "empty"] {
          let id = try wgFileDb.addItem(toTop: ["title": "x"], intoDb: name)
          try wgFileDb.deleteItem(id, fromDb: name)
        }
        let after = try ["todo", "empty"].map { try OriginalReader(folder + $0) }
        #expect(LegacyTests.contents(folder) == ["todo", "empty", ".filedb"])
        for (old, new) in zip(before, after) {
          #expect(new.items == old.items)
          #expect(try new.index as NSDictionary == old.index as NSDictionary)
          #expect(try new.counter == old.counter + 1)
          #expect(Set(new.root.allKeys as? [String] ?? []) == ["autoincrement", "data", "index"])
          try new.check()
        }
        let text = try wgIo.readFile(folder + "todo")
        #expect(
          text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist"), "written by us")
      }
    }

    @Test func originalReaderReadsFilesAfterEveryVerb() throws {
      try withTables { folder in
        func check(_ titles: [String]) throws {
          let reader = try OriginalReader(folder + "todo")
          try reader.check()
          #expect(reader.items.map { $0["title"] as? String ?? "" } == titles)
          #expect(try wgFileDb.getItemsFromDb("todo").map { $0 as NSDictionary } == reader.items)
        }
        try wgFileDb.addItem(toTop: ["title": "top", "n": 1, "at": Date()], intoDb: "todo")
        try check(["top", "", "Buy milk", "Call Jiří", "Call Jiří", "Pay the rent", "Buy milk"])
        try wgFileDb.addItem(toBottom: ["title": "bottom <&>"], intoDb: "todo")
        try wgFileDb.deleteItem(7, fromDb: "todo")
        try check(["top", "Buy milk", "Call Jiří", "Call Jiří", "Pay the rent", "Buy milk", "bottom <&>"])
        try wgFileDb.moveTableItem([0, 0], to: [0, 5], inDb: "todo")
        try check(["Buy milk", "Call Jiří", "Call Jiří", "Pay the rent", "Buy milk", "top", "bottom <&>"])
        try wgFileDb.updateItem(5, withData: ["title": "Call Jana"], inDb: "todo")
        try wgFileDb.duplicateItem(toTop: 4, inDb: "todo")
        try check(
          [
            "Pay the rent", "Buy milk", "Call Jiří", "Call Jana", "Pay the rent", "Buy milk", "top",
            "bottom <&>",
          ])
        try wgFileDb.saveFullData(wgFileDb.getItemsFromDb("todo").reversed(), toDb: "todo")
        try check(
          [
            "bottom <&>", "top", "Buy milk", "Pay the rent", "Call Jana", "Call Jiří", "Buy milk",
            "Pay the rent",
          ])
        #expect(try wgFileDb.getPathToDb("todo") == folder + "todo")
        #expect(try wgFileDb.delete("todo"))
        #expect(LegacyTests.contents(folder) == ["empty", ".filedb"])
      }
    }

    @Test func tableWithTwoFilesIsAnError() throws {
      try withTables { folder in
        try Data(contentsOf: corpus.appendingPathComponent("todo"))
          .write(to: URL(fileURLWithPath: folder + "todo.plist"))
        for verb in [
          { _ = try wgFileDb.isDatabase("todo") }, { _ = try wgFileDb.getItem(1, inDb: "todo") },
          { try wgFileDb.getPathToDb("todo") }, { try wgFileDb.addItem(toTop: [:], intoDb: "todo") },
        ] as [() throws -> Void] {
          #expect(LegacyTests.error(verb)?.code == .ambiguousTable)
        }
      }
    }
  }
}
