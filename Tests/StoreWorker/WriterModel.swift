import FileDB

/// A commit of a writer, in its own terms: it names its records by its keys, and changes no one else's. So what
/// becomes of its records, and in which order they stand among each other, does not depend on the other writers.
struct Commit: Codable {
  var sequence: Int
  var changes: [Change]

  /// `table` is a place in ``workTables``.
  enum Change: Codable {
    case add(table: Int, key: Int, length: Int, at: Place)
    case update(table: Int, key: Int, length: Int)
    case delete(table: Int, key: Int)
    case move(table: Int, key: Int, to: Place)
    case duplicate(table: Int, key: Int, of: Int, to: Place)

    var table: Int {
      switch self {
      case .add(let table, _, _, _), .update(let table, _, _), .delete(let table, _), .move(let table, _, _),
        .duplicate(let table, _, _, _):
        table
      }
    }
  }

  enum Place: Codable {
    case top, bottom
    case before(Int)
    case after(Int)
  }
}

/// What a store holds of one writer.
struct WriterModel {
  struct Entry {
    var key: Int
    var sequence: Int
    var length: Int
    /// `nil` until the store has said it.
    var id: RecordID<WorkRow>?
  }

  let name: String
  /// The last commit.
  private(set) var sequence = 0
  /// The writer's records in their order, for each of ``workTables``.
  private(set) var tables: [[Entry]] = workTables.map { _ in [] }

  init(name: String) { self.name = name }

  init(name: String, seenIn sighting: Sighting) {
    self.name = name
    tables = sighting.records(of: name).map { table in
      table.map { Entry(key: $0.row.key, sequence: $0.row.sequence, length: $0.row.length, id: $0.id) }
    }
    sequence = tables.joined().filter { $0.key == WorkRow.markKey }.map(\.sequence).max() ?? 0
  }

  mutating func apply(_ commit: Commit) {
    sequence = commit.sequence
    for change in commit.changes { apply(change) }
  }

  private mutating func apply(_ change: Commit.Change) {
    switch change {
    case .add(let table, let key, let length, let place):
      insert(Entry(key: key, sequence: sequence, length: length), into: table, at: place)
    case .update(let table, let key, let length):
      let row = row(of: key, in: table)
      tables[table][row].sequence = sequence
      tables[table][row].length = length
    case .delete(let table, let key):
      tables[table].remove(at: row(of: key, in: table))
    case .move(let table, let key, let place):
      insert(tables[table].remove(at: row(of: key, in: table)), into: table, at: place)
    case .duplicate(let table, let key, let original, let place):
      let length = tables[table][row(of: original, in: table)].length
      insert(Entry(key: key, sequence: sequence, length: length), into: table, at: place)
    }
  }

  private mutating func insert(_ entry: Entry, into table: Int, at place: Commit.Place) {
    switch place {
    case .top: tables[table].insert(entry, at: 0)
    case .bottom: tables[table].append(entry)
    case .before(let key): tables[table].insert(entry, at: row(of: key, in: table))
    case .after(let key): tables[table].insert(entry, at: row(of: key, in: table) + 1)
    }
  }

  private func row(of key: Int, in table: Int) -> Int {
    guard let row = tables[table].firstIndex(where: { $0.key == key }) else {
      preconditionFailure("\(name) planned to use \(key), which it does not have")
    }
    return row
  }

  func id(of key: Int, in table: Int) -> RecordID<WorkRow>? { tables[table].first { $0.key == key }?.id }

  mutating func set(_ id: RecordID<WorkRow>, of key: Int, in table: Int) {
    // A record that is added and deleted by one commit has an id all the same.
    guard let row = tables[table].firstIndex(where: { $0.key == key }) else { return }
    tables[table][row].id = id
  }

  /// - Throws: ``Fault`` if the store holds anything else of this writer; ids not known yet may be any.
  func compare(with sighting: Sighting) throws {
    for (table, seen) in sighting.records(of: name).enumerated() {
      let expected = tables[table]
      let place = "\(workTables[table].text), \(name) after commit \(sequence)"
      try require(
        seen.map(\.row.key) == expected.map(\.key),
        "\(place): records \(seen.map(\.row.key)), not \(expected.map(\.key))")
      for (found, entry) in zip(seen, expected) {
        let row = WorkRow(writer: name, key: entry.key, sequence: entry.sequence, length: entry.length)
        try require(found.row == row, "\(place): \(found.row), not \(row)")
        if let id = entry.id {
          try require(id == found.id, "\(place): \(entry.key) has id \(found.id), not \(id)")
        }
      }
    }
  }
}

extension WriterModel {
  /// Records in a table beyond which a writer adds no more: small tables make many commits.
  private static let size = 12

  /// Something this writer could do next.
  func plan(tables count: Int, using random: inout Random) -> Commit {
    var draft = self
    var changes: [Commit.Change] = []
    draft.sequence += 1
    for table in workTables.indices.shuffled(using: &random).prefix(count) {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // A number that no other commit of this writer uses.
        let key = draft.sequence * 16 + changes.count + 1
        let change = draft.someChange(of: table, newKey: key, using: &random)
        changes.append(change)
        draft.apply(change)
      }
      let hasMark = draft.tables[table].contains { $0.key == WorkRow.markKey }
      changes.append(
        hasMark
          ? .update(table: table, key: WorkRow.markKey, length: 0)
          : .add(table: table, key: WorkRow.markKey, length: 0, at: .bottom))
    }
    return Commit(sequence: draft.sequence, changes: changes)
  }

  private func someChange(of table: Int, newKey: Int, using random: inout Random) -> Commit.Change {
    let length = Int.random(in: 0..<(random.once(in: 12) ? 5_000 : 60), using: &random)
    let keys = tables[table].map(\.key)
    guard let key = keys.filter({ $0 != WorkRow.markKey }).randomElement(using: &random) else {
      return .add(table: table, key: newKey, length: length, at: .top)
    }
    switch Int.random(in: (keys.count > Self.size ? 5 : 0)..<12, using: &random) {
    case 0...2:
      return .add(table: table, key: newKey, length: length, at: somePlace(among: keys, using: &random))
    case 3...4:
      let place = random.once(in: 2) ? .after(key) : somePlace(among: keys, using: &random)
      return .duplicate(table: table, key: newKey, of: key, to: place)
    case 5...6: return .update(table: table, key: key, length: length)
    case 7...8: return .delete(table: table, key: key)
    default:
      return .move(
        table: table, key: key, to: somePlace(among: keys.filter { $0 != key }, using: &random))
    }
  }

  private func somePlace(among keys: [Int], using random: inout Random) -> Commit.Place {
    guard let key = keys.randomElement(using: &random) else { return .top }
    return [.top, .bottom, .before(key), .after(key)][Int.random(in: 0..<4, using: &random)]
  }
}
