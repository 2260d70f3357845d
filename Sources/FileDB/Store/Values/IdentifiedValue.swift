/// A value to store, and the id for its record; `nil` for a new id.
public struct IdentifiedValue<Value: Codable & Sendable>: Sendable {
  public var id: RecordID?
  public var value: Value

  public init(_ value: Value, id: RecordID? = nil) {
    self.id = id
    self.value = value
  }
}

extension IdentifiedValue: Equatable where Value: Equatable {}
extension IdentifiedValue: Hashable where Value: Hashable {}
