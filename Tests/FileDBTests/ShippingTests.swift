import Dispatch
import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// Shipped stores and a user's, on one disk in memory.
struct ShippingDisk {
  let disk: any Disk
  static let options = StoreOptions(checkpoints: .manual)

  init(_ disk: any Disk = MemoryDisk()) { self.disk = disk }

  func store(_ name: String) throws -> RecordStore {
    try RecordStore(at: URL(fileURLWithPath: "/\(name)"), disk: disk, options: Self.options)
  }

  var user: RecordStore { get throws { try store("user") } }

  /// Makes a shipped store, with its files up to date.
  func ship(_ name: String, like other: String? = nil, _ body: (inout StoreTransaction) throws -> Void) throws
  {
    let shipped = try store(name)
    if let former = try other.map(store) {
      for table in try former.tableNames {
        let state = try former.table(table).snapshot
        try shipped.write { tx in
          try tx.create(.records(table))
          try tx.add(contentsOf: state.map(\.record), to: .records(table))
        }
      }
    }
    try shipped.write { tx in try body(&tx) }
    try shipped.checkpoint()
  }

  @discardableResult
  func install(_ name: String, _ version: ShippedVersion, _ policy: InstallPolicy) throws -> InstallReport {
    try ShippedInstall(from: store(name), to: user, version: version, policy: policy).run()
  }

  func contents() throws -> StoreContents { try StoreContents(of: user) }

  /// The titles of a table, with the ids.
  func titles(_ table: String) throws -> [String] {
    try user.table(table).snapshot.map { "\($0.id) \($0.record["title"]?.string ?? "-")" }
  }

  func check() throws {
    try user.checkInvariants()
    try user.checkNothingIsLeftBehind()
  }
}

extension ShippingDisk {
  /// Version 1 is installed, and the user has changed things since; `two` waits to be installed.
  static func upgradable() throws -> ShippingDisk {
    let shipping = ShippingDisk()
    try shipping.ship("one") { tx in
      try tx.add(contentsOf: ["Milk", "Bread", "Salt"].map { ["title": .string($0)] }, to: .records("foods"))
      try tx.add(["title": "Old"], to: .records("tips"))
      try tx.create(.records("empty"))
    }
    try shipping.ship("two", like: "one") { tx in
      try tx.set(["unit": "g"], of: 3, in: .records("foods"))
      try tx.set(["title": "White bread"], of: 2, in: .records("foods"))
      try tx.add(["title": "Quince"], to: .records("foods"), at: .top)
      try tx.add(["title": "New"], to: .records("news"))
      try tx.drop(.records("tips"))
    }
    try shipping.install("one", 1, .merge)
    let user = try shipping.user
    try user.write { tx in
      try tx.set(["title": "Sea salt"], of: 3, in: .records("foods"))
      try tx.add(["title": "My own"], to: .records("foods"))
      try tx.move(1, in: .records("foods"), to: .bottom)
      try tx.add(["title": "Mine"], to: .records("notes"))
    }
    return shipping
  }
}

@Suite struct ShippingTests {
  private func text(_ renumbering: MergeRenumbering) -> String {
    "\(renumbering.side) \(renumbering.oldID) \(renumbering.newID)"
  }

  @Test func copyingAddsWhatIsMissingAndLeavesTheRest() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let report = try shipping.install("two", 2, .copyIfMissing)
    #expect(report.tables.filter(\.isChanged).map(\.name) == ["news"])
    var expected = before
    expected.tables["news"] = try StoreContents(of: shipping.store("two")).tables["news"]
    #expect(try shipping.contents() == expected)
    try shipping.check()
  }

  @Test func theFirstInstallationIsAnExactCopy() throws {
    for policy in InstallPolicy.allCases {
      let shipping = try ShippingDisk.upgradable()
      try shipping.store("two").table("foods").delete(4)
      let other = ShippingDisk(shipping.disk)
      let user = try other.store("another")
      let report = try ShippedInstall(from: other.store("two"), to: user, version: "2.0", policy: policy)
        .run()
      #expect(report.formerVersion == nil)
      #expect(try StoreContents(of: user) == StoreContents(of: other.store("two")), "\(policy)")
      try user.checkInvariants()
    }
  }

  @Test func replacingLeavesTheShippedTablesAlone() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, .replace)
    #expect(try shipping.contents() == StoreContents(of: shipping.store("two")))
    try shipping.check()
  }

  @Test func mergingKeepsWhatTheUserDid() throws {
    let shipping = try ShippingDisk.upgradable()
    let report = try shipping.install("two", 2, .merge)
    #expect(report.formerVersion == 1)
    #expect(report.tables.filter(\.isChanged).map(\.name) == ["foods", "news", "tips"])
    #expect(
      try shipping.titles("foods") == ["5 Quince", "2 White bread", "3 Sea salt", "4 My own", "1 Milk"])
    #expect(try shipping.user.table("foods").row(with: 3)["unit"] == "g")
    #expect(try shipping.user.tableNames == ["empty", "foods", "news", "notes"])
    let foods = try #require(report.tables.first { $0.name == "foods" })
    #expect(foods.renumbered.map(text) == ["theirs 4 5"])
    #expect(foods.conflicts.isEmpty)
    try shipping.check()
  }

  @Test func conflictsAreToldAndTheUsersValueStays() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.table("foods").set(["title": "Rye bread"], of: 2)
    let report = try shipping.install("two", 2, .merge)
    let conflict = try #require(report.tables.flatMap(\.conflicts).first)
    #expect(conflict.record == 2)
    guard case .field("title", "Bread", "Rye bread", "White bread") = conflict.kind else {
      Issue.record("\(conflict)")
      return
    }
    #expect(try shipping.user.table("foods").row(with: 2)["title"] == "Rye bread")
  }

  /// The new id stays that record's, even when nothing in it is as it was.
  @Test func aRecordWithANewIDIsKnownToLaterVersions() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, .merge)
    try shipping.user.table("foods").set(["title": "Quinces", "mine": true], of: 5)
    let two = try shipping.store("two").table("foods").snapshot
    #expect(two.ids == [4, 1, 2, 3])
    try shipping.store("two").write { tx in
      try tx.set(["unit": "kg"], of: 4, in: .records("foods"))
      // It gets the id that the other one has in the user's store.
      try tx.add(["title": "Fig"], to: .records("foods"))
    }
    let report = try shipping.install("two", 3, .merge)
    #expect(report.tables.map(\.name) == ["foods"])
    #expect(report.tables[0].renumbered.map(text) == ["theirs 5 6"])
    let foods = try shipping.user.table("foods")
    #expect(try foods.row(with: 5) == ["title": "Quinces", "mine": true, "unit": "kg"])
    #expect(try foods.row(with: 4) == ["title": "My own"])
    #expect(try foods.row(with: 6) == ["title": "Fig"])
    try shipping.check()
  }

  @Test func aTableThatTheUserDroppedStaysDropped() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.write { tx in try tx.drop(.records("foods")) }
    for version in 2...3 {
      try shipping.install("two", ShippedVersion(integerLiteral: version), .merge)
      #expect(try !shipping.user.table("foods").exists)
    }
  }

  /// After a version that only copied, a merge still begins with what the user's table is from.
  @Test func aTableThatWasNotTakenKeepsItsBase() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, .copyIfMissing)
    try shipping.install("two", 3, .merge)
    #expect(
      try shipping.titles("foods") == ["5 Quince", "2 White bread", "3 Sea salt", "4 My own", "1 Milk"])
    #expect(try shipping.user.tableNames == ["empty", "foods", "news", "notes"])
  }

  @Test(arguments: InstallPolicy.allCases)
  func aVersionThatIsInstalledCostsOneRead(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, policy)
    let before = try shipping.contents()
    let counting = FaultyDisk(over: shipping.disk)
    let report = try ShippedInstall(
      from: shipping.store("two"), to: ShippingDisk(counting).user, version: "2.0.0", policy: policy
    ).run()
    #expect(report.formerVersion == 2)
    #expect(report.tables.isEmpty)
    #expect(counting.verbs.filter { $0 != .status } == [.read])
    #expect(try shipping.contents() == before)
  }

  @Test(arguments: InstallPolicy.allCases)
  func anOlderVersionIsRefused(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", "1.10", policy)
    let before = try shipping.contents()
    let error = storeError { try shipping.install("one", "1.9", policy) }
    #expect(error?.code == StoreError.olderThanInstalled)
    #expect(error?.message == "version 1.10 is installed, and 1.9 is an older one")
    #expect(try shipping.contents() == before)
  }

  @Test func aMissingShippedFolderIsAnErrorAndChangesNothing() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    #expect(storeError { try shipping.install("three", 3, .replace) }?.code == StoreError.fileNotFound)
    #expect(try shipping.contents() == before)
  }

  @Test func aRehearsalSaysTheSameAndWritesNothing() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let counting = FaultyDisk(over: shipping.disk)
    let install = try ShippedInstall(
      from: shipping.store("two"), to: ShippingDisk(counting).user, version: 2, policy: .merge)
    let rehearsed = try install.rehearse()
    let writing: Set<FaultyDisk.Verb> = [
      .makeFolder, .create, .rename, .remove, .append, .writeAt, .lock, .syncFolder,
    ]
    #expect(counting.verbs.allSatisfy { !writing.contains($0) })
    #expect(try shipping.contents() == before)
    let report = try install.run()
    #expect(rehearsed.tables.map(\.name) == report.tables.map(\.name))
    #expect(rehearsed.tables.map(\.renumbered) == report.tables.map(\.renumbered))
  }

  /// Of the versions before, only what the next merge needs is kept.
  @Test func oldShippedTablesAreClearedAway() throws {
    let shipping = try ShippingDisk.upgradable()
    for version in 2...9 { try shipping.install("two", ShippedVersion(integerLiteral: version), .merge) }
    let kept = try shipping.disk.list("/user/.filedb/shipped")
    #expect(kept.sorted() == ["9.empty.plist", "9.foods.plist", "9.news.plist", "installed.plist", "lock"])
  }

  @Test func manyAtOnceInstallOnce() throws {
    let shipping = try ShippingDisk.upgradable()
    let alone = try ShippingDisk.upgradable()
    try alone.install("two", 2, .merge)
    let reports = Mutex<[InstallReport]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      if let report = try? shipping.install("two", 2, .merge) { reports.withLock { $0.append(report) } }
    }
    #expect(reports.withLock { $0.count } == 6)
    #expect(reports.withLock { $0.filter { $0.formerVersion == 1 }.count } == 1)
    #expect(try shipping.contents() == alone.contents())
    try shipping.check()
  }

  @Test func versionsAreComparedNumberByNumber() {
    let ascending: [ShippedVersion] = [0, "0.1", 1, "1.0.1", "1.2", "1.9", "1.10", 2, "10"]
    #expect(ascending.sorted() == ascending)
    #expect(Set<ShippedVersion>(["2", "2.0", 2, "02.0.0"]).count == 1)
    for text in ["", ".", "1.", "1..2", "-1", "+1", "1a", " 1", "1.99999999999999999999"] {
      #expect(ShippedVersion(text) == nil, "'\(text)'")
    }
    for version in ascending { #expect(ShippedVersion(version.description) == version) }
  }
}
