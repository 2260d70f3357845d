import FileDB
import FileDBEssentials
import Synchronization

/// The filter and the order of a list of records.
struct ListQuery: Hashable, Sendable, Decodable {
  private(set) var condition: String?
  private(set) var words: String?
  private(set) var order: String?
  /// The time zone of the person who asks. Dates in the condition and among the words are in it.
  private var zone: String?

  private enum CodingKeys: String, CodingKey {
    case condition = "where"
    case words = "search"
    case order = "sort"
    case zone
  }

  init(_ request: Request) {
    (condition, words, order) = (request["where"], request["search"], request["sort"])
    zone = request["zone"]
    leaveOutEmptyParts()
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    condition = try container.decodeIfPresent(String.self, forKey: .condition)
    words = try container.decodeIfPresent(String.self, forKey: .words)
    order = try container.decodeIfPresent(String.self, forKey: .order)
    zone = try container.decodeIfPresent(String.self, forKey: .zone)
    leaveOutEmptyParts()
  }

  private mutating func leaveOutEmptyParts() {
    if condition?.allSatisfy(\.isWhitespace) == true { condition = nil }
    if words?.allSatisfy(\.isWhitespace) == true { words = nil }
    if order?.isEmpty == true { order = nil }
  }

  var isWhole: Bool { condition == nil && words == nil && order == nil }

  /// - Throws: ``RequestError`` if the system does not know the zone.
  var timeZone: TimeZone {
    get throws {
      guard let zone else { return .gmt }
      guard let known = TimeZone(identifier: zone) else {
        throw RequestError.malformed("'\(zone)' is not a time zone.")
      }
      return known
    }
  }
}

/// The records of a table that a query returns.
struct RecordList: Sendable {
  private let snapshot: TableSnapshot<Fields>
  /// The ids in order; `nil` for all records in the table's order.
  private let ids: [RecordID<Fields>]?

  init(_ snapshot: TableSnapshot<Fields>, _ ids: [RecordID<Fields>]?) {
    (self.snapshot, self.ids) = (snapshot, ids)
  }

  var count: Int { ids?.count ?? snapshot.count }

  func records(from start: Int, count: Int) -> [StoredRecord<Fields>] {
    let places = min(start, self.count)..<min(start + count, self.count)
    return places.map { self[$0] }
  }

  subscript(place: Int) -> StoredRecord<Fields> {
    guard let ids else { return snapshot[place] }
    guard let record = snapshot[id: ids[place]] else { preconditionFailure("a list is of its own snapshot") }
    return record
  }

  /// Those of the records that the list has.
  func present(_ asked: [RecordID<Fields>]) -> [RecordID<Fields>] {
    guard let ids else { return asked.filter { snapshot.index(of: $0) != nil } }
    let listed = Set(ids)
    return asked.filter(listed.contains)
  }

  func place(of id: RecordID<Fields>) -> Int? {
    guard let ids else { return snapshot.index(of: id) }
    return ids.firstIndex(of: id)
  }
}

/// The lists that pages show. A filtered or sorted list is made once for each version of its table, and kept as long as
/// there is space.
final class RecordLists: Sendable {
  private struct Key: Hashable {
    let table: String
    let version: String
    let query: ListQuery
  }

  private struct Kept {
    var ids: [Key: [RecordID<Fields>]] = [:]
    /// The list that was used last is at the end.
    var order: [Key] = []
  }

  /// The number of ids in all lists together. Each takes 8 bytes.
  private static let mostIDs = 4_000_000
  private let kept = Mutex(Kept())
  /// Pages ask for several parts of a list at once. One request makes the list, and the others wait.
  private let making = Mutex(())

  /// - Throws: ``StoreError/Code/invalidPredicate``, and the errors of the predicate.
  func list(_ table: WatchedTable, _ query: ListQuery) throws -> RecordList {
    if query.isWhole { return RecordList(table.snapshot, nil) }
    let key = Key(table: table.snapshot.table, version: table.version, query: query)
    if let ids = find(key) { return RecordList(table.snapshot, ids) }
    return try making.withLock { _ in
      if let ids = find(key) { return RecordList(table.snapshot, ids) }
      let ids = try query.ids(of: table.snapshot)
      keep(ids, as: key)
      return RecordList(table.snapshot, ids)
    }
  }

  private func find(_ key: Key) -> [RecordID<Fields>]? {
    kept.withLock { kept in
      guard let ids = kept.ids[key] else { return nil }
      kept.order.removeAll { $0 == key }
      kept.order.append(key)
      return ids
    }
  }

  private func keep(_ ids: [RecordID<Fields>], as key: Key) {
    kept.withLock { kept in
      // Nobody asks for an earlier version again.
      for old in kept.order where old.table == key.table && old.version != key.version { kept.ids[old] = nil }
      kept.ids[key] = ids
      kept.order.append(key)
      kept.order.removeAll { kept.ids[$0] == nil }
      var total = kept.ids.values.reduce(0) { $0 + $1.count }
      while total > Self.mostIDs, let oldest = kept.order.first, oldest != key {
        total -= kept.ids.removeValue(forKey: oldest)?.count ?? 0
        kept.order.removeFirst()
      }
    }
  }
}

extension ListQuery {
  fileprivate func ids(of snapshot: TableSnapshot<Fields>) throws -> [RecordID<Fields>] {
    let zone = try timeZone
    var ids = try condition.map { try snapshot.matches(where: RecordPredicate($0, in: zone)).ids }
    if let words {
      let found = WordSearch(words, in: zone).ids(of: snapshot)
      ids = ids.map { narrow(found, to: $0) } ?? found
    }
    if let keys = try order.map(SortKey.keys) {
      let sorted = try snapshot.sorted(by: keys).map(\.id)
      ids = ids.map { narrow(sorted, to: $0) } ?? sorted
    }
    return ids ?? snapshot.ids
  }

  private func narrow(_ ids: [RecordID<Fields>], to others: [RecordID<Fields>]) -> [RecordID<Fields>] {
    let others = Set(others)
    return ids.filter(others.contains)
  }
}

extension SortKey {
  /// The sort keys in a text like `name,-year`. A comma in a name is written `\,`.
  static func keys(_ text: String) throws -> [SortKey] {
    var names = [""]
    var characters = text.makeIterator()
    while let character = characters.next() {
      switch character {
      case ",": names.append("")
      case "\\": names[names.count - 1].append(characters.next().map(String.init) ?? "\\")
      default: names[names.count - 1].append(character)
      }
    }
    return try names.map { name in
      let isDescending = name.hasPrefix("-")
      let field = isDescending ? String(name.dropFirst()) : name
      guard !field.isEmpty else { throw RequestError.malformed("An order names fields, like name,-year.") }
      return isDescending ? .descending(field) : .ascending(field)
    }
  }
}
