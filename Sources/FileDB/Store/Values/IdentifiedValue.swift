/// A value to store, and the id that its record is to have; `nil` for a new one.
public struct IdentifiedValue<Value: Codable & Sendable>: Sendable {
  public var id: RecordID?
  public var value: Value

  public init(_ value: Value, id: RecordID? = nil) {
    self.id = id
    self.value = value
  }
}
