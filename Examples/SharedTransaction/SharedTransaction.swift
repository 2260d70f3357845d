import FileDB
import Foundation

// Two objects that know nothing of each other, each with a table of its own in one store. Whoever calls both inside one
// `write` has one transaction: the verbs join it by themselves.

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

  /// - Throws: ``OutOfStock``, on purpose after it has changed the table.
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
        "no \(error.name) left, and nothing happened to either: balance \(try ledger.balance), stock \(try stock.counts)"
      )
    }
    let anew = try RecordStore(at: folder)
    print("read anew: balance \(try Ledger(in: anew).balance), stock \(try Stock(in: anew).counts)")
  }
}
