import FileDB
import TestSupport
import Testing

/// Shipped tables that are merged into the user's.
@Suite struct ShippingMergeTests {
  private func text(_ renumbering: MergeRenumbering) -> String {
    "\(renumbering.side) \(renumbering.oldID) \(renumbering.newID)"
  }

  @Test func mergeKeepsUserChanges() throws {
    let shipping = try ShippingDisk.upgradable()
    let report = try shipping.install("two", 2, .merge)
    #expect(report.formerVersion == 1)
    #expect(report.tables.filter(\.isChanged).map(\.name) == ["foods", "news", "tips"])
    #expect(
      try shipping.titles("foods") == ["5 Quince", "2 White bread", "3 Sea salt", "4 My own", "1 Milk"])
    #expect(try shipping.user.table("foods").value(of: 3)["unit"] == "g")
    #expect(try shipping.user.tableNames == ["empty", "foods", "news", "notes"])
    let foods = try #require(report.tables.first { $0.name == "foods" })
    #expect(foods.renumbered.map(text) == ["theirs 4 5"])
    #expect(foods.conflicts.isEmpty)
    try shipping.check()
  }

  @Test func conflictIsReportedAndUserValueStays() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.table("foods").set(["title": "Rye bread"], of: 2)
    let report = try shipping.install("two", 2, .merge)
    let conflict = try #require(report.tables.flatMap(\.conflicts).first)
    #expect(conflict.record == 2)
    guard case .field("title", "Bread", "Rye bread", "White bread") = conflict.kind else {
      Issue.record("\(conflict)")
      return
    }
    #expect(try shipping.user.table("foods").value(of: 2)["title"] == "Rye bread")
  }

  /// It is recognized by its new id even when all its fields have changed.
  @Test func renumberedRecordIsRecognizedByLaterVersions() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, .merge)
    try shipping.user.table("foods").set(["title": "Quinces", "mine": true], of: 5)
    let two = try shipping.store("two").table("foods").lastSnapshot
    #expect(two.ids == [4, 1, 2, 3])
    try shipping.store("two").write { tx in
      try tx["foods"].set(["unit": "kg"], of: 4)
      // It gets the id that the other one has in the user's store.
      try tx["foods"].add(["title": "Fig"])
    }
    let report = try shipping.install("two", 3, .merge)
    #expect(report.tables.map(\.name) == ["foods"])
    #expect(report.tables[0].renumbered.map(text) == ["theirs 5 6"])
    let foods = try shipping.user.table("foods")
    #expect(try foods.value(of: 5) == ["title": "Quinces", "mine": true, "unit": "kg"])
    #expect(try foods.value(of: 4) == ["title": "My own"])
    #expect(try foods.value(of: 6) == ["title": "Fig"])
    try shipping.check()
  }

  @Test func tableDroppedByUserStaysDropped() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.write { tx in try tx["foods"].drop() }
    for version in 2...3 {
      try shipping.install("two", ShippedVersion(integerLiteral: version), .merge)
      #expect(try !shipping.user.table("foods").exists)
    }
  }

  /// After a version that only copied, the base of a merge is still the version that the user's table comes from.
  @Test func tableSkippedByCopyKeepsItsMergeBase() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, .copyIfMissing)
    try shipping.install("two", 3, .merge)
    #expect(
      try shipping.titles("foods") == ["5 Quince", "2 White bread", "3 Sea salt", "4 My own", "1 Milk"])
    #expect(try shipping.user.tableNames == ["empty", "foods", "news", "notes"])
  }

  /// Otherwise a version that changes every record would bring all deleted ones back.
  @Test func recordDeletedByUserStaysDeleted() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.table("foods").delete([1, 2])
    let report = try shipping.install("two", 2, .merge)
    #expect(try shipping.titles("foods") == ["5 Quince", "3 Sea salt", "4 My own"])
    let conflicts = report.tables.flatMap(\.conflicts)
    guard conflicts.count == 1, case .deletedByOurs(let base, let theirs) = conflicts[0].kind else {
      Issue.record("\(conflicts)")
      return
    }
    #expect(conflicts[0].record == 2)
    #expect([base, theirs] == [["title": "Bread"], ["title": "White bread"]])
    try shipping.ship("three", like: "two") { tx in
      for id in try tx["foods"].snapshot().ids {
        try tx["foods"].set(["kcal": 100], of: id)
      }
    }
    try shipping.install("three", 3, .merge)
    #expect(try shipping.titles("foods") == ["5 Quince", "3 Sea salt", "4 My own"])
    #expect(try shipping.user.table("foods").value(of: 3) == ["title": "Sea salt", "unit": "g", "kcal": 100])
    try shipping.check()
  }

  @Test func withdrawnRecordStaysIfUserChangedIt() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.ship("three", like: "one") { tx in try tx["foods"].delete([1, 3]) }
    let report = try shipping.install("three", 3, .merge)
    #expect(try shipping.titles("foods") == ["2 Bread", "3 Sea salt", "4 My own"])
    let conflicts = report.tables.flatMap(\.conflicts)
    #expect(conflicts.map(\.record) == [3])
    guard case .deletedByTheirs? = conflicts.first?.kind else {
      Issue.record("\(conflicts)")
      return
    }
  }

  @Test func shippedRecordNeverGetsIDOfDeletedRecord() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.write { tx in
      try tx["foods"].add(["title": "Another"])
      try tx["foods"].delete([4, 5])
    }
    let report = try shipping.install("two", 2, .merge)
    #expect(report.tables.flatMap(\.renumbered).map(text) == ["theirs 4 6"])
    #expect(try shipping.titles("foods") == ["6 Quince", "2 White bread", "3 Sea salt", "1 Milk"])
    try shipping.ship("three", like: "two") { tx in try tx["foods"].add(["title": "Fig"]) }
    try shipping.install("three", 3, .merge)
    #expect(try shipping.titles("foods").contains("7 Fig"), "the user's store gave 5, too")
  }

  /// The user duplicated a shipped record and deleted the original. The copy takes its place, even in later versions.
  @Test func recordMatchedByFieldsIsRecognizedByLaterVersions() throws {
    let shipping = try ShippingDisk.upgradable()
    let foods = try shipping.user.table("foods")
    try foods.duplicate(2)
    try foods.delete(2)
    let report = try shipping.install("two", 2, .merge)
    #expect(report.tables.flatMap(\.renumbered).map(text).contains("theirs 2 5"))
    #expect(try shipping.titles("foods").contains("5 White bread"))
    try shipping.user.table("foods").set(["title": "Toast"], of: 5)
    try shipping.ship("three", like: "two") { tx in
      try tx["foods"].set(["unit": "kg"], of: 2)
    }
    try shipping.install("three", 3, .merge)
    #expect(try shipping.user.table("foods").value(of: 5) == ["title": "Toast", "unit": "kg"])
    #expect(try !shipping.titles("foods").contains("2 White bread"))
    try shipping.check()
  }

  /// As in an app that copied its files itself before it used this.
  @Test func identicalTableCountsAsInstalled() throws {
    let shipping = try ShippingDisk.upgradable()
    let file = "/user/foods.plist"
    try shipping.disk.remove("/user/.filedb/installed.plist")
    _ = try shipping.disk.replace(file, with: shipping.disk.read("/one/foods.plist").bytes)
    #expect(try shipping.install("one", 1, .copyIfMissing).tables.isEmpty)
    try shipping.user.table("foods").set(["title": "Sea salt"], of: 3)
    try shipping.install("two", 2, .merge)
    #expect(try shipping.titles("foods") == ["4 Quince", "1 Milk", "2 White bread", "3 Sea salt"])
    #expect(try shipping.user.table("foods").value(of: 3)["unit"] == "g")
  }

  /// Nobody knows which of them the user changed, so all are kept.
  @Test func recordsOfNeverInstalledTableAreKeptBesideShippedOnes() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.disk.remove("/user/.filedb/installed.plist")
    try shipping.install("two", 2, .merge)
    #expect(
      try Set(shipping.titles("foods"))
        == ["1 Milk", "2 Bread", "3 Sea salt", "4 My own", "5 Quince", "6 White bread", "7 Salt"])
  }

  /// They are not installed, so they cause no conflicts.
  @Test func keysBesideRecordsStayTheUsers() throws {
    let shipping = ShippingDisk()
    func put(_ key: String, in store: String) throws {
      let file = "/\(store)/foods.plist"
      let text = String(decoding: try shipping.disk.read(file).bytes, as: UTF8.self)
      let changed = text.replacing(
        #/(<key>source</key>\s*<string>[a-z]*</string>\s*)?<key>autoincrement/#,
        with: "<key>source</key><string>\(key)</string><key>autoincrement")
      _ = try shipping.disk.replace(file, with: Array(changed.utf8))
    }
    for name in ["one", "two"] {
      try shipping.ship(name) { tx in try tx["foods"].add(["title": .string(name)]) }
      try put(name, in: name)
    }
    try shipping.install("one", 1, .merge)
    try shipping.user.checkpoint()
    try put("user", in: "user")
    let report = try shipping.install("two", 2, .merge)
    #expect(report.tables.flatMap(\.conflicts).isEmpty)
    try shipping.user.checkpoint()
    let text = String(decoding: try shipping.disk.read("/user/foods.plist").bytes, as: UTF8.self)
    #expect(text.contains("<string>user</string>"))
    #expect(try shipping.titles("foods") == ["1 two"])
  }
}
