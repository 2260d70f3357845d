import Foundation

/// The original's algorithm, call by call: each of its small functions reads the whole property list, and each that
/// changes something writes all of it.
final class WgFileDbPeer: Peer {
  static let name = "wgFileDb's algorithm"

  private let sample: Sample
  private lazy var edited = Result {
    try EditedTable(
      WgFileDbEditor(WgFileDatabase(file: sample.copy(in: "wgFileDb"))), records: sample.records)
  }

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    // It knows no place but the top and the bottom, and no transactions.
    case .edit(.middle, _), .edit(_, .transaction), .edit(_, .memory): 0
    case .open, .record, .page, .edit: 10_000
    default: 0
    }
  }

  func prepare(_ workload: Workload) throws -> Run? {
    let database = WgFileDatabase(file: sample.file)
    switch workload {
    case .open: return { [self] in try openOnce(database) }
    case .record:
      return { [sample] in try sample.readRecords { id in Entry(try database.item(id))?.amount } }
    case .page:
      return { [sample] in
        try sample.readPages { row in
          try database.items().dropFirst(row).prefix(Workload.pageLength).compactMap(Entry.init)
        }
      }
    case .edit: return try edited.get().prepare(workload)
    default: return nil
    }
  }

  private func openOnce(_ database: WgFileDatabase) throws -> Double {
    try seconds(
      of: { (try database.items().count, try database.items().first) },
      check: { try sample.checkOpening($0.0, $0.1?["title"] as? String) })
  }
}

/// wgFileDb of 2010, with its calls under Swift's names.
private struct WgFileDatabase {
  typealias Item = [String: Any]

  let file: URL

  func items() throws -> [Item] { try WgFileDatabase.items(PropertyListFile.read(file)) }

  private static func items(_ root: Item) throws -> [Item] {
    guard let items = root["data"] as? [Item] else { throw WrongResult("no records") }
    return items
  }

  func row(of id: Int) throws -> Int {
    let index = try PropertyListFile.read(file)["index"] as? [String: String]
    guard let row = index?[String(id)].flatMap({ Int($0) }) else { throw WrongResult("no record \(id)") }
    return row
  }

  func item(_ id: Int) throws -> Item {
    let items = try items()
    return items[try row(of: id)]
  }

  private func counter() throws -> Int {
    (try PropertyListFile.read(file)["autoincrement"] as? String).flatMap { Int($0) } ?? 0
  }

  private func increaseCounter() throws -> Int {
    var root = try PropertyListFile.read(file)
    let next = try counter() + 1
    root["autoincrement"] = String(next)
    try PropertyListFile.write(root, to: file)
    return next
  }

  private func save(_ items: [Item]) throws {
    var root = try PropertyListFile.read(file)
    root["data"] = items
    try PropertyListFile.write(root, to: file)
    try reloadIndex()
  }

  private func reloadIndex() throws {
    var root = try PropertyListFile.read(file)
    var index: [String: String] = [:]
    for (row, item) in try WgFileDatabase.items(root).enumerated() { index[item.id] = String(row) }
    root["index"] = index
    try PropertyListFile.write(root, to: file)
  }

  func add(_ item: Item, onTop: Bool) throws -> Int {
    var items = try items()
    let id = try increaseCounter()
    var item = item
    item["wgFileDbSecretId"] = String(id)
    items.insert(item, at: onTop ? 0 : items.count)
    try save(items)
    return id
  }

  /// The original takes the rows from the list on the screen; here they are looked up in the records it has just read.
  func move(_ id: Int, after other: Int) throws {
    var items = try items()
    guard let row = items.firstIndex(where: { $0.id == String(id) }) else {
      throw WrongResult("no record \(id)")
    }
    let item = items.remove(at: row)
    guard let above = items.firstIndex(where: { $0.id == String(other) }) else {
      throw WrongResult("no record \(other)")
    }
    items.insert(item, at: above + 1)
    try save(items)
  }

  func update(_ id: Int, with item: Item) throws {
    try save(try items().map { $0.id == String(id) ? item : $0 })
  }

  func delete(_ id: Int) throws {
    var items = try items()
    items.remove(at: try row(of: id))
    try save(items)
  }
}

extension [String: Any] {
  fileprivate var id: String { self["wgFileDbSecretId"] as? String ?? "" }
}

extension Entry {
  /// Foundation hands out every number as one that may be asked for any type.
  fileprivate init?(_ item: [String: Any]) {
    guard let title = item["title"] as? String, let note = item["note"] as? String,
      let amount = item["amount"] as? Int, let price = item["price"] as? Double,
      let due = item["due"] as? Date, let isDone = item["isDone"] as? Bool
    else { return nil }
    self.init(title: title, note: note, amount: amount, price: price, due: due, isDone: isDone)
  }

  fileprivate var item: [String: Any] {
    ["title": title, "note": note, "amount": amount, "price": price, "due": due, "isDone": isDone]
  }
}

private final class WgFileDbEditor: Editor {
  private let database: WgFileDatabase

  init(_ database: WgFileDatabase) { self.database = database }

  var hasTransactions: Bool { false }

  func commit(_ edits: [Edit], _ log: EditLog) throws { try log.run(edits, perform) }

  func transact(_ edits: [Edit], _ log: EditLog) throws { try commit(edits, log) }

  private func perform(_ edit: Edit) throws -> Int {
    switch edit {
    case .add(let entry, .top): return try database.add(entry.item, onTop: true)
    case .add(let entry, .bottom): return try database.add(entry.item, onTop: false)
    case .add(_, .after): throw WrongResult("a place that it does not know")
    case .move(let id, let other):
      try database.move(id, after: other)
      return id
    case .update(let id, let amount):
      var item = try database.item(id)
      item["amount"] = amount
      try database.update(id, with: item)
      return id
    case .delete(let id):
      try database.delete(id)
      return id
    }
  }

  func count() throws -> Int { try database.items().count }

  func entry(_ id: Int) throws -> Entry? {
    try database.items().first { $0.id == String(id) }.flatMap(Entry.init)
  }

  func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
    let ids = try database.items().map(\.id)
    guard let row = ids.firstIndex(of: String(id)) else { throw WrongResult("no record \(id)") }
    return (row > 0 ? Int(ids[row - 1]) : nil, row < ids.count - 1 ? Int(ids[row + 1]) : nil)
  }
}
