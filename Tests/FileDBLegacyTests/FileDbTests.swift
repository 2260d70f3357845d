import FileDBLegacy
import Foundation
import Testing

extension LegacyTests {
  @Suite struct FileDbTests {
    private func titles(_ db: String) throws -> [String] {
      try wgFileDb.getItemsFromDb(db).map { $0["title"] as? String ?? "" }
    }

    private func check(_ db: String) throws {
      let reader = try OriginalReader(wgFileDb.getPathToDb(db))
      try reader.check()
      #expect(try reader.items == wgFileDb.getItemsFromDb(db).map { $0 as NSDictionary })
      #expect(try reader.counter == wgFileDb.getAutoincrementNumber(forDb: db))
    }

    /// Makes it the items 1 to `count`, titled `a`, `b` and so on.
    private func fill(_ db: String, _ count: Int) throws {
      let items = "abcdefgh".prefix(count).enumerated().map { index, letter in
        ["title": String(letter), kMainIdKey: "\(index + 1)"]
      }
      try wgFileDb.saveFullData(items, toDb: db)
    }

    @Test func constantsAreTheNamesUsedInFiles() {
      #expect(
        [kFileDbFolder, kFileDbAIKey, kFileDbDataKey, kFileDbIndexKey, kMainIdKey]
          == ["wgFileDb", "autoincrement", "data", "index", "wgFileDbSecretId"])
    }

    @Test func addItemAddsAtTopOrBottom() throws {
      try withRoot { _ in
        #expect(try wgFileDb.addItem(toBottom: ["title": "a"], intoDb: "todo") == 1)
        #expect(try wgFileDb.addItem(toTop: ["title": "b"], intoDb: "todo") == 2)
        #expect(try wgFileDb.addItem(toBottom: ["title": "c", kMainIdKey: "1"], intoDb: "todo") == 3)
        #expect(try wgFileDb.addItem(toTop: ["title": "d", kMainIdKey: "x"], intoDb: "todo") == 4)
        #expect(try titles("todo") == ["d", "b", "a", "c"])
        #expect(try wgFileDb.getItemsFromDb("todo").map(wgFileDb.getId) == [4, 2, 1, 3])
        #expect(try wgFileDb.getNumberOfItems(inDb: "todo") == 4)
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 4)
        try check("todo")
      }
    }

    @Test func itemHoldsItsIdAsDecimalString() throws {
      try withRoot { _ in
        try fill("todo", 2)
        #expect(
          try wgFileDb.getItem(2, inDb: "todo") as NSDictionary == ["title": "b", kMainIdKey: "2"])
        #expect(wgFileDb.getId(try wgFileDb.getItem(2, inDb: "todo")) == 2)
      }
      #expect(wgFileDb.getId([:]) == 0)
      #expect(wgFileDb.getId([kMainIdKey: 7]) == 7)
      #expect(wgFileDb.getId([kMainIdKey: "-7"]) == 0)
      #expect(wgFileDb.getId([kMainIdKey: Date()]) == 0)
    }

    @Test func getPathToDbMakesEmptyTable() throws {
      try withRoot { root in
        #expect(try !wgFileDb.isDatabase("todo"))
        let path = try wgFileDb.getPathToDb("todo")
        #expect(path == root.path + "/~/db/wgFileDb/todo.plist")
        #expect(try wgFileDb.isDatabase("todo"))
        let reader = try OriginalReader(path)
        #expect(try reader.counter == 0 && reader.items.isEmpty && reader.index.isEmpty)
        try fill("todo", 1)
        #expect(try wgFileDb.getPathToDb("todo") == path)
        #expect(try titles("todo") == ["a"], "a table that is there stays as it is")
      }
    }

    @Test func readingMakesNoTable() throws {
      try withRoot { root throws in
        #expect(try wgFileDb.getItemsFromDb("todo").isEmpty)
        #expect(try wgFileDb.getNumberOfItems(inDb: "todo") == 0)
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 0)
        #expect(try !wgFileDb.isDatabase("todo"))
        #expect(LegacyTests.contents(root.path + "/~/db/wgFileDb") == [])
      }
    }

    @Test func deleteRemovesTable() throws {
      try withRoot { root in
        try fill("todo", 1)
        try fill("other", 1)
        #expect(try wgFileDb.delete("todo"))
        #expect(LegacyTests.contents(root.path + "/~/db/wgFileDb") == ["other.plist", ".filedb"])
        #expect(try wgFileDb.delete("todo"), "there need not be one")
        #expect(LegacyTests.contents(root.path + "/~/db/wgFileDb") == ["other.plist", ".filedb"])
        #expect(try wgFileDb.addItem(toTop: [:], intoDb: "todo") == 1)
      }
    }

    @Test func truncateRemovesAllItemsAndResetsCounter() throws {
      try withRoot { _ in
        try fill("todo", 3)
        #expect(try wgFileDb.truncate("todo"))
        #expect(try wgFileDb.getNumberOfItems(inDb: "todo") == 0)
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 0)
        try check("todo")
        #expect(try wgFileDb.truncate("new"))
        #expect(try wgFileDb.isDatabase("new"))
      }
    }

    @Test func deletedItemsIdIsNotUsedAgain() throws {
      try withRoot { _ in
        try fill("todo", 3)
        try wgFileDb.deleteItem(2, fromDb: "todo")
        #expect(try titles("todo") == ["a", "c"])
        #expect(try wgFileDb.addItem(toTop: [:], intoDb: "todo") == 4, "no id is given again")
        try check("todo")
      }
    }

    @Test func updateItemKeepsId() throws {
      try withRoot { _ in
        try fill("todo", 3)
        try wgFileDb.updateItem(2, withData: ["note": "n"], inDb: "todo")
        try wgFileDb.updateItem(3, withData: ["note": "m", kMainIdKey: "1"], inDb: "todo")
        #expect(
          try wgFileDb.getItemsFromDb("todo").map { $0 as NSDictionary } == [
            ["title": "a", kMainIdKey: "1"], ["note": "n", kMainIdKey: "2"],
            ["note": "m", kMainIdKey: "3"],
          ])
        try check("todo")
      }
    }

    @Test func moveTableItemMovesLikeTableView() throws {
      try withRoot { _ in
        for from in 0..<4 {
          for to in 0..<4 {
            try fill("todo", 4)
            var expected = ["a", "b", "c", "d"]
            expected.insert(expected.remove(at: from), at: to)
            try wgFileDb.moveTableItem(
              IndexPath(indexes: [0, from]), to: IndexPath(indexes: [7, to]), inDb: "todo")
            #expect(try titles("todo") == expected, "\(from) to \(to)")
          }
        }
        try wgFileDb.moveTableItem([0], to: [3], inDb: "todo")
        #expect(try titles("todo") == ["b", "c", "d", "a"], "the last was 3 to 3")
        try check("todo")
        for path in [[0, 4], [0, -1], []] as [IndexPath] {
          let from = error { try wgFileDb.moveTableItem(path, to: [0, 0], inDb: "todo") }
          let to = error { try wgFileDb.moveTableItem([0, 0], to: path, inDb: "todo") }
          #expect(from?.code == .indexOutOfRange)
          #expect(to?.code == .indexOutOfRange)
        }
        #expect(try titles("todo") == ["b", "c", "d", "a"])
      }
    }

    @Test func duplicateItemCopiesToTopOrBottom() throws {
      try withRoot { _ in
        try fill("todo", 3)
        #expect(try wgFileDb.duplicateItem(toBottom: 2, inDb: "todo") == 4)
        #expect(try wgFileDb.duplicateItem(toTop: 3, inDb: "todo") == 5)
        #expect(try titles("todo") == ["c", "a", "b", "c", "b"])
        #expect(try wgFileDb.getItemsFromDb("todo").map(wgFileDb.getId) == [5, 1, 2, 3, 4])
        try check("todo")
      }
    }

    @Test(arguments: [0, 9, -1]) func unknownIdIsAnError(id: Int) throws {
      try withRoot { _ in
        try fill("todo", 2)
        for verb in [
          { _ = try wgFileDb.getItem(id, inDb: "todo") },
          { try wgFileDb.deleteItem(id, fromDb: "todo") },
          { try wgFileDb.updateItem(id, withData: [:], inDb: "todo") },
          { try wgFileDb.duplicateItem(toTop: id, inDb: "todo") },
          { try wgFileDb.duplicateItem(toBottom: id, inDb: "todo") },
        ] as [() throws -> Void] {
          let error = error(verb)
          #expect(error?.code == .recordNotFound)
          #expect(error?.table == "todo")
        }
        #expect(try titles("todo") == ["a", "b"])
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 2)
      }
    }

    @Test func saveFullDataReplacesAllItems() throws {
      try withRoot { _ in
        try fill("todo", 3)
        var items = try wgFileDb.getItemsFromDb("todo")
        items.reverse()
        items[1]["title"] = "B"
        items.insert(["title": "new"], at: 0)
        items.append(["title": "from elsewhere", kMainIdKey: 10])
        items.append(["title": "new too"])
        try wgFileDb.saveFullData(items, toDb: "todo")
        #expect(try titles("todo") == ["new", "c", "B", "a", "from elsewhere", "new too"])
        #expect(try wgFileDb.getItemsFromDb("todo").map(wgFileDb.getId) == [11, 3, 2, 1, 10, 12])
        try check("todo")

        try wgFileDb.saveFullData([], toDb: "todo")
        #expect(try wgFileDb.getNumberOfItems(inDb: "todo") == 0)
        #expect(try wgFileDb.getAutoincrementNumber(forDb: "todo") == 12)
        try wgFileDb.saveFullData([["title": "first"]], toDb: "new")
        #expect(try wgFileDb.getItem(1, inDb: "new")["title"] as? String == "first")
      }
    }

    @Test func saveFullDataSavesAllOrNothing() throws {
      try withRoot { _ in
        try fill("todo", 2)
        for (items, code) in [
          ([[kMainIdKey: "2"], [kMainIdKey: 2]], StoreError.Code.duplicateID),
          ([[:], [kMainIdKey: "two"]], StoreError.Code.invalidValue),
          ([[:], [kMainIdKey: -1]], StoreError.Code.invalidValue),
          ([[:], [kMainIdKey: 1.5]], StoreError.Code.invalidValue),
          ([[:], ["title": NSNull()]], StoreError.Code.unrepresentableValue),
        ] as [([[String: Any]], StoreError.Code)] {
          #expect(error { try wgFileDb.saveFullData(items, toDb: "todo") }?.code == code)
        }
        #expect(try titles("todo") == ["a", "b"])
      }
    }

    @Test func sortingReturnsItemsAndKeepsTableOrder() throws {
      try withRoot { _ in
        let amounts: [[String: Any]] = [["n": 2], ["n": 10], [:], ["n": 2.5], ["n": 2]]
        for amount in amounts { try wgFileDb.addItem(toTop: amount, intoDb: "todo") }
        func ids(_ items: [[String: Any]]) -> [Int] { items.map(wgFileDb.getId) }
        #expect(try ids(wgFileDb.sortAscending(byKey: "n", inDb: "todo")) == [5, 1, 4, 2, 3])
        #expect(try ids(wgFileDb.sortDescending(byKey: "n", inDb: "todo")) == [2, 4, 5, 1, 3])
        #expect(try ids(wgFileDb.sortAscending(byKey: kMainIdKey, inDb: "todo")) == [1, 2, 3, 4, 5])
        #expect(try ids(wgFileDb.sortDescending(byKey: kMainIdKey, inDb: "todo")) == [5, 4, 3, 2, 1])
        #expect(try ids(wgFileDb.getItemsFromDb("todo")) == [5, 4, 3, 2, 1], "the table keeps its order")
      }
    }

    @Test func changesOfOtherStoresAreSeen() throws {
      try withRoot { _ in
        try fill("todo", 1)
        let other = try RecordStore(at: wgFileDb.store.url)
        let id = try other.table("todo").add(["title": "theirs"], at: .top)
        #expect(try titles("todo") == ["theirs", "a"])
        #expect(try wgFileDb.getNumberOfItems(inDb: "todo") == 2)
        #expect(try wgFileDb.getItem(Int(id.rawValue), inDb: "todo")["title"] as? String == "theirs")
      }
    }

    @Test func eachRootHasOneStore() throws {
      try withRoot { root in
        let store = try wgFileDb.store
        #expect(try wgFileDb.store === store)
        #expect(store.url.path == root.path + "/~/db/" + kFileDbFolder)
        wgPaths.root = root.appendingPathComponent("second")
        #expect(try wgFileDb.store !== store)
        wgPaths.root = root
        #expect(try wgFileDb.store === store)
      }
    }

    @Test func invalidTableNameIsAnError() throws {
      try withRoot { root in
        for name in ["", "../x", ".hidden", "a/b", "a\0"] {
          for verb in [
            { _ = try wgFileDb.isDatabase(name) }, { try wgFileDb.getPathToDb(name) },
            { try wgFileDb.addItem(toTop: [:], intoDb: name) },
            { _ = try wgFileDb.getItemsFromDb(name) }, { try wgFileDb.delete(name) },
          ] as [() throws -> Void] {
            #expect(error(verb)?.code == .invalidTableName)
          }
        }
        #expect(LegacyTests.contents(root.path + "/~/db/wgFileDb") == [])
      }
    }

    @Test func manyThreadsCanAddItemsAtOnce() throws {
      try withRoot { _ in
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
          _ = try? wgFileDb.addItem(toTop: ["title": "a"], intoDb: "todo")
          _ = try? wgFileDb.getItemsFromDb("todo")
        }
        #expect(try wgFileDb.getItemsFromDb("todo").map(wgFileDb.getId) == (1...20).reversed())
        try check("todo")
      }
    }

    private func withRoot(_ body: (URL) throws -> Void) throws { try LegacyTests.withRoot(body) }
    private func error(_ body: () throws -> Void) -> StoreError? { LegacyTests.error(body) }
  }
}
