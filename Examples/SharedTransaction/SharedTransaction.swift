import FileDB
import Foundation

// Two objects that do not know each other. Each has its own table in the same store. If you call both inside one
// `write`, all their changes are one transaction: the verbs join it automatically.

/// Keeps the money.
struct Ledger {
  struct Entry: Codable, Sendable {
    var text: String
    var cents: Int
  }

  let entries: RecordTable<Entry>

  init(in store: RecordStore) throws { entries = try store.table(TableName("ledger")) }

  func pay(_ cents: Int, for text: String) throws { try entries.add(Entry(text: text, cents: -cents)) }

  var balance: Int { get throws { try entries.snapshot().values().get().reduce(0) { $0 + $1.cents } } }
}

/// Keeps the goods.
struct Stock {
  struct OutOfStock: Error {
    var name: String
  }

  struct Item: Codable, Sendable {
    var name: String
    var count: Int
  }

  let items: RecordTable<Item>

  init(in store: RecordStore) throws { items = try store.table(TableName("stock")) }

  /// - Throws: ``OutOfStock``. It throws only after it has changed the table, to show that this is undone.
  func take(_ name: String) throws {
    for record in try items.snapshot() where try record.value.name == name {
      try items.update(record.id) { $0.count -= 1 }
      guard try items.value(of: record.id).count >= 0 else { throw OutOfStock(name: name) }
    }
  }

  var counts: [String: Int] {
    get throws {
      Dictionary(uniqueKeysWithValues: try items.snapshot().values().get().map { ($0.name, $0.count) })
    }
  }
}

@main
struct SharedTransaction {
  static func main() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try RecordStore(at: folder)
    let (ledger, stock) = (try Ledger(in: store), try Stock(in: store))
    try stock.items.add(Stock.Item(name: "lamp", count: 1))

    func buyLamp() throws {
      try store.write { _ in
        try ledger.pay(1_250, for: "lamp")
        try stock.take("lamp")
      }
    }

    try buyLamp()
    print("bought: balance \(try ledger.balance), stock \(try stock.counts)")
    do {
      try buyLamp()
    } catch let error as Stock.OutOfStock {
      print(
        "no \(error.name) left, and neither table changed: balance \(try ledger.balance), stock \(try stock.counts)"
      )
    }
    let reopened = try RecordStore(at: folder)
    print("reopened: balance \(try Ledger(in: reopened).balance), stock \(try Stock(in: reopened).counts)")
  }
}
