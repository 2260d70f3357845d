import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// What deletes most of a table can still be undone after it.
@Suite struct LargeUndoTests {
  static let deletions: [[String]] = [
    ["delete", "food", "--where", "n > 100"], ["truncate", "food", "--yes"], ["drop", "food", "--yes"],
    ["import", "few.json", "food", "--key", "n", "--delete-missing"],
  ]

  /// A table of 5,000 records in 3 MB, and a small one.
  private func withLargeTable(_ body: (URL, (String...) throws -> ToolResult) throws -> Void) throws {
    try withTemporaryFolder { folder in
      func run(_ words: String...) throws -> ToolResult { try filedb(words, in: folder) }
      let text = String(repeating: "x", count: 500)
      func write(_ count: Int, to name: String) throws {
        let rows = (1...count).map { #"{"n": \#($0), "text": "\#(text)"}"# }
        try Data("[\(rows.joined(separator: ","))]".utf8).write(to: folder.appendingPathComponent(name))
      }
      try write(5_000, to: "all.json")
      try write(100, to: "few.json")
      #expect(try run("import", "all.json", "food").status == 0)
      #expect(try run("create", "todo").status == 0)
      #expect(try run("add", "todo", "title=Milk").status == 0)
      try body(folder, run)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test(arguments: deletions) func largeDeletionIsUndoneAfterOtherCommands(deletion: [String]) throws {
    try withLargeTable { folder, run in
      let before = try Data(contentsOf: folder.appendingPathComponent("food.plist"))
      #expect(try filedb(deletion, in: folder).status == 0)
      for number in 1...3 { #expect(try run("set", "todo", "1", "title=\(number)").error == "") }
      #expect(try run("undo", "--list").output.split(separator: "\n").count == 7)
      #expect(try run("undo", "4").status == 0)
      #expect(try run("count", "food").output == "5000\n")
      #expect(try Data(contentsOf: folder.appendingPathComponent("food.plist")).count == before.count)
      #expect(try run("redo", "4").status == 0)
      #expect(try run("get", "todo", "1", "title").output == "3\n")
    }
  }

  /// Also if there are more than a hundred.
  @Test func newestLargeDeletionIsKeptUntilItIsForgotten() throws {
    try withLargeTable { folder, run in
      #expect(try run("drop", "food", "--yes").status == 0)
      let store = try RecordStore(at: folder)
      for number in 1...120 {
        try store.undoLog.write(named: "\(number)") { tx in
          try tx["todo"].set(["title": .integer(Int64(number))], of: 1)
        }
      }
      try store.close()
      #expect(try run("undo", "--list").output.split(separator: "\n").last?.hasSuffix("drop of food") == true)
      #expect(try run("undo", "200").status == 0)
      #expect(try run("count", "food").output == "5000\n")
      #expect(try run("drop", "food", "--yes").status == 0)
      let undo = folder.appendingPathComponent(".filedb/undo").path
      #expect(try run("undo", "--forget").error.hasPrefix("forgotten: "))
      #expect(try FileManager.default.contentsOfDirectory(atPath: undo).isEmpty)
      #expect(try run("undo").error == "there is nothing to undo\n")
      #expect(try run("undo", "--forget", "--list").status == 64)
    }
  }

  /// The tables have been small for more than a day, and two large steps are there.
  @Test func commandNamesTheStepsThatItDiscards() throws {
    try withLargeTable { folder, run in
      #expect(try run("truncate", "food", "--yes").status == 0)
      #expect(try run("import", "all.json", "food").status == 0)
      #expect(try run("truncate", "food", "--yes").status == 0)
      try makeStepsOld(in: folder)
      let tried = try run("set", "todo", "1", "title=Tea", "--dry-run")
      #expect(tried.error.contains("'filedb undo' would no longer be able to undo: truncation of food\n"))
      let told = try run("set", "todo", "1", "title=Tea").error
      #expect(told.contains("'filedb undo' can no longer undo: truncation of food\n"))
      #expect(try run("undo", "2").status == 0)
      #expect(try run("count", "food").output == "5000\n")
    }
  }

  private func makeStepsOld(in folder: URL) throws {
    let undo = folder.appendingPathComponent(".filedb/undo")
    for name in try FileManager.default.contentsOfDirectory(atPath: undo.path) where name.hasSuffix(".step") {
      let file = undo.appendingPathComponent(name)
      let text = try String(contentsOf: file, encoding: .utf8)
      let old = text.replacing(/(<key>peakDate<\/key>\s*<date>)\d+/) { "\($0.1)2001" }
      try #require(old != text)
      let checksum = String(Checksum.of(Array(old.utf8)), radix: 16)
      try FileManager.default.removeItem(at: file)
      try Data(old.utf8).write(to: undo.appendingPathComponent("\(name.prefix(33))\(checksum).step"))
    }
  }
}
