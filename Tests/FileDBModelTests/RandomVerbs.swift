import FileDB
import TestSupport

/// Does the same random thing to a table of a store and to a plain one, and says how they differ.
struct RandomVerbs {
  private static let fields = ["a", "b", "c", "\u{e9}"]
  /// Rows beyond which a run deletes more than it adds: small tables reach every corner sooner.
  private let size: Int

  var random: SeededRandom
  var plain: [String: PlainTable]

  init(random: SeededRandom, tables: [String], size: Int) {
    self.random = random
    self.size = size
    plain = Dictionary(uniqueKeysWithValues: tables.map { ($0, PlainTable()) })
  }

  private mutating func chance(_ one: Int, in all: Int) -> Bool {
    Int.random(in: 0..<all, using: &random) < one
  }

  private mutating func someFields() -> [String: PlistValue] {
    var result: [String: PlistValue] = [:]
    for field in Self.fields where chance(1, in: 2) {
      result[field] = chance(1, in: 4) ? .string("<&\r\n>") : .integer(.random(in: 0..<10, using: &random))
    }
    return result
  }

  /// Most often an id that is there.
  private mutating func someID(of table: PlainTable) -> Int64 {
    if !chance(1, in: 12), let row = table.rows.randomElement(using: &random) { return row.id }
    return .random(in: 0...(table.counter + 2), using: &random)
  }

  private mutating func somePosition(of table: PlainTable) -> Position {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .top
    case 1: .bottom
    case 2: .row(.random(in: -1...(table.rows.count + 1), using: &random))
    case 3: .before(RecordID(rawValue: someID(of: table))!)
    default: .after(RecordID(rawValue: someID(of: table))!)
    }
  }

  /// Does one verb to both, inside a transaction.
  /// - Throws: ``BrokenInvariant`` where only one of them could do it.
  mutating func step(_ tx: inout StoreTransaction) throws {
    let name = plain.keys.sorted().randomElement(using: &random)!
    var model = plain[name]!
    let table = TableName<Record>(name)
    let modelDid: Bool
    let verb: (inout StoreTransaction) throws -> Void
    let id = someID(of: model)
    let recordID = RecordID(rawValue: id)!
    let verbs = model.rows.count > size ? 9..<20 : 0..<20
    let kind = Int.random(in: verbs, using: &random)
    switch kind {
    case 0...4:
      let (rows, position) = ((0..<[1, 1, 1, 2, 7][kind]).map { _ in someFields() }, somePosition(of: model))
      let ids = model.add(rows, at: position)
      modelDid = ids != nil
      verb = { tx in
        let new = try tx.add(contentsOf: rows.map(Record.init(plain:)), to: table, at: position)
        try same(new.map(\.rawValue), ids ?? [], "ids of \(kind)")
      }
    case 5:
      let position = somePosition(of: model)
      var ids: [Int64]?
      if let index = model.index(id) { ids = model.add([model.rows[index].fields], at: position) }
      modelDid = ids != nil
      verb = { tx in
        try same(tx.duplicate(recordID, in: table, to: position).rawValue, ids?[0] ?? -1, "duplicate")
      }
    case 6:
      let rows = (0..<3).map { _ in someFields() }
      let keptIDs = Array(Set([someID(of: model), someID(of: model)])).sorted()
      let counter = max(model.counter, keptIDs.last!)
      model.exists = true
      model.rows = zip(keptIDs, rows).map { PlainTable.Row(id: $0, fields: $1) }
      model.rows.append(PlainTable.Row(id: counter + 1, fields: rows[2]))
      model.counter = counter + 1
      modelDid = true
      let given = zip(keptIDs, rows).map { IdentifiedRow(Record(plain: $1), id: RecordID(rawValue: $0)) }
      verb = { tx in try tx.replaceAll(in: table, with: given + [IdentifiedRow(Record(plain: rows[2]))]) }
    case 7...9:
      let changes = someFields()
      modelDid = model.index(id) != nil
      if let index = model.index(id) { model.rows[index].fields.merge(changes) { $1 } }
      verb = { tx in
        if kind == 7 {
          try tx.set(Record(plain: changes), of: recordID, in: table)
        } else {
          try tx.update(recordID, in: table) { record in for (key, value) in changes { record[key] = value } }
        }
      }
    case 10:
      let gone = Self.fields.randomElement(using: &random)!
      modelDid = model.index(id) != nil
      if let index = model.index(id) { model.rows[index].fields[gone] = nil }
      verb = { tx in try tx.unset([gone], of: recordID, in: table) }
    case 11...13:
      let ids = kind == 11 ? [id] : (0..<Int.random(in: 0..<6, using: &random)).map { _ in someID(of: model) }
      modelDid = model.exists && model.delete(ids) || ids.isEmpty
      verb = { tx in try tx.delete(ids.map { RecordID(rawValue: $0)! }, in: table) }
    case 14...15:
      let position = somePosition(of: model)
      // A moved record leaves its place first: the last row is one less than for a new one.
      modelDid = model.move(id, to: position)
      verb = { tx in try tx.move(recordID, in: table, to: position) }
    case 16:
      let (from, to) = (Int.random(in: -1...20, using: &random), Int.random(in: -1...20, using: &random))
      modelDid = model.rows.indices.contains(from) && model.rows.indices.contains(to)
      if modelDid { model.rows.insert(model.rows.remove(at: from), at: to) }
      verb = { tx in try tx.move(fromRow: from, toRow: to, in: table) }
    case 17:
      let (field, descending) = ("number", chance(1, in: 2))
      modelDid = model.exists
      for index in model.rows.indices { model.rows[index].fields[field] = .integer(model.rows[index].id % 3) }
      model.sort(by: field, descending: descending)
      let ids = model.exists ? model.rows.map(\.id) : []
      verb = { tx in
        for id in ids { try tx.set([field: .integer(id % 3)], of: RecordID(rawValue: id)!, in: table) }
        try tx.sort(table, by: [descending ? .descending(field) : .ascending(field)])
      }
    case 18:
      modelDid = model.exists
      model.rows = []
      if chance(1, in: 2) {
        model.counter = 0
        verb = { tx in try tx.truncate(table) }
      } else {
        verb = { tx in try tx.deleteAll(in: table) }
      }
    default:
      modelDid = model.exists
      if chance(1, in: 3) {
        model = PlainTable()
        verb = { tx in try tx.drop(table) }
      } else {
        verb = { tx in
          guard try tx.snapshot(of: table).exists else {
            throw StoreError(StoreError.tableNotFound, "as the model")
          }
        }
      }
    }
    do {
      try verb(&tx)
      try same(true, modelDid, "verb \(kind) worked in the store")
    } catch let error as StoreError {
      try same(false, modelDid, "verb \(kind): \(error)")
    }
    plain[name] = model
  }

  /// - Throws: ``BrokenInvariant`` where the store's tables are not the plain ones.
  func compare(with store: RecordStore) throws {
    for (name, model) in plain {
      let snapshot = try store.table(name).snapshot
      try same(snapshot.exists, model.exists, "\(name) exists")
      try same(snapshot.counter, model.counter, "\(name)'s counter")
      try same(snapshot.ids.map(\.rawValue), model.rows.map(\.id), "\(name)'s ids")
      for (stored, row) in zip(snapshot, model.rows) {
        try same(stored.record, Record(plain: row.fields), "\(name)'s record \(row.id)")
        try same(snapshot[id: stored.id]?.record, stored.record, "\(name)'s record \(row.id) by its id")
      }
    }
  }
}

extension Record {
  init(plain: [String: PlistValue]) {
    self.init()
    for (field, value) in plain { self[field] = value }
  }
}

private func same<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
  if found != expected { throw BrokenInvariant(description: "\(what): \(found), not \(expected)") }
}
