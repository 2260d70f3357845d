import FileDB
import FileDBStorage
import Foundation
import TestSupport

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
        let state = try former.table(table).lastSnapshot
        try shipped.write { tx in
          try tx[table].replaceAll(
            identified: state.map { IdentifiedValue($0.fields, id: $0.id) })
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
    try user.table(table).lastSnapshot.map { "\($0.id) \($0.fields["title"]?.string ?? "-")" }
  }

  func check() throws {
    try user.checkInvariants()
    try user.checkNothingIsLeftBehind()
  }
}

extension ShippingDisk {
  /// Version 1 is installed, and the user has changed things since; `two` waits to be installed.
  static func upgradable() throws -> ShippingDisk { ShippingDisk(MemoryDisk(try upgradableImage())) }

  static func upgradableImage() throws -> DiskImage { try image.get() }

  private static let image = Result { try makeUpgradable() }

  private static func makeUpgradable() throws -> DiskImage {
    let disk = MemoryDisk()
    let shipping = ShippingDisk(disk)
    try shipping.ship("one") { tx in
      try tx["foods"].add(contentsOf: ["Milk", "Bread", "Salt"].map { ["title": .string($0)] })
      try tx["tips"].add(["title": "Old"])
      try tx["empty"].create()
    }
    try shipping.ship("two", like: "one") { tx in
      try tx["foods"].set(["unit": "g"], of: 3)
      try tx["foods"].set(["title": "White bread"], of: 2)
      try tx["foods"].add(["title": "Quince"], at: .top)
      try tx["news"].add(["title": "New"])
      try tx["tips"].drop()
    }
    try shipping.install("one", 1, .merge)
    let user = try shipping.user
    try user.write { tx in
      try tx["foods"].set(["title": "Sea salt"], of: 3)
      try tx["foods"].add(["title": "My own"])
      try tx["foods"].move(1, to: .bottom)
      try tx["notes"].add(["title": "Mine"])
    }
    try user.checkpoint()
    return disk.image
  }
}
