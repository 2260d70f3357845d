import FileDB
import Foundation

// An app ships its data, its user changes it, and the app's next version ships other data. This program plays both the
// app's author and its user, in a folder that it removes at the end.

@main
struct Upgrade {
  static func main() throws {
    guard CommandLine.arguments.count == 1 else {
      FileHandle.standardError.write(Data("usage: Upgrade\n".utf8))
      exit(64)
    }
    let home = FileManager.default.temporaryDirectory.appendingPathComponent("upgrade-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    let user = home.appendingPathComponent("user")
    let first = FoodApp(bundle: home.appendingPathComponent("app 1"), version: 1, userFolder: user)
    let second = FoodApp(bundle: home.appendingPathComponent("app 2"), version: 2, userFolder: user)
    try ship(in: first.bundle) { _ in }
    try ship(in: second.bundle, improve)

    try show(try first.start())
    try edit(first.start())
    try show(try second.start())
    _ = try second.start()

    do { _ = try first.start() } catch StoreError.Code.olderThanInstalled {
      print("version 1 is older than the installed one")
    }

    // An app does this if its user should not change the data.
    let third = FoodApp(bundle: second.bundle, version: 3, userFolder: user)
    try show(try third.start(.replace))
  }

  /// Creates the store that ships with a version of the app.
  private static func ship(in folder: URL, _ improve: (inout StoreTransaction) throws -> Void) throws {
    let store = try RecordStore(at: folder)
    try store.write { tx in
      for (name, kcal) in [("Milk", 64), ("Bread", 265), ("Butter", 717)] {
        try tx[.foods].add(Food(name: name, kcal: kcal))
      }
      try improve(&tx)
    }
    try store.close()
  }

  private static func improve(_ tx: inout StoreTransaction) throws {
    try tx[.foods].update(1) { $0.kcal = 61 }
    try tx[.foods].update(2) { $0 = Food(name: "White bread", kcal: 266) }
    try tx[.foods].update(3) { $0.kcal = 744 }
    try tx[.foods].add(Food(name: "Quince", kcal: 57))
  }

  private static func edit(_ foods: RecordTable<Food>) throws {
    try foods.store.write { tx in
      try tx[.foods].update(2) { $0.name = "Grandma's bread" }
      try tx[.foods].delete(3)
      try tx[.foods].add(Food(name: "My cake", kcal: 400), at: .top)
    }
    print("the user renames the bread, deletes the butter and adds a cake")
  }

  private static func show(_ foods: RecordTable<Food>) throws {
    for record in try foods.snapshot() {
      print("  \(record.id)", (try? record.value).map { "\($0.name), \($0.kcal) kcal" } ?? "?")
    }
  }
}
