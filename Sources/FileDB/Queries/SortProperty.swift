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
    let order = PropertyOrder(Field.self)
    if order == .asStored, let field = PropertyField(path, in: state.records), field.withoutField != .isOther
    {
      return .field(field.reference)
    }
    let fields = try properties(at: path)
    if order == .own { return .values(ranks(of: fields)) }
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

/// How the values of a property's type are ordered.
private enum PropertyOrder {
  /// As their stored forms.
  case asStored
  /// By the type's `<`, which may differ.
  case own
  /// The type is not comparable. If its stored form is a single value, that gives the order.
  case none

  init(_ type: Any.Type) {
    let type = (type as? any OptionalField.Type)?.wrapped ?? type
    self =
      type is any StoredInOrder.Type ? .asStored : type is any Comparable.Type ? .own : .none
  }
}

/// The place of each value in their type's order, from 0; `nil` for what has no place, such as `nan`.
private func ranks<Field>(of fields: [Field?]) -> [PlistValue?] {
  func ranks<Known: Comparable>(_ type: Known.Type) -> [PlistValue?] {
    var places: [(value: Known, index: Int)] = []
    for (index, field) in fields.enumerated() {
      guard let field, let value = field as? Known, value == value else { continue }
      places.append((value, index))
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
  let type = (Field.self as? any OptionalField.Type)?.wrapped ?? Field.self
  return (type as? any Comparable.Type).map { ranks($0) } ?? []
}

private protocol OptionalField {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalField {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

/// A type whose order is that of its stored form.
private protocol StoredInOrder {}

extension Bool: StoredInOrder {}
extension Int: StoredInOrder {}
extension Int8: StoredInOrder {}
extension Int16: StoredInOrder {}
extension Int32: StoredInOrder {}
extension Int64: StoredInOrder {}
extension UInt: StoredInOrder {}
extension UInt8: StoredInOrder {}
extension UInt16: StoredInOrder {}
extension UInt32: StoredInOrder {}
extension UInt64: StoredInOrder {}
extension Double: StoredInOrder {}
extension Float: StoredInOrder {}
extension String: StoredInOrder {}
extension Date: StoredInOrder {}
extension Data: StoredInOrder {}
extension UUID: StoredInOrder {}
extension RecordID: StoredInOrder {}
