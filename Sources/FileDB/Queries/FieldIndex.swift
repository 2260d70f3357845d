import Synchronization

/// The ids of a table's rows by a value that each has: as of one moment, and brought to another by what differs between the
/// two, forward or back. So it answers for any snapshot, and is quick for those that are near each other.
final class FieldIndex<Row: Codable & Sendable, Value: Hashable & Sendable>: Sendable {
  private let state: Mutex<IndexState<Row, Value>>

  init(_ property: RowProperty<Row, Value>) { state = Mutex(IndexState(property)) }

  /// - Throws: what decoding the first row throws that does not fit its type: a look at all rows would find it too.
  func ids(equal value: Value?, in snapshot: TableSnapshot<Row>) throws -> [RecordID] {
    let (ids, unreadable) = state.withLock { state in
      state.follow(snapshot.state.records)
      return (state[.value(value)], state[.unreadable])
    }
    try snapshot.throwFault(of: unreadable)
    return ids
  }
}

extension FieldIndex where Value: Comparable {
  func ids(in range: ValueRange<Value>, in snapshot: TableSnapshot<Row>) throws -> [RecordID] {
    let (ids, unreadable) = state.withLock { state in
      state.follow(snapshot.state.records)
      return (state.values(in: range).flatMap { state[.value($0)] }, state[.unreadable])
    }
    try snapshot.throwFault(of: unreadable)
    return ids
  }
}

extension TableSnapshot {
  fileprivate func throwFault(of unreadable: [RecordID]) throws {
    if let row = unreadable.compactMap(row(of:)).min() { _ = try self[row].value }
  }
}

private struct IndexState<Row: Codable & Sendable, Value: Hashable & Sendable> {
  /// What is known of a row.
  enum Key: Hashable {
    case value(Value?)
    /// As `nan`, which equals nothing and lies in no range.
    case unequal
    case unreadable
  }

  private let property: RowProperty<Row, Value>
  private var reader = RowReader<Row>()
  /// What this is the index of.
  private var records = OrderedRecords()
  /// Each list in ascending order.
  private var ids: [Key: [RecordID]] = [:]
  private var order = ValueOrderCache<Value>()

  init(_ property: RowProperty<Row, Value>) { self.property = property }

  subscript(key: Key) -> [RecordID] { ids[key] ?? [] }

  mutating func follow(_ new: OrderedRecords) {
    let difference = RecordsDifference(from: records, to: new)
    for removal in difference.removed { remove(removal.record.id, key(of: removal.record)) }
    for update in difference.updated {
      let (old, new) = (key(of: update.old), key(of: update.new))
      if old == new { continue }
      remove(update.old.id, old)
      add(update.new.id, new)
    }
    for insertion in difference.inserted { add(insertion.record.id, key(of: insertion.record)) }
    records = new
  }

  private mutating func key(of record: StoredRecord) -> Key {
    guard let row = try? reader.row(record) else { return .unreadable }
    let value = property.value(row)
    return value == value ? .value(value) : .unequal
  }

  private mutating func add(_ id: RecordID, _ key: Key) {
    if ids[key] == nil, case .value(let value?) = key { order.add(value) }
    ids[key, default: []].insertAscending(id)
  }

  private mutating func remove(_ id: RecordID, _ key: Key) {
    ids[key]?.removeAscending(id)
    if ids[key]?.isEmpty == true { ids[key] = nil }
  }
}

extension IndexState where Value: Comparable {
  mutating func values(in range: ValueRange<Value>) -> ArraySlice<Value> {
    order.update(count: ids.count) {
      ids.keys.compactMap { if case .value(let value) = $0 { value } else { nil } }
    }
    return order.values(in: range)
  }
}

/// Values in ascending order, put there when somebody asks for a range of them.
private struct ValueOrderCache<Value: Hashable & Sendable> {
  /// `nil` until somebody did. A value that is gone may still be there: no row has it.
  private var sorted: [Value]?
  private var added: [Value] = []

  mutating func add(_ value: Value) { if sorted != nil { added.append(value) } }
}

extension ValueOrderCache where Value: Comparable {
  /// - Parameter count: how many values there are, about.
  mutating func update(count: Int, all: () -> [Value]) {
    defer { added = [] }
    guard var values = sorted, values.count + added.count <= 2 * count + 16, added.count <= 16 else {
      sorted = all().sorted()
      return
    }
    sorted = nil  // Held once only, so that nothing is copied.
    for value in added {
      let place = values.partitionPoint { $0 < value }
      if place == values.count || values[place] != value { values.insert(value, at: place) }
    }
    sorted = values
  }

  func values(in range: ValueRange<Value>) -> ArraySlice<Value> {
    guard let sorted else { return [] }
    let start = sorted.partitionPoint { range.isAbove($0) }
    return sorted[start...].prefix { !range.isBelow($0) }
  }
}

extension [RecordID] {
  fileprivate mutating func insertAscending(_ id: RecordID) {
    guard let last, id < last else { return append(id) }
    insert(id, at: partitionPoint { $0 < id })
  }

  fileprivate mutating func removeAscending(_ id: RecordID) {
    let place = partitionPoint { $0 < id }
    if place < count, self[place] == id { remove(at: place) }
  }
}

extension Array {
  /// How many elements at the beginning have this property, which those behind them have not.
  fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
