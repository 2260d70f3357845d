import FileDB
import TestSupport

typealias PlainFields = [String: PlistValue]

/// A verb and what it is to be done with, so that a store and a plain table can be told the same.
enum Verb {
  case add([PlainFields], Position<Fields>)
  case addWithID(Int64, PlainFields, Position<Fields>)
  case upsert(Int64, PlainFields, Position<Fields>)
  case duplicate(Int64, Position<Fields>)
  case replaceAll([(id: Int64?, fields: PlainFields)])
  case set(Int64, PlainFields)
  case update(Int64, PlainFields)
  case unset(Int64, String)
  case delete(Int64)
  case deleteMany([Int64])
  case move(Int64, Position<Fields>)
  case moveIndex(from: Int, to: Int)
  case sort(String, descending: Bool)
  case deleteAll
  case truncate
  case drop
}

extension PlainTable {
  /// Does `verb`, and returns the new ids; `nil` if it cannot be done, and then nothing is.
  mutating func perform(_ verb: Verb) -> [Int64]? {
    switch verb {
    case .add(let records, let position): return add(records, at: position)
    case .addWithID(let id, let fields, let position):
      guard index(id) == nil else { return nil }
      return add(fields, id: id, at: position)
    case .upsert(let id, let fields, let position):
      guard let index = index(id) else { return add(fields, id: id, at: position) }
      records[index].fields = fields
    case .duplicate(let id, let position):
      guard let index = index(id) else { return nil }
      return add([records[index].fields], at: position)
    case .replaceAll(let records): return replaceAll(records)
    case .set(let id, let fields), .update(let id, let fields):
      guard let index = index(id) else { return nil }
      records[index].fields.merge(fields) { $1 }
    case .unset(let id, let field):
      guard let index = index(id) else { return nil }
      records[index].fields[field] = nil
    case .delete(let id): return delete([id]) ? [] : nil
    case .deleteMany(let ids): return delete(ids) ? [] : nil
    case .move(let id, let position): return move(id, to: position) ? [] : nil
    case .moveIndex(let from, let to):
      guard records.indices.contains(from), records.indices.contains(to) else { return nil }
      records.insert(records.remove(at: from), at: to)
    case .sort, .deleteAll: return exists ? performOnTable(verb) : []
    case .truncate, .drop: return exists ? performOnTable(verb) : nil
    }
    return []
  }

  private mutating func performOnTable(_ verb: Verb) -> [Int64] {
    switch verb {
    case .sort(let field, let descending): sort(by: field, descending: descending)
    case .truncate:
      records = []
      counter = 0
    case .drop: self = PlainTable(counter: counter)
    default: records = []
    }
    return []
  }
}

extension RecordTable<Fields> {
  /// Does `verb`, and returns the new ids.
  func perform(_ verb: Verb) throws -> [Int64] {
    func id(_ number: Int64) -> RecordID<Fields> { RecordID<Fields>(rawValue: number)! }
    switch verb {
    case .add(let records, let position):
      return try add(contentsOf: records.map(Fields.init(plain:)), at: position).map(\.rawValue)
    case .addWithID(let number, let fields, let position):
      try add(Fields(plain: fields), id: id(number), at: position)
    case .upsert(let number, let fields, let position):
      try upsert(Fields(plain: fields), id: id(number), at: position)
    case .duplicate(let number, let position): return [try duplicate(id(number), to: position).rawValue]
    case .replaceAll(let records):
      let records = records.map { IdentifiedValue(Fields(plain: $0.fields), id: $0.id.map(id)) }
      return try replaceAll(identified: records).map(\.rawValue)
    case .set(let number, let fields): try set(Fields(plain: fields), of: id(number))
    case .update(let number, let fields):
      try update(id(number)) { record in for (key, value) in fields { record[key] = value } }
    case .unset(let number, let field): try unset([field], of: id(number))
    case .delete(let number): try delete(id(number))
    case .deleteMany(let numbers): try delete(numbers.map(id))
    case .move(let number, let position): try move(id(number), to: position)
    case .moveIndex(let from, let to): try move(fromIndex: from, toIndex: to)
    case .sort(let field, let descending): try sort(by: [descending ? .descending(field) : .ascending(field)])
    case .deleteAll: try deleteAll()
    case .truncate: try truncate()
    case .drop: try drop()
    }
    return []
  }
}

extension Fields {
  init(plain: PlainFields) {
    self.init()
    for (field, value) in plain { self[field] = value }
  }
}
