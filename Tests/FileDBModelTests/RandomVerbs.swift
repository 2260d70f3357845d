import FileDB
import TestSupport

/// Tells a store and plain tables the same random things, and says where they differ.
struct RandomVerbs {
  /// `number` is always an integer, for sorting.
  private static let fields = ["a", "b", "number", "\u{e9}"]
  /// The number of records beyond which a run only changes and deletes: small tables reach every corner sooner.
  private let size: Int
  /// What may be done to a table as a whole.
  private let wholeTableVerbs: [Verb]

  var random: SeededRandom
  var plain: [String: PlainTable]

  init(
    random: SeededRandom, tables: [String], size: Int, wholeTable: [Verb] = [.truncate, .deleteAll, .drop]
  ) {
    self.random = random
    self.size = size
    wholeTableVerbs = wholeTable
    plain = Dictionary(uniqueKeysWithValues: tables.map { ($0, PlainTable()) })
  }

  private struct Regret: Error {}

  /// Does some verbs to both, in a write that throws: nothing of it stays.
  mutating func stepAndRegret(in store: RecordStore, count: Int = 1) throws {
    let before = self
    do {
      try store.write { tx in
        // The store of a shared log may run this again, with newer tables.
        (plain, random) = (before.plain, before.random)
        for _ in 0..<count { try step(&tx) }
        throw Regret()
      }
    } catch is Regret {
      plain = before.plain
    }
  }

  /// Does one verb to both, inside a transaction.
  /// - Throws: ``BrokenInvariant`` if only one of them could do it, or with another outcome.
  mutating func step(_ tx: inout StoreTransaction) throws {
    let name = plain.keys.sorted().randomElement(using: &random)!
    let verb = someVerb(for: plain[name]!)
    let expected = plain[name]!.perform(verb)
    do {
      let ids = try tx[name].perform(verb)
      try same(ids, expected, "\(verb)")
    } catch let error as StoreError {
      try same(nil, expected, "\(verb), which threw \(error)")
    }
  }

  /// - Throws: ``BrokenInvariant`` if the store's tables are not the plain ones.
  func compare(with store: RecordStore) throws {
    for (name, model) in plain {
      let snapshot = try store.table(name).lastSnapshot
      try same(snapshot.exists, model.exists, "\(name) exists")
      try same(snapshot.counter, model.counter, "\(name)'s counter")
      try same(snapshot.ids.map(\.rawValue), model.records.map(\.id), "\(name)'s ids")
      for (stored, expected) in zip(snapshot, model.records) {
        try same(stored.fields, Fields(plain: expected.fields), "\(name)'s record \(expected.id)")
        try same(snapshot[id: stored.id]?.fields, stored.fields, "\(name)'s record \(expected.id) by its id")
      }
    }
  }
}

extension RandomVerbs {
  private mutating func someVerb(for table: PlainTable) -> Verb {
    let id = someID(of: table)
    switch Int.random(in: (table.records.count > size ? 6 : 0)..<22, using: &random) {
    case 0...2: return .add([someFields()], somePosition(of: table))
    case 3: return .add(manyFields(0..<8), somePosition(of: table))
    case 4: return .duplicate(id, somePosition(of: table))
    case 5:
      return .replaceAll(manyFields(0..<4).map { (number(below: 2) == 0 ? nil : someID(of: table), $0) })
    case 6, 7: return .set(id, someFields())
    case 8, 9: return .update(id, someFields())
    case 10: return .unset(id, Self.fields.randomElement(using: &random)!)
    case 11: return .delete(id)
    case 12: return .deleteMany((1...(1 + number(below: 4))).map { _ in someID(of: table) })
    case 13...15: return .move(id, somePosition(of: table))
    case 16: return .moveIndex(from: number(below: size + 3) - 1, to: number(below: size + 3) - 1)
    case 17, 18: return .sort("number", descending: number(below: 2) == 0)
    case 20: return .addWithID(id, someFields(), somePosition(of: table))
    case 21: return .upsert(id, someFields(), somePosition(of: table))
    default:
      return number(below: 4) == 0 ? wholeTableVerbs[number(below: wholeTableVerbs.count)] : .delete(id)
    }
  }

  private mutating func number(below bound: Int) -> Int { .random(in: 0..<bound, using: &random) }

  private mutating func manyFields(_ counts: Range<Int>) -> [PlainFields] {
    (0..<Int.random(in: counts, using: &random)).map { _ in someFields() }
  }

  private mutating func someFields() -> PlainFields {
    var result: PlainFields = [:]
    for field in Self.fields where number(below: 2) == 0 {
      let isText = field != "number" && number(below: 3) == 0
      result[field] = isText ? .string("<&\r\n>") : .integer(Int64(number(below: 10)))
    }
    return result
  }

  /// Most often an id that is there.
  private mutating func someID(of table: PlainTable) -> Int64 {
    if number(below: 12) > 0, let record = table.records.randomElement(using: &random) { return record.id }
    return .random(in: 0...(table.counter + 2), using: &random)
  }

  private mutating func somePosition(of table: PlainTable) -> Position<Fields> {
    switch number(below: 5) {
    case 0: .top
    case 1: .bottom
    case 2: .index(number(below: table.records.count + 3) - 1)
    case 3: .before(RecordID<Fields>(rawValue: someID(of: table))!)
    default: .after(RecordID<Fields>(rawValue: someID(of: table))!)
    }
  }
}

private func same<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
  if found != expected { throw BrokenInvariant(description: "\(what): \(found), not \(expected)") }
}
