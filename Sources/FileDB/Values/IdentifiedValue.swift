import FileDBTables

/// A value to store, together with the id for its record.
package struct IdentifiedValue<Value: Codable & Sendable>: Sendable {
  /// The id for the record; `nil` for a new one.
  package var id: RecordID<Value>?
  /// The value to store.
  package var value: Value

  /// A value, and the id for its record.
  package init(_ value: Value, id: RecordID<Value>? = nil) {
    self.id = id
    self.value = value
  }
}

extension IdentifiedValue: Equatable where Value: Equatable {}
extension IdentifiedValue: Hashable where Value: Hashable {}
