import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// The attached store changes while a transaction runs.
@Suite struct AttachedRefreshTests {
  private static let options = StoreOptions(checkpoints: .manual)

  private static func shipped(on disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(at: URL(fileURLWithPath: "/shipped"), disk: disk, options: options)
  }

  private static func attaching(on disk: MemoryDisk) throws -> RecordStore {
    let view = AttachedTables(over: try AttachedStore(shipped(on: disk), as: "main"))
    let user = URL(fileURLWithPath: "/user")
    return try RecordStore(at: user, disk: StoreDisk(disk), seen: view, options: options)
  }

  private static func ship(_ name: String, on disk: MemoryDisk) throws {
    let store = try shipped(on: disk)
    try store.table("foods").set(["name": .string(name)], of: 1)
    try store.checkpoint()
  }

  private func names(_ table: RecordTable<Fields>) -> [String?] {
    table.lastSnapshot.map { $0["name"]?.string }
  }

  @Test func refreshDuringWriteShowsNewShippedRecords() throws {
    let disk = MemoryDisk()
    try Self.shipped(on: disk).table("foods").add(["name": "Apple"])
    try Self.ship("Apple", on: disk)
    let store = try Self.attaching(on: disk)
    let foods = try store.table("foods")
    try foods.add(["name": "Tea"])
    try store.write { tx in
      try tx[foods.name].add(["name": "Soup"])
      try Self.ship("Pear", on: disk)
      try startThread("a refresh on another thread") { try? store.refresh() }.wait()
    }
    try store.refresh()
    #expect(names(foods) == ["Pear", "Tea", "Soup"])
    #expect(try names(store.table("main.foods")) == ["Pear"])
    #expect(try names(Self.attaching(on: disk).table("foods")) == ["Pear", "Tea", "Soup"])
    try store.checkInvariants()
  }
}
