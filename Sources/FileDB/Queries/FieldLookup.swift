import FileDBEssentials
import Synchronization

/// A lookup: it finds the ids of a table's records by a field.
final class FieldLookup<Value: Codable & Sendable, Field: Hashable & Sendable>: Sendable {
  /// What is known about a record. A field that does not equal itself, such as `nan`, is in no list: it equals nothing
  /// and is in no range.
  fileprivate enum Key: Hashable {
    case field(Field?)
    case unreadable
  }

  fileprivate struct State {
    var ids = IDsByKey<Key>()
    var order = FieldOrderCache<Field>()
  }

  private let property: ValueProperty<Value, Field>
  private let state = Mutex(State())

  init(_ property: ValueProperty<Value, Field>) { self.property = property }

  /// - Throws: the error for the first record that does not fit its type. A search of all records would find it, too.
  func ids(whereFieldIs field: Field?, in snapshot: TableSnapshot<Value>) throws -> [AnyRecordID] {
    try ids(in: snapshot) { $0.ids[.field(field)] }
  }

  fileprivate func ids(
    in snapshot: TableSnapshot<Value>, _ find: (inout State) -> [AnyRecordID]
  ) throws -> [AnyRecordID] {
    let records = snapshot.state.records
    let (ids, unreadable) = state.withLock { state in
      follow(records, &state)
      return (find(&state), state.ids[.unreadable])
    }
    if let index = unreadable.compactMap(records.index(of:)).min() { _ = try snapshot[index].value }
    return ids
  }

  private func follow(_ records: OrderedRecords, _ state: inout State) {
    let property = property.reader(records)
    let newKeys = state.ids.follow(records) { record in
      do {
        let field = try property(record)
        return field == field ? .field(field) : nil
      } catch {
        return .unreadable
      }
    }
    for case .field(let field?) in newKeys { state.order.add(field) }
  }
}

extension FieldLookup where Field: Comparable {
  func ids(whereFieldIsIn range: ValueRange<Field>, in snapshot: TableSnapshot<Value>) throws -> [AnyRecordID]
  {
    try ids(in: snapshot) { state in
      let keys = state.ids.keys
      state.order.update(count: keys.count) {
        keys.compactMap { if case .field(let field) = $0 { field } else { nil } }
      }
      return state.order.fields(in: range).flatMap { state.ids[.field($0)] }
    }
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
