import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A property to sort by.
///
/// Unchecked because a path may have captured a subscript's argument. Here it is compared and read from, and never
/// changed; the closure has captured nothing else.
struct SortProperty: Hashable, @unchecked Sendable {
  private let path: AnyKeyPath
  /// - Throws: ``StoreError/Code/invalidValue`` if the property has no order.
  let source: (TableSource, TableState) throws(StoreError) -> SortKey.Source

  init<Value: Codable & Sendable, Field: Codable & Equatable>(_ path: KeyPath<Value, Field>) {
    self.path = path
    source = { table, state throws(StoreError) in
      // The table's own type may be another one.
      try TableSnapshot<Value>(source: table, state: state).sortSource(of: path)
    }
  }

  static func == (left: Self, right: Self) -> Bool { left.path == right.path }
  func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension TableSnapshot {
  fileprivate func sortSource<Field: Codable & Equatable>(
    of path: KeyPath<Value, Field>
  ) throws(StoreError) -> SortKey.Source {
    let type = (Field.self as? any OptionalField.Type)?.wrapped ?? Field.self
    let isStoredInOrder = type is any StoredInOrder.Type
    if isStoredInOrder, let field = PropertyField(path, in: state.records), field.withoutField != .isOther {
      return .field(field.reference)
    }
    let fields = try properties(at: path)
    // The type's own order may differ from that of the stored forms.
    if !isStoredInOrder, let type = type as? any Comparable.Type {
      return .values(ranks(of: fields, as: type))
    }
    // If the stored form is a single value, that gives the order.
    return .values(
      try fields.map { field throws(StoreError) in
        let value = field.flatMap { try? FieldsEncoder.encodeValue($0, codingPath: []) }
        switch value {
        case .array, .dict:
          throw StoreError(
            .invalidValue, "FileDB cannot sort by \(path): \(Field.self) has no order; make it Comparable")
        default: return value
        }
      })
  }
}

/// The ranks of properties whose type is known to be comparable only now.
private func ranks<Field, Known: Comparable>(of fields: [Field?], as type: Known.Type) -> [PlistValue?] {
  ranks(of: fields.map { $0 as? Known })
}

/// The place of each value in their type's order, from 0; `nil` for what has no place, such as `nan`.
func ranks<Field: Comparable>(of fields: [Field?]) -> [PlistValue?] {
  var places: [(value: Field, index: Int)] = []
  for (index, field) in fields.enumerated() {
    if let field, field == field { places.append((field, index)) }
  }
  places.sort { $0.value < $1.value }
  var ranks = [PlistValue?](repeating: nil, count: fields.count)
  var rank: Int64 = 0
  for (place, (value, index)) in places.enumerated() {
    if place > 0, places[place - 1].value < value { rank += 1 }
    ranks[index] = .integer(rank)
  }
  return ranks
}

/// Recognizes a type that may be optional.
protocol OptionalField {
  static var wrapped: Any.Type { get }
  var isNil: Bool { get }
}

extension Optional: OptionalField {
  static var wrapped: Any.Type { Wrapped.self }
  var isNil: Bool { self == nil }
}

/// A type whose order is that of its stored form.
protocol StoredInOrder {}

extension Bool: StoredInOrder {}
extension String: StoredInOrder {}
extension Date: StoredInOrder {}
extension Data: StoredInOrder {}
extension UUID: StoredInOrder {}
extension RecordID: StoredInOrder {}
