import FileDB
import Foundation
import TestSupport
import Testing

/// The programs under `Examples`, run as their users do.
@Suite struct ExampleTests {
  @Test(.enabled(if: hasScript, "needs the program 'script'"))
  func twoTodoListsFollowEachOther() throws {
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
      // The other list's write is not this one's to take back.
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
      #expect(one.status() == 0)
      #expect(other.status() == 0)
      let store = try RecordStore(at: folder.appendingPathComponent("TodoList.store"))
      try store.checkInvariants()
      #expect(try store.table("todo").snapshot.map { $0.record["title"] } == ["Rent", "Milk"])
    }
  }

  @Test func aMapThatIsReplacedShowsInTheRunningGame() throws {
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
      #expect(game.status() == 0)
      let missing = try LiveProgram("Levels", [folder.path, "2"], in: folder)
      try missing.waits(for: "there is no level 2\n")
      #expect(missing.status() == 1)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func anUpgradeKeepsWhatTheUserDid() throws {
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
              version 1 is there already
              the user renames the bread, deletes the butter and adds a cake
              version 2 is installed over 1
                your name Grandma's bread stays, though it is White bread now
                Butter has changed, and stays deleted
                4 My cake, 400 kcal
                1 Milk, 61 kcal
                2 Grandma's bread, 266 kcal
                5 Quince, 57 kcal
              version 2 is there already
              version 1 is an older one
              version 3 is installed over 2
                1 Milk, 61 kcal
                2 White bread, 266 kcal
                3 Butter, 744 kcal
                4 Quince, 57 kcal

              """, error: "", status: 0))
    }
  }
}
