import FileDB

/// What a table should be, said as plainly as possible: an array, searched from the start.
struct PlainTable: Equatable {
  struct Record: Equatable {
    var id: Int64
    var fields: PlainFields
  }

  var exists = false
  var counter: Int64 = 0
  var records: [Record] = []
  /// Ids that no new record may come with.
  var reserved: Range<Int64> = 0..<0

  func index(_ id: Int64) -> Int? { records.firstIndex { $0.id == id } }

  mutating func add(_ many: [PlainFields], at position: Position<Fields>) -> [Int64]? {
    guard let index = index(for: position) else { return nil }
    exists = true
    let new = many.enumerated().map { Record(id: counter + 1 + Int64($0), fields: $1) }
    counter += Int64(many.count)
    records.insert(contentsOf: new, at: index)
    return new.map(\.id)
  }

  /// - Returns: no ids, because none is new to the caller.
  mutating func add(_ fields: PlainFields, id: Int64, at position: Position<Fields>) -> [Int64]? {
    guard !reserved.contains(id), let index = index(for: position) else { return nil }
    exists = true
    counter = max(counter, id)
    records.insert(Record(id: id, fields: fields), at: index)
    return []
  }

  /// Records come with ids of their own, or with none and get the next above all of them.
  mutating func replaceAll(_ new: [(id: Int64?, fields: PlainFields)]) -> [Int64]? {
    let given = new.compactMap(\.id)
    guard Set(given).count == given.count, !given.contains(where: reserved.contains) else { return nil }
    exists = true
    counter = max(counter, given.max() ?? 0)
    records = []
    for record in new {
      if record.id == nil { counter += 1 }
      records.append(Record(id: record.id ?? counter, fields: record.fields))
    }
    return records.map(\.id)
  }

  mutating func delete(_ ids: [Int64]) -> Bool {
    guard ids.allSatisfy({ index($0) != nil }) else { return false }
    records.removeAll { ids.contains($0.id) }
    return true
  }

  mutating func move(_ id: Int64, to position: Position<Fields>) -> Bool {
    guard let old = index(id), let new = index(for: position, moving: id) else { return false }
    records.insert(records.remove(at: old), at: new)
    return true
  }

  /// Missing values last, in descending order too; equal ones as they were.
  mutating func sort(by field: String, descending: Bool) {
    let sorted = records.enumerated().sorted { left, right in
      switch (left.element.fields[field]?.integer, right.element.fields[field]?.integer) {
      case (nil, nil): return left.offset < right.offset
      case (nil, _): return false
      case (_, nil): return true
      case (let a?, let b?):
        if a == b { return left.offset < right.offset }
        return descending ? a > b : a < b
      }
    }
    records = sorted.map(\.element)
  }

  /// Where a record that comes to `position` is in the end; `nil` if the position names nothing. A record that is
  /// `moving` leaves its old place first.
  private func index(for position: Position<Fields>, moving: Int64? = nil) -> Int? {
    let rest = records.filter { $0.id != moving }
    switch position {
    case .top: return 0
    case .bottom: return rest.count
    case .index(let index): return (0...rest.count).contains(index) ? index : nil
    case .before(let id) where id.rawValue == moving, .after(let id) where id.rawValue == moving:
      return index(id.rawValue)
    case .before(let id): return rest.firstIndex { $0.id == id.rawValue }
    case .after(let id): return rest.firstIndex { $0.id == id.rawValue }.map { $0 + 1 }
    }
  }
}
