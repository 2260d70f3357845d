import FileDB
import Foundation
import TestSupport
import Testing

/// The programs under `Examples`, run as their users do.
@Suite struct ExampleTests {
  @Test(.enabled(if: hasScript, "needs the program 'script'"))
  func todoListsShowEachOthersChanges() throws {
    try withTemporaryFolder { folder in
      let (one, other) = (
        try LiveProgram.onTerminal("TodoList", in: folder), try LiveProgram.onTerminal("TodoList", in: folder)
      )
      defer { for list in [one, other] { list.kill() } }
      try one.waits(for: "(nothing to do)")
      try other.waits(for: "(nothing to do)")
      one.type("aMilk\r")
      try other.waits(for: "> [ ] Milk")
      one.type("aBread\r")
      try other.waits(for: "> [ ] Milk\n  [ ] Bread")
      other.type(" ")
      try one.waits(for: "  [x] Milk\n> [ ] Bread")
      one.type("K")
      try other.waits(for: "  [ ] Bread\n> [x] Milk")
      // Undo takes back this list's own change, not the other's.
      other.type("u")
      try one.waits(for: "> [ ] Bread\n  [ ] Milk")
      try filedb(
        "add", "todo", "title=Rent", "isDone:bool=false", "--top",
        in: folder.appendingPathComponent("TodoList.store"))
      try one.waits(for: "  [ ] Rent\n> [ ] Bread\n  [ ] Milk")
      try other.waits(for: "  [ ] Rent\n  [ ] Bread\n> [ ] Milk")
      one.type("d")
      try other.waits(for: "  [ ] Rent\n> [ ] Milk")
      one.type("q")
      other.type("q")
      #expect(try one.status() == 0)
      #expect(try other.status() == 0)
      let store = try RecordStore(at: folder.appendingPathComponent("TodoList.store"))
      try store.checkInvariants()
      #expect(try store.table("todo").lastSnapshot.map { $0.fields["title"] } == ["Rent", "Milk"])
    }
  }

  @Test func foodStoreIsBuiltReproducibly() throws {
    func tables(in store: URL) throws -> [Data] {
      try ["foods", "groups", "version"].map {
        try Data(contentsOf: store.appendingPathComponent("\($0).plist"))
      }
    }
    let script = packageRoot.appendingPathComponent("Examples/FoodDiary/build.filedb").path
    try withTemporaryFolder { folder in
      let built = try filedb("--store", "Foods", "batch", script, in: folder)
      #expect(built.status == 0 && built.output == "1\n", "\(built.error)")
      let store = try RecordStore(at: folder.appendingPathComponent("Foods"))
      let (foods, groups) = (try store.table("foods").lastSnapshot, try store.table("groups").lastSnapshot)
      #expect(foods.count > 30 && groups.count > 5)
      #expect(foods.ids.map(\.rawValue) == Array(1..<Int64(foods.count + 1)))
      for food in foods {
        #expect(food.fields.dictionary.keys == ["carbohydrate", "fat", "group", "kcal", "name", "protein"])
        let group = try #require(food["group"].flatMap { RecordID<Fields>(rawValue: $0.integer ?? 0) })
        #expect(groups.contains { $0.id == group }, "\(food.fields)")
      }
      #expect(try store.table("version").lastSnapshot.map(\.fields) == [["number": 1]])
      try store.checkInvariants()

      let first = try tables(in: store.url)
      try filedb("add", "foods", "name=Mine", "--top", in: store.url)
      try filedb("add", "version", "number:integer=7", in: store.url)
      #expect(try filedb("batch", script, in: store.url).status == 0)
      #expect(try tables(in: store.url) == first)
      #expect(try filedb("--store", "Anew", "batch", script, in: folder).status == 0)
      #expect(try tables(in: folder.appendingPathComponent("Anew")) == first)
      #expect(try filedb("check", in: store.url).status == 0)
    }
  }

  @Test func upgradedFoodsKeepUsersFoodsAndCorrections() throws {
    try withTemporaryFolder { folder in
      func diary(_ command: String...) throws -> String {
        try run(
          program("FoodDiary").path, ["Foods", "Diary"] + command, in: folder, input: "", environment: [:]
        ).output
      }
      let sources = packageRoot.appendingPathComponent("Examples/FoodDiary")
      let script = sources.appendingPathComponent("build.filedb").path
      #expect(try filedb("--store", "Foods", "batch", script, in: folder).status == 0)
      let shipped = try Data(contentsOf: folder.appendingPathComponent("Foods/foods.plist"))
      #expect(try diary("foods", "butter").hasPrefix("1  Butter: 717 kcal (Dairy and eggs)\n"))
      #expect(try diary("new", "My soup", "40") == "1000000001\n")
      #expect(try diary("correct", "1", "720") == "")
      #expect(
        try diary("eat", "1", "10") + diary("eat", "1000000001", "250") + diary("eat", "2", "100") == "")
      #expect(try diary("forget", "4") == "")
      let day = "10 g Butter: 72 kcal\n250 g My soup: 100 kcal\n100 g Cheddar: 403 kcal\n575 kcal in all\n"
      #expect(try diary("day") == day)
      #expect(try Data(contentsOf: folder.appendingPathComponent("Foods/foods.plist")) == shipped)

      for line in [
        "set foods 1 name='Butter, salted' kcal:integer=700", "set foods 2 kcal:integer=400",
        "add foods name=Tahini group:integer=1 kcal:integer=595",
      ] {
        #expect(try shell("filedb --store Foods \(line)", in: folder).status == 0)
      }
      #expect(
        try diary("day")
          == day.replacing("Butter", with: "Butter, salted").replacing("403", with: "400")
          .replacing("575", with: "572"))
      #expect(
        try diary("foods", "butter", "salted") == "1  Butter, salted: 720 kcal (Dairy and eggs, corrected)\n")
      #expect(try diary("foods", "tahini").contains("Tahini: 595 kcal"))
      #expect(try diary("foods", "soup") == "1000000001  My soup: 40 kcal (yours)\n")
      #expect(try diary("foods", "feta") == "")
      #expect(try diary("restore", "4") + diary("restore", "1") == "")
      #expect(try diary("foods", "feta").hasPrefix("4  Feta: "))
      #expect(try diary("foods", "salted") == "1  Butter, salted: 700 kcal (Dairy and eggs)\n")
      #expect(try diary("eat", "999", "1").contains("record 999: there is no such record"))
      let user = folder.appendingPathComponent("Diary")
      try RecordStore(at: user, attaching: folder.appendingPathComponent("Foods"), as: "main")
        .checkInvariants()
    }
  }

  @Test func runningGameShowsReplacedMap() throws {
    try withTemporaryFolder { folder in
      let game = try LiveProgram("Levels", [folder.path, "2"], in: folder)
      defer { game.kill() }
      try game.waits(for: "level 2, background sky-2.png\noo......\n########\n")
      let map = folder.appendingPathComponent("new.map")
      try Data([2, 0, 0, 0, 0, 0, 0, 1]).write(to: map)
      try filedb("set", "levels", "2", "map:data=@\(map.path)", in: folder)
      try game.waits(for: "level 2, background sky-2.png\no......#\n")
      try filedb("set", "levels", "2", "map=no map", in: folder)
      try game.waits(for: "the level cannot be shown: ")
      try filedb("delete", "levels", "2", in: folder)
      try game.waits(for: "the level is gone\n")
      #expect(try game.status() == 0)
      let missing = try LiveProgram("Levels", [folder.path, "2"], in: folder)
      try missing.waits(for: "there is no level 2\n")
      #expect(try missing.status() == 1)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test(arguments: [
    ("Levels", ["folder"]), ("Levels", ["folder", "two"]), ("Levels", ["folder", "2", "3"]),
    ("FoodDiary", ["Foods"]), ("FoodDiary", ["Foods", "Diary"]),
    ("FoodDiary", ["Foods", "Diary", "eat", "x", "1"]),
    ("FoodDiary", ["Foods", "Diary", "cook"]), ("TodoList", ["one", "two"]),
    ("Outliner", []), ("Outliner", ["one", "two"]), ("JobServer", []), ("JobServer", ["folder", "boss"]),
    ("Contacts", []), ("Contacts", ["folder", "sample", "4"]), ("Contacts", ["folder", "call", "x", "1"]),
  ])
  func exampleUsedWronglySaysHowItIsUsed(name: String, arguments: [String]) throws {
    try withTemporaryFolder { folder in
      try filedb("--store", "Foods", "create", "foods", in: folder)
      let result = try run(program(name).path, arguments, in: folder, input: "", environment: [:])
      #expect(result.status == 64 && result.output == "")
      #expect(
        result.error.hasPrefix("usage: \(name) ") && result.error.count { $0 == "\n" } == 1, "\(result.error)"
      )
    }
  }

  @Test func exampleWithoutArgumentsShowsSomething() throws {
    try withTemporaryFolder { folder in
      let levels = try run(program("Levels").path, [], in: folder, input: "", environment: [:])
      #expect(
        levels.status == 0 && levels.output.hasPrefix("level 1, background sky-1.png\no.......\n########\n"))
      let diary = try run(program("FoodDiary").path, [], in: folder, input: "", environment: [:])
      #expect(
        diary
          == ToolResult(
            output: "10 g Butter: 72 kcal\n250 g My soup: 100 kcal\n172 kcal in all\n", error: "", status: 0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  @Test func upgradeExampleKeepsUsersChanges() throws {
    try withTemporaryFolder { folder in
      let result = try shell("Upgrade", in: folder)
      #expect(
        result
          == ToolResult(
            output: """
              version 1 is installed
                1 Milk, 64 kcal
                2 Bread, 265 kcal
                3 Butter, 717 kcal
              version 1 is already installed
              the user renames the bread, deletes the butter and adds a cake
              version 2 is installed over 1
                your name Grandma's bread stays, although it is now White bread
                Butter has changed, but stays deleted
                4 My cake, 400 kcal
                1 Milk, 61 kcal
                2 Grandma's bread, 266 kcal
                5 Quince, 57 kcal
              version 2 is already installed
              version 1 is older than the installed one
              version 3 is installed over 2
                1 Milk, 61 kcal
                2 White bread, 266 kcal
                3 Butter, 744 kcal
                4 Quince, 57 kcal

              """, error: "", status: 0))
    }
  }

  @Test func sharedTransactionExampleChangesBothTablesOrNone() throws {
    try withTemporaryFolder { folder in
      let result = try shell("SharedTransaction", in: folder)
      #expect(
        result
          == ToolResult(
            output: """
              bought: balance -1250, stock ["lamp": 0]
              no lamp left, and neither table changed: balance -1250, stock ["lamp": 0]
              reopened: balance -1250, stock ["lamp": 0]

              """, error: "", status: 0))
    }
  }
}
