import FileDBEssentials
import Synchronization

/// A lookup: it finds the ids of a table's records by a field. It holds one version of the table, and is brought to
/// another version, older or newer, by the differences between the two. So it works for any snapshot, and is fast for
/// those that are close to each other.
final class FieldLookup<Value: Codable & Sendable, Field: Hashable & Sendable>: Sendable {
  private let state: Mutex<LookupState<Value, Field>>

  init(_ property: ValueProperty<Value, Field>) { state = Mutex(LookupState(property)) }

  /// - Throws: the error for the first record that does not fit its type. A search of all records would find it, too.
  func ids(whereFieldIs field: Field?, in snapshot: TableSnapshot<Value>) throws -> [AnyRecordID] {
    let (ids, unreadable) = state.withLock { state in
      state.follow(snapshot.state.records)
      return (state[.field(field)], state[.unreadable])
    }
    try snapshot.throwFault(of: unreadable)
    return ids
  }
}

extension FieldLookup where Field: Comparable {
  func ids(whereFieldIsIn range: ValueRange<Field>, in snapshot: TableSnapshot<Value>) throws -> [AnyRecordID]
  {
    let (ids, unreadable) = state.withLock { state in
      state.follow(snapshot.state.records)
      return (state.fields(in: range).flatMap { state[.field($0)] }, state[.unreadable])
    }
    try snapshot.throwFault(of: unreadable)
    return ids
  }
}

extension TableSnapshot {
  fileprivate func throwFault(of unreadable: [AnyRecordID]) throws {
    if let index = unreadable.compactMap(state.records.index(of:)).min() { _ = try self[index].value }
  }
}

private struct LookupState<Value: Codable & Sendable, Field: Hashable & Sendable> {
  /// What is known about a record.
  enum Key: Hashable {
    case field(Field?)
    /// For example `nan`, which equals nothing and is in no range.
    case unequal
    case unreadable
  }

  private let property: ValueProperty<Value, Field>
  private var reader: PropertyReader<Value, Field>
  /// The records that the ids belong to.
  private var records = OrderedRecords()
  /// Each list is in ascending order.
  private var ids: [Key: [AnyRecordID]] = [:]
  private var order = FieldOrderCache<Field>()

  init(_ property: ValueProperty<Value, Field>) {
    self.property = property
    reader = PropertyReader(property, in: OrderedRecords())
  }

  subscript(key: Key) -> [AnyRecordID] { ids[key] ?? [] }

  mutating func follow(_ new: OrderedRecords) {
    reader = PropertyReader(property, in: new)
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

  private mutating func key(of record: EncodedRecord) -> Key {
    do {
      let field = try reader.property(of: record)
      return field == field ? .field(field) : .unequal
    } catch {
      return .unreadable
    }
  }

  private mutating func add(_ id: AnyRecordID, _ key: Key) {
    if ids[key] == nil, case .field(let field?) = key { order.add(field) }
    ids[key, default: []].insertAscending(id)
  }

  private mutating func remove(_ id: AnyRecordID, _ key: Key) {
    ids[key]?.removeAscending(id)
    if ids[key]?.isEmpty == true { ids[key] = nil }
  }
}

extension LookupState where Field: Comparable {
  mutating func fields(in range: ValueRange<Field>) -> ArraySlice<Field> {
    order.update(count: ids.count) {
      ids.keys.compactMap { if case .field(let field) = $0 { field } else { nil } }
    }
    return order.fields(in: range)
  }
}

/// The field's values in ascending order. They are sorted when somebody asks for a range.
private struct FieldOrderCache<Field: Hashable & Sendable> {
  /// `nil` until somebody has asked. It may still contain values that no record has any more.
  private var sorted: [Field]?
  private var added: [Field] = []

  mutating func add(_ field: Field) { if sorted != nil { added.append(field) } }
}

extension FieldOrderCache where Field: Comparable {
  /// - Parameter count: about how many values there are.
  mutating func update(count: Int, all: () -> [Field]) {
    defer { added = [] }
    guard var fields = sorted, fields.count + added.count <= 2 * count + 16, added.count <= 16 else {
      sorted = all().sorted()
      return
    }
    sorted = nil  // Leave a single reference, so that nothing is copied.
    for field in added {
      let place = fields.partitioningIndex { $0 >= field }
      if place == fields.count || fields[place] != field { fields.insert(field, at: place) }
    }
    sorted = fields
  }

  func fields(in range: ValueRange<Field>) -> ArraySlice<Field> {
    guard let sorted else { return [] }
    let start = sorted.partitioningIndex { !range.isAbove($0) }
    return sorted[start...].prefix { !range.isBelow($0) }
  }
}

extension [AnyRecordID] {
  fileprivate mutating func insertAscending(_ id: AnyRecordID) {
    guard let last, id < last else { return append(id) }
    insert(id, at: partitioningIndex { $0 >= id })
  }

  fileprivate mutating func removeAscending(_ id: AnyRecordID) {
    let place = partitioningIndex { $0 >= id }
    if place < count, self[place] == id { remove(at: place) }
  }
}
