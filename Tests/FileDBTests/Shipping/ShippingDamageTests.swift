import FileDB
import FileDBStorage
import TestSupport
import Testing

/// Installations over tables of the user's that cannot be read.
@Suite struct ShippingDamageTests {
  enum Damage: CaseIterable {
    /// Two records of three can be saved.
    case oneRecord
    case cutOff, noTable, empty

    func bytes(of table: [UInt8]) -> [UInt8] {
      let text = String(decoding: table, as: UTF8.self)
      return switch self {
      case .oneRecord: Array(text.replacing("<string>Bread</string>", with: "<string>Bread<").utf8)
      case .cutOff: Array(table.prefix(130))
      case .noTable: Array("rubbish".utf8)
      case .empty: []
      }
    }
  }

  private static let file = "/user/foods.plist"

  private func damaged(_ damage: Damage) throws -> (shipping: ShippingDisk, bytes: [UInt8]) {
    let shipping = try ShippingDisk.upgradable()
    let bytes = damage.bytes(of: try shipping.disk.read(Self.file).bytes)
    _ = try shipping.disk.replace(Self.file, with: bytes)
    #expect(storeError { _ = try shipping.user.table("foods") } != nil)
    return (shipping, bytes)
  }

  @Test(arguments: Damage.allCases)
  func replacedDamagedTableIsBackedUp(damage: Damage) throws {
    let (shipping, bytes) = try damaged(damage)
    let install = try ShippedInstall(
      from: shipping.store("two"), to: shipping.user, version: 2, policy: .replace)
    #expect(try install.dryRun().tables.first?.isChanged == true)
    #expect(try shipping.disk.read(Self.file).bytes == bytes)
    let report = try install.run()
    let foods = try #require(report.tables.first)
    #expect(foods.name == "foods")
    #expect(foods.isChanged)
    #expect(try foods.backups.map { try shipping.disk.read($0.path).bytes } == [bytes])
    #expect(try shipping.titles("foods") == ["4 Quince", "1 Milk", "2 White bread", "3 Salt"])
    #expect(try shipping.titles("notes") == ["1 Mine"])
    try shipping.check()
  }

  /// The commits that waited for the file are in a backup of the journal.
  @Test func conflictingTableIsReplacedAndBackedUp() throws {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.table("foods").add(["title": "Waiting"])
    try shipping.user.table("foods").set(["title": "Brown bread"], of: 2)
    let bytes = try shipping.disk.read("/two/foods.plist").bytes
    _ = try shipping.disk.replace(Self.file, with: bytes)
    let code = storeError { try shipping.install("two", 2, .merge) }?.code
    #expect(code == .conflict)
    let report = try shipping.install("two", 2, .replace)
    let backups = try report.tables.flatMap(\.backups).map { try shipping.disk.read($0.path).bytes }
    #expect(backups.count == 2)
    #expect(backups.first == bytes)
    #expect(backups.last.map { String(decoding: $0, as: UTF8.self).contains("Waiting") } == true)
    #expect(try shipping.titles("foods") == ["4 Quince", "1 Milk", "2 White bread", "3 Salt"])
    try shipping.check()
  }

  @Test func copyIfMissingLeavesDamagedTableAlone() throws {
    let (shipping, bytes) = try damaged(.oneRecord)
    let report = try shipping.install("two", 2, .copyIfMissing)
    #expect(report.tables.map(\.name) == ["news"])
    #expect(try shipping.disk.read(Self.file).bytes == bytes)
    // Once it is repaired, it is still known to be of version 1.
    try shipping.user.repair("foods")
    try shipping.install("two", 3, .merge)
    #expect(try shipping.user.table("foods").value(of: 3) == ["title": "Sea salt", "unit": "g"])
  }

  @Test func mergeRefusesDamagedTable() throws {
    let (shipping, bytes) = try damaged(.oneRecord)
    let code = storeError { try shipping.install("two", 2, .merge) }?.code
    #expect(code == .damagedTable)
    #expect(try shipping.disk.read(Self.file).bytes == bytes)
    #expect(try !shipping.user.tableNames.contains("news"))
    try shipping.user.repair("foods")
    #expect(try shipping.install("two", 2, .merge).formerVersion == 1)
  }

  @Test(arguments: InstallPolicy.allCases)
  func damagedUserTableIsIgnored(policy: InstallPolicy) throws {
    let shipping = try ShippingDisk.upgradable()
    _ = try shipping.disk.replace("/user/notes.plist", with: Array("rubbish".utf8))
    #expect(try shipping.install("two", 2, policy).tables.allSatisfy { $0.name != "notes" })
    #expect(try shipping.disk.read("/user/notes.plist").bytes == Array("rubbish".utf8))
  }
}
