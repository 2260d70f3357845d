import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A user's store over the one that an app ships with.
@Suite struct AttachedStoreTests {
  @Test func shippedAndUserRecordsFormOneTable() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(names(foods) == ["Apple", "Bread", "Cheese"])
      #expect(!FileManager.default.fileExists(atPath: user.path), "reading made the user's store")
      let (soup, tea) = (try foods.add(["name": "Soup"]), try foods.add(["name": "Tea"], at: .after(1)))
      #expect(names(foods) == ["Apple", "Tea", "Bread", "Cheese", "Soup"])
      #expect(soup.rawValue == 1_000_000_001 && tea.rawValue == 1_000_000_002)
      #expect(try foods.lastSnapshot.ids.map(foods.isShipped) == [true, false, true, true, false])
      try store.checkNothingIsLeftBehind()
      #expect(try names(RecordStore(at: user).table("foods")) == ["Soup", "Tea"])
      #expect(try names(RecordStore(at: shipped).table("foods")) == ["Apple", "Bread", "Cheese"])
    }
  }

  @Test func attachedTableCanBeReadByPrefixedName() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      try store.table("foods").set(["name": "Pear"], of: 1)
      try store.table("diary").add(["food": 1])
      #expect(try names(store.table("main.foods")) == ["Apple", "Bread", "Cheese"])
      #expect(try store.tableNames == ["diary", "foods"])
      #expect(try store.url(of: "main.foods").path == shipped.appendingPathComponent("foods.plist").path)
      #expect(try store.table("main.nothing").exists == false)
      let ids = try store.write { tx in try tx["main.foods"].snapshot().ids }
      #expect(ids == [1, 2, 3])
    }
  }

  @Test func nothingIsWrittenToTheAttachedStore() throws {
    try withShippedFoods { shipped, user in
      // Commits that wait in its journal are read, and wait on.
      let pending = try RecordStore(at: shipped, options: StoreOptions(checkpoints: .manual))
      try pending.table("foods").add(["name": "Dates"])
      let before = try contents(of: shipped)
      #expect(before.keys.contains(".filedb/journal"))
      try setPermissions(0o555, 0o444, in: shipped)
      defer { try? setPermissions(0o755, 0o644, in: shipped) }
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(names(foods) == ["Apple", "Bread", "Cheese", "Dates"])
      try foods.set(["kcal": 1], of: 1)
      try foods.delete(2)
      try foods.move(3, to: .top)
      try foods.add(["name": "Soup"])
      try store.refresh()
      try store.checkNothingIsLeftBehind()
      try store.close()
      #expect(try contents(of: shipped) == before)
    }
  }

  @Test func forbiddenWritesAreRefusedWithReason() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let (foods, attached) = (try store.table("foods"), try store.table("main.foods"))
      let refused = [
        storeError { _ = try attached.add(["name": "x"]) }, storeError { try attached.drop() },
        storeError { try foods.drop() },
      ]
      #expect(
        refused.map(\.?.code) == [
          StoreError.Code.readOnly, StoreError.Code.readOnly, StoreError.Code.readOnly,
        ])
      #expect(refused.map(\.?.table) == ["main.foods", "main.foods", "foods"])
      let field = storeError { try foods.set(["wgFileDbDeleted": true], of: 2) }
      #expect(field?.code == .reservedField && field?.record == 2 && field?.table == "foods")
      #expect(field?.field == "wgFileDbDeleted")
      #expect(names(foods) == ["Apple", "Bread", "Cheese"])
      #expect(storeError { try foods.revert(4) }?.code == .recordNotFound)
      try foods.truncate()
      #expect(foods.lastSnapshot.isEmpty)
      #expect(try foods.add(["name": "Soup"]).rawValue == 1_000_000_001)
    }
  }

  @Test func upgradeKeepsUserChanges() throws {
    try withShippedFoods { shipped, user in
      try RecordStore(at: user, attaching: shipped, as: "main").table("foods").add(
        ["name": "Tea"], at: .after(1))
      try RecordStore(at: user, attaching: shipped, as: "main").write { tx in
        try tx["foods"].set(["kcal": 60], of: 1)
        try tx["foods"].unset(["note"], of: 1)
        try tx["foods"].delete(2)
        try tx["foods"].move(3, to: .top)
        try tx["foods"].add(["name": "Soup"])
      }
      try ship(to: shipped) { foods in
        try foods.set(["name": "Apple, raw", "kcal": 53, "note": "new", "fat": 0], of: 1)
        try foods.set(["name": "Rye bread"], of: 2)
        try foods.set(["name": "Gouda"], of: 3)
        try foods.add(["name": "Dates"])
        try foods.add(["name": "Eggs"], at: .top)
      }
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(names(foods) == ["Gouda", "Eggs", "Apple, raw", "Tea", "Dates", "Soup"])
      #expect(try foods.value(of: 1) == ["name": "Apple, raw", "kcal": 60, "fat": 0])
      #expect(try [1, 3].map(foods.isOverridden) == [true, false])
      try store.checkInvariants()
    }
  }

  @Test func withdrawnRecordStaysIfUserChangedIt() throws {
    try withShippedFoods { shipped, user in
      try RecordStore(at: user, attaching: shipped, as: "main").write { tx in
        try tx["foods"].set(["kcal": 60], of: 1)
        try tx["foods"].move(2, to: .top)
        try tx["foods"].delete(3)
        try tx["foods"].add(["name": "Tea"], at: .after(1))
      }
      try ship(to: shipped) { foods in
        try foods.delete([1, 2, 3])
        try foods.add(["name": "Dates"])
      }
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(names(foods) == ["Dates", "Apple", "Tea"])
      #expect(try foods.value(of: 1) == ["name": "Apple", "kcal": 60, "note": "old"])
      #expect(try !foods.isShipped(1) && !foods.isOverridden(1))
      try foods.set(["kcal": 61], of: 1)
      try store.checkInvariants()
      let step = try store.undoableWrite { tx in try tx["foods"].delete(1) }.step
      #expect(names(foods) == ["Dates", "Tea"])
      try store.undo(step)
      #expect(names(foods) == ["Dates", "Apple", "Tea"])
      try store.checkInvariants()
      try foods.delete(1)
      try FileManager.default.removeItem(at: shipped.appendingPathComponent("foods.plist"))
      try store.refresh()
      #expect(names(foods) == ["Tea"], "the table itself is shipped no more")
      #expect(try foods.add(["name": "Soup"]).rawValue == 1_000_000_002)
      try store.checkInvariants()
    }
  }

  @Test func undoLeavesNoTraceInUserStore() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      let step = try store.undoableWrite { tx in
        try tx["foods"].set(["kcal": 1, "more": true], of: 1)
        try tx["foods"].delete(2)
        try tx["foods"].move(3, to: .top)
      }.step
      #expect(try foods.isOverridden(1) && foods.isShipped(2) && names(foods) == ["Cheese", "Apple"])
      try store.undo(step)
      #expect(try names(foods) == ["Apple", "Bread", "Cheese"] && !foods.isOverridden(1))
      #expect(try RecordStore(at: user).table("foods").lastSnapshot.isEmpty)
      for id in [1, 2, 3] as [RecordID<Fields>] {
        for index in 0..<3 {
          let step = try store.undoableWrite { tx in try tx[foods.name].move(id, to: .index(index)) }.step
          try store.undo(step)
          #expect(try RecordStore(at: user).table("foods").lastSnapshot.isEmpty, "\(id) to \(index)")
        }
      }
      try store.checkInvariants()
    }
  }

  @Test(
    arguments: [
      { try $0.set(["name": "x"], of: 2) }, { try $0.delete(2) }, { try $0.move(2, to: .top) },
      { try $0.move(2, to: .bottom) }, { try $0.move(1, to: .after(2)) }, { try $0.unset(["name"], of: 2) },
      { try $0.delete([1, 2, 3]) },
    ] as [@Sendable (RecordTable<Fields>) throws -> Void])
  func revertRestoresShippedRecord(_ change: @Sendable (RecordTable<Fields>) throws -> Void) throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      let tea = try foods.add(["name": "Tea"], at: .after(2))
      try change(foods)
      for id in [1, 2, 3] as [RecordID<Fields>] {
        try foods.revert(id)
        try store.checkInvariants()
      }
      #expect(names(foods) == ["Apple", "Bread", "Tea", "Cheese"])
      #expect(foods.lastSnapshot.ids == [1, 2, tea, 3])
      #expect(try RecordStore(at: user).table("foods").lastSnapshot.ids == [tea])
    }
  }

  /// Nobody sees a change that an upgrade has made as well. The next upgrade would, if the record stayed as it was.
  @Test(arguments: [0, 1, 2])
  func revertForgetsWhatAnUpgradeHasDoneToo(_ changed: Int) throws {
    try withShippedFoods { shipped, user in
      func changeCheese(_ foods: RecordTable<Fields>) throws {
        if changed != 1 { try foods.move(3, to: .after(1)) }
        if changed != 0 { try foods.set(["name": "Gouda"], of: 3) }
      }
      try changeCheese(RecordStore(at: user, attaching: shipped, as: "main").table("foods"))
      try ship(to: shipped, changeCheese)
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      try store.table("foods").revert(3)
      try store.checkInvariants()
      #expect(try RecordStore(at: user).table("foods").snapshot().isEmpty)
      try ship(to: shipped) { foods in
        try foods.move(3, to: .top)
        try foods.set(["name": "Brie"], of: 3)
      }
      let upgraded = try RecordStore(at: user, attaching: shipped, as: "main")
      #expect(try names(upgraded.table("foods")).first == "Brie")
    }
  }

  @Test func undoAfterUpgradeKeepsNewVersion() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      let changes: [(inout StoreTransaction) throws -> Void] = [
        { tx in try tx[foods.name].set(["name": "Mine"], of: 1) },
        { tx in try tx[foods.name].delete(2) },
        { tx in try tx[foods.name].move(3, to: .top) },
        { tx in try tx[foods.name].move(1, to: .bottom) },
      ]
      let steps = try changes.map { change in try store.undoableWrite { tx in try change(&tx) }.step }
      try ship(to: shipped) { foods in
        try foods.set(["name": "Apple, raw"], of: 1)
        try foods.set(["name": "Rye bread"], of: 2)
        try foods.add(["name": "Eggs"], at: .after(2))
        try foods.add(["name": "Dates"])
      }
      try store.refresh()
      let seen = names(foods)
      let redos = try steps.reversed().map { step in
        let redo = try store.undo(step)
        try store.checkInvariants()
        return redo
      }
      #expect(names(foods) == ["Apple, raw", "Rye bread", "Eggs", "Cheese", "Dates"])
      #expect(try RecordStore(at: user).table("foods").lastSnapshot.isEmpty)
      for redo in redos.reversed() { try store.undo(redo) }
      #expect(names(foods) == seen)
      try store.checkInvariants()
    }
  }

  @Test func undoConflictsWithLaterChangeOfShippedRecord() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      let step = try store.undoableWrite { tx in try tx[foods.name].set(["name": "Mine"], of: 1) }.step
      try foods.set(["name": "Yours"], of: 1)
      #expect(storeError { try store.undo(step) }?.code == .undoConflict)
      #expect(names(foods) == ["Yours", "Bread", "Cheese"])
      try store.checkInvariants()
    }
  }

  @Test func collidingIDsAreRefused() throws {
    try withShippedFoods { shipped, user in
      let own = try RecordStore(at: user)
      try own.table("foods").add(["name": "Mine"])
      try own.close()
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let taken = storeError { _ = try store.table("foods") }
      #expect(taken?.code == .duplicateID && taken?.table == "foods" && taken?.record == 1)
      #expect(try store.check("foods").map(\.error.code) == [StoreError.Code.duplicateID])
      let write = storeError { try store.write { tx in try tx["foods"].delete(1) } }
      #expect(write?.code == .duplicateID)

      let fresh = try RecordStore(at: user.appendingPathExtension("fresh"), attaching: shipped, as: "main")
      let early = storeError {
        try fresh.table("foods").replaceAll(identified: [IdentifiedValue(["name": "x"], id: 4)])
      }
      #expect(early?.code == .duplicateID && early?.table == "foods" && early?.record == 4)
      #expect(try names(fresh.table("foods")) == ["Apple", "Bread", "Cheese"])

      let high = try RecordStore(at: shipped)
      try high.table("high").replaceAll(identified: [IdentifiedValue(["name": "x"], id: 1_000_000_001)])
      try high.close()
      let reached = storeError { _ = try RecordStore(at: user, attaching: shipped, as: "main").table("high") }
      #expect(reached?.code == .counterExhausted && reached?.table == "high")
      #expect(reached?.file == shipped.appendingPathComponent("high.plist").path)
    }
  }

  @Test func invalidAttachmentsAreRefused() throws {
    try withShippedFoods { shipped, user in
      let missing = shipped.appendingPathComponent("nothing")
      let error = storeError { _ = try RecordStore(at: user, attaching: missing, as: "main") }
      #expect(error?.code == .fileNotFound && error?.file == missing.path)
      for name in ["", "a.b", "a/b", ".a"] {
        let error = storeError { _ = try RecordStore(at: user, attaching: shipped, as: name) }
        #expect(error?.code == .invalidTableName, "'\(name)'")
      }
      let file = storeError {
        _ = try RecordStore(at: user, attaching: shipped.appendingPathComponent("foods.plist"), as: "main")
      }
      #expect(file?.code == .notAFolder)
      let itself = storeError { _ = try RecordStore(at: shipped, attaching: shipped, as: "main") }
      #expect(itself?.code == .notAFolder)
      try RecordStore(at: user).table("main.foods").add(["name": "x"])
      let hidden = storeError {
        _ = try RecordStore(at: user, attaching: shipped, as: "main").table("main.foods")
      }
      #expect(hidden?.code == .ambiguousTable && hidden?.table == "main.foods")
    }
  }

  @Test func errorsNameTheShippedFile() throws {
    struct Food: Codable, Sendable { var name: String, kcal: String }
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      for name in ["foods", "main.foods"] as [TableName<Food>] {
        let error = storeError { _ = try store.table(name).value(of: 1) }
        #expect(error?.code == .invalidValue && error?.record == 1 && error?.field == "kcal")
        #expect(error?.file == shipped.appendingPathComponent("foods.plist").path && error?.line != nil)
      }
      try Data("no table".utf8).write(to: shipped.appendingPathComponent("broken.plist"))
      let broken = storeError { _ = try store.table("broken") }
      #expect(broken?.file == shipped.appendingPathComponent("broken.plist").path)
    }
  }

  @Test func throwingTransactionChangesNothing() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(throws: CancellationError.self) {
        try store.write { tx in
          try tx[foods.name].delete(1)
          #expect(try foods.count == 2)
          throw CancellationError()
        }
      }
      let count = try store.dryRun { tx in
        try tx[foods.name].delete(1)
        return try tx[foods.name].snapshot().count
      }
      #expect(try count == 2 && foods.count == 3)
      #expect(!FileManager.default.fileExists(atPath: user.appendingPathComponent("foods.plist").path))
      let soup = try store.write { tx in
        let soup = try tx[foods.name].add(["name": "Soup"])
        try tx[foods.name].delete(soup)
        return soup
      }
      #expect(try foods.add(["name": "Tea"]) > soup, "the id was given twice")
      try store.checkInvariants()
    }
  }

  @Test func moveStoresOnlyTheMovedRecord() throws {
    try withShippedFoods { shipped, user in
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      try store.table("foods").move(1, to: .index(1))
      #expect(try RecordStore(at: user).table("foods").lastSnapshot.ids == [1])
      try store.table("foods").move(fromIndex: 1, toIndex: 0)
      #expect(try RecordStore(at: user).table("foods").lastSnapshot.isEmpty)
    }
  }

  @Test func changesOfBothStoresAreObserved() async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (shipped, user) = (folder.appendingPathComponent("shipped"), folder.appendingPathComponent("user"))
    try ship(to: shipped) { foods in try foods.add(contentsOf: [["name": "Apple"], ["name": "Bread"]]) }
    // A checkpoint would change the user's folder.
    let options = StoreOptions(checkpoints: .manual)
    let store = try RecordStore(at: user, attaching: shipped, as: "main", options: options)
    let foods = try await store.table("foods")
    var changes = foods.changes(since: foods.lastSnapshot).makeAsyncIterator()
    var ofStore = store.changes().makeAsyncIterator()
    let other = try RecordStore(at: user, attaching: shipped, as: "main", options: options)
    try await other.table("foods").set(["name": "Rye"], of: 2)
    #expect(try await changes.nextInTime().steps.updates.map(\.id) == [2])
    #expect(try await ofStore.nextInTime().tables == ["foods"])
    try ship(to: shipped) { foods in try foods.set(["name": "Pear"], of: 1) }
    let news = try await changes.nextInTime()
    #expect(
      news.steps.updates.map(\.id) == [1] && news.after.map(\.fields) == [["name": "Pear"], ["name": "Rye"]])
    try store.checkInvariants()
  }

  // MARK: -

  private func names(_ table: RecordTable<Fields>) -> [String?] {
    table.lastSnapshot.map { $0["name"]?.string }
  }

  private func withShippedFoods(_ body: (_ shipped: URL, _ user: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shipped = folder.appendingPathComponent("shipped")
      try ship(to: shipped) { foods in
        try foods.add(contentsOf: [
          ["name": "Apple", "kcal": 52, "note": "old"], ["name": "Bread", "kcal": 250], ["name": "Cheese"],
        ])
      }
      try body(shipped, folder.appendingPathComponent("user"))
    }
  }

  private func ship(to folder: URL, _ body: (RecordTable<Fields>) throws -> Void) throws {
    let store = try RecordStore(at: folder)
    try body(store.table("foods"))
    try store.close()
  }

  private func contents(of folder: URL) throws -> [String: Data?] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return Dictionary(
      uniqueKeysWithValues: files.map { ($0, try? Data(contentsOf: folder.appendingPathComponent($0))) })
  }

  private func setPermissions(_ folderMode: Int, _ fileMode: Int, in folder: URL) throws {
    let manager = FileManager.default
    for name in try manager.subpathsOfDirectory(atPath: folder.path) + [""] {
      let path = folder.appendingPathComponent(name).path
      var isFolder: ObjCBool = false
      _ = manager.fileExists(atPath: path, isDirectory: &isFolder)
      try manager.setAttributes(
        [.posixPermissions: isFolder.boolValue ? folderMode : fileMode], ofItemAtPath: path)
    }
  }
}
