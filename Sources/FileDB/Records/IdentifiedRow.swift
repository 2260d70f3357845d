/// A row to store, and the id it is to have; `nil` for a new one.
public struct IdentifiedRow<Row: Codable & Sendable>: Sendable {
  public var id: RecordID?
  public var value: Row

  public init(_ value: Row, id: RecordID? = nil) {
    self.id = id
    self.value = value
  }
}
