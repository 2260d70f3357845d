import FileDB
import FileDBTables

/// The changes of a commit, in the form that `filedb.append` takes: a list of changes, and one list of all ids, each
/// with the place of its record in the payload.
struct RowChanges {
  private(set) var payload: [UInt8] = []
  private var verbs: [String] = []
  private var tables: [String] = []
  private var numbers: [UInt64] = []
  private var counts: [UInt64] = []
  private var ids: [UInt64] = []
  private var starts: [UInt64] = []
  private var lengths: [UInt64] = []
  /// The records of the last change, if it is a replacement.
  private var replaced: Set<AnyRecordID> = []

  init(_ commit: NewCommit) {
    var places: [Range<Int>] = []
    payload = commit.payload { places.append($0) }
    var rest = places[...]
    for change in commit.changes { add(change.change, of: change.table.text, &rest) }
  }

  /// At least the size of all parameters. An id with its place has up to 60 digits, and so has a change beside its verb
  /// and its table.
  var byteCount: Int {
    let names = (verbs + tables).reduce(0) { $0 + 2 * $1.utf8.count + 3 }
    return payload.count + 64 * (ids.count + verbs.count) + names
  }

  /// The values of the function's parameters.
  var values: [PostgresValue] {
    [
      .texts(verbs), .texts(tables), .numbers(numbers), .numbers(counts), .numbers(ids), .numbers(starts),
      .numbers(lengths),
    ]
  }

  private mutating func add(_ change: Change, of table: String, _ places: inout ArraySlice<Range<Int>>) {
    switch change {
    case .create: begin("create", table)
    case .drop: begin("drop", table)
    case .insert(let records, let index):
      if !goesOn("insert", table, at: index) { begin("insert", table, index) }
      for record in records { add(record.id, places.removeFirst()) }
    case .replace(let record):
      // The function looks up each record once.
      if !goesOn("replace", table) || replaced.contains(record.id) {
        begin("replace", table)
        replaced = []
      }
      replaced.insert(record.id)
      add(record.id, places.removeFirst())
    case .remove(let ids):
      if !goesOn("remove", table) { begin("remove", table) }
      for id in ids { add(id) }
    case .move(let id, let index):
      begin("move", table, index)
      add(id)
    case .reorder(let ids):
      begin("reorder", table)
      for id in ids { add(id) }
    case .removeAll: begin("removeAll", table)
    case .truncate: begin("truncate", table)
    case .raiseCounter(let counter): begin("counter", table, Int(counter))
    case .declare(nil): begin("noSchema", table)
    case .declare:
      begin("schema", table)
      add(UInt64(0), places.removeFirst())
    }
  }

  private mutating func begin(_ verb: String, _ table: String, _ number: Int = 0) {
    verbs.append(verb)
    tables.append(table)
    numbers.append(UInt64(number))
    counts.append(0)
  }

  /// Whether the last change is of this kind, so that this one can become part of it.
  private func goesOn(_ verb: String, _ table: String) -> Bool {
    guard verbs.last == verb, let last = tables.last else { return false }
    return TableKey(last) == TableKey(table)
  }

  /// Whether an insertion continues where the last one ended.
  private func goesOn(_ verb: String, _ table: String, at index: Int) -> Bool {
    guard goesOn(verb, table), let number = numbers.last, let count = counts.last else { return false }
    return number + count == UInt64(index)
  }

  private mutating func add(_ id: AnyRecordID, _ place: Range<Int>? = nil) {
    add(UInt64(id.rawValue), place)
  }

  private mutating func add(_ id: UInt64, _ place: Range<Int>?) {
    ids.append(id)
    // PostgreSQL counts bytes from 1.
    starts.append(UInt64((place?.lowerBound ?? -1) + 1))
    lengths.append(UInt64(place?.count ?? 0))
    counts[counts.count - 1] += 1
  }
}
