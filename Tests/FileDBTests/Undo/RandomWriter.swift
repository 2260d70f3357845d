import FileDB
import TestSupport

/// Writes at random.
struct RandomWriter {
  static let tables = ["a", "b"]
  var random: SeededRandom

  mutating func write(_ tx: inout StoreTransaction) throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) { try verb(&tx) }
  }

  private mutating func verb(_ tx: inout StoreTransaction) throws {
    let table = TableName<Fields>.records(Self.tables.randomElement(using: &random) ?? "a")
    let snapshot = try tx[table].snapshot()
    let position: Position<Fields> = .index(.random(in: 0...snapshot.count, using: &random))
    guard let id = snapshot.ids.randomElement(using: &random) else {
      try tx[table].add(contentsOf: (0..<12).map { _ in someFields() })
      return
    }
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<6: try tx[table].add(contentsOf: (0...2).map { _ in someFields() }, at: position)
    case 6..<10: try tx[table].set(someFields(), of: id)
    case 10..<15:
      try tx[table].move(
        id, to: snapshot.count > 1 ? .index(.random(in: 0..<snapshot.count, using: &random)) : .top)
    case 15..<20: try tx[table].delete(id)
    case 20: try tx[table].sort(by: [.descending("n")])
    case 21: try tx[table].deleteAll()
    case 22: try tx[table].truncate()
    default: try tx[table].drop()
    }
  }

  private mutating func someFields() -> Fields {
    var record: Fields = ["n": .integer(.random(in: 0..<20, using: &random))]
    if Bool.random(using: &random) {
      record["text"] = .string("text \(Int.random(in: 0..<5, using: &random))")
    }
    return record
  }
}
