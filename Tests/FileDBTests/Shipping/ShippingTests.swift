import Dispatch
import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct ShippingTests {
  @Test func copyIfMissingAddsOnlyMissingTables() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let report = try shipping.install("two", 2, .copyIfMissing)
    #expect(report.tables.filter(\.isChanged).map(\.name) == ["news"])
    var expected = before
    expected.tables["news"] = try StoreContents(of: shipping.store("two")).tables["news"]
    #expect(try shipping.contents() == expected)
    try shipping.check()
  }

  @Test func firstInstallationIsAnExactCopy() throws {
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

  /// A table is the user's if it was never installed.
  @Test func replaceInstallsShippedTablesAndKeepsUserTables() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let report = try shipping.install("two", 2, .replace)
    #expect(report.tables.map(\.name) == ["foods", "news", "tips"])
    var expected = try StoreContents(of: shipping.store("two"))
    expected.tables["notes"] = before.tables["notes"]
    #expect(try shipping.contents() == expected)
    try shipping.check()
  }

  /// The user made a table whose name a later version ships.
  @Test(arguments: InstallPolicy.allCases)
  func userTableMayShareNameWithShippedTable(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.table("news").add(["title": "Headline"])
    try shipping.install("two", 2, policy)
    let expected: [InstallPolicy: [String]] = [
      .copyIfMissing: ["1 Headline"], .replace: ["1 New"], .merge: ["2 New", "1 Headline"],
    ]
    #expect(try Set(shipping.titles("news")) == Set(expected[policy] ?? []))
    try shipping.check()
  }

  @Test(arguments: InstallPolicy.allCases)
  func reinstallingSameVersionReadsAlmostNothing(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", 2, policy)
    let before = try shipping.contents()
    let counting = FaultyDisk(over: shipping.disk)
    let report = try ShippedInstall(
      from: shipping.store("two"), to: ShippingDisk(counting).user, version: "2.0.0", policy: policy
    ).run()
    #expect(report.formerVersion == 2)
    #expect(report.tables.isEmpty)
    #expect(counting.verbs.count { $0 == .read } == 1)
    #expect(
      Set(counting.verbs).isSubset(of: [.status, .extent, .read, .open, .readAt]), "no more than the journal")
    #expect(try shipping.contents() == before)
  }

  @Test(arguments: InstallPolicy.allCases)
  func olderVersionIsRefused(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.install("two", "1.10", policy)
    let before = try shipping.contents()
    let error = storeError { try shipping.install("one", "1.9", policy) }
    #expect(error?.code == .olderThanInstalled)
    #expect(error?.message == "version 1.10 is installed, and 1.9 is older")
    #expect(try shipping.contents() == before)
  }

  @Test func missingShippedFolderIsAnErrorAndChangesNothing() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    #expect(storeError { try shipping.install("three", 3, .replace) }?.code == .fileNotFound)
    #expect(try shipping.contents() == before)
  }

  @Test func dryRunReportsTheSameAndWritesNothing() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let counting = FaultyDisk(over: shipping.disk)
    let install = try ShippedInstall(
      from: shipping.store("two"), to: ShippingDisk(counting).user, version: 2, policy: .merge)
    let tried = try install.dryRun()
    let writing: Set<FaultyDisk.Verb> = [
      .makeFolder, .create, .rename, .remove, .append, .writeAt, .lock, .syncFolder,
    ]
    #expect(counting.verbs.allSatisfy { !writing.contains($0) })
    #expect(try shipping.contents() == before)
    let report = try install.run()
    #expect(tried.tables.map(\.name) == report.tables.map(\.name))
    #expect(tried.tables.map(\.renumbered) == report.tables.map(\.renumbered))
  }

  /// Only the tables that the next merge needs are kept.
  @Test func oldShippedTablesAreRemoved() throws {
    let shipping = try ShippingDisk.upgradable()
    for version in 2...9 { try shipping.install("two", ShippedVersion(integerLiteral: version), .merge) }
    let kept = try shipping.disk.list("/user/.filedb/shipped")
    #expect(kept.sorted() == ["9.empty.plist", "9.foods.plist", "9.news.plist"])
  }

  /// Otherwise another process that is about to install that version could lose its tables.
  @Test func oldShippedTablesAreRemovedUnderTheLock() throws {
    let shipping = try ShippingDisk.upgradable()
    let codes = Mutex<[StoreError.Code?]>([])
    let disk = FaultyDisk(over: shipping.disk) { _, verb in
      guard verb == .remove else { return }
      let error = storeError {
        try RecordStore(
          at: shipping.user.url, disk: shipping.disk, options: StoreOptions(lockTimeout: .zero)
        ).write { _ in }
      }
      codes.withLock { $0.append(error?.code) }
    }
    try ShippingDisk(disk).install("two", 2, .merge)
    #expect(codes.withLock { $0 } == Array(repeating: StoreError.Code.locked, count: 3))
  }

  /// Neither while it is in the journal nor when it has a file.
  @Test func versionRecordIsNotAUserTable() throws {
    let first = ShippingDisk()
    try first.ship("one") { tx in try tx["foods"].create() }
    try first.install("one", 1, .merge)
    #expect(try first.user.tableNames == ["foods"], "while the record is in the journal alone")
    let shipping = try ShippingDisk.upgradable()
    let names = ["empty", "foods", "news", "notes"]
    try shipping.install("two", 2, .merge)
    #expect(try shipping.user.tableNames == names)
    try shipping.user.checkpoint()
    #expect(try shipping.user.tableNames == names)
    #expect(try shipping.disk.status("/user/.filedb/installed.plist") != nil)
    #expect(try shipping.install("two", 2, .merge).formerVersion == 2)
    try shipping.disk.remove("/user/.filedb/installed.plist")
    #expect(try shipping.install("two", 2, .merge).formerVersion == nil)
  }

  @Test func invalidVersionRecordIsAnErrorWithItsFile() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    try shipping.user.table(".filedb/installed").set(["version": "one"], of: 1)
    let error = storeError { try shipping.install("two", 2, .replace) }
    #expect(error?.code == .damagedTable)
    #expect(error?.file == "/user/.filedb/installed.plist")
    #expect(try shipping.contents() == before)
  }

  @Test func installInsideUsersWriteFailsAsLocked() throws {
    let shipping = try ShippingDisk.upgradable()
    let before = try shipping.contents()
    let options = StoreOptions(lockTimeout: .milliseconds(1))
    let user = try RecordStore(at: shipping.user.url, disk: shipping.disk, options: options)
    let error = storeError {
      try shipping.user.write { _ in
        _ = try ShippedInstall(from: shipping.store("two"), to: user, version: 2, policy: .merge).run()
      }
    }
    #expect(error?.code == .locked)
    #expect(try shipping.contents() == before)
  }

  @Test func concurrentInstallersInstallOnce() throws {
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

  /// Just before the lock is taken, another process installs version 2.
  @Test func secondInstallerRechecksVersionUnderLock() throws {
    for (version, code) in [(2, nil), (1, StoreError.Code.olderThanInstalled)] as [(Int, StoreError.Code?)] {
      let shipping = try ShippingDisk.upgradable()
      try shipping.disk.remove("/user/.filedb/installed.plist")
      let isFirst = Atomic<Bool>(true)
      let disk = FaultyDisk(over: shipping.disk) { _, verb in
        guard verb == .lock, isFirst.exchange(false, ordering: .relaxed) else { return }
        _ = try? shipping.install("two", 2, .merge)
      }
      var report: InstallReport?
      let error = storeError {
        report = try ShippingDisk(disk).install("one", ShippedVersion(integerLiteral: version), .replace)
      }
      #expect(error?.code == code)
      #expect(report?.formerVersion == (code == nil ? 2 : nil))
      #expect(try shipping.titles("news") == ["1 New"])
      #expect(try shipping.titles("foods").contains("5 Quince"))
    }
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
