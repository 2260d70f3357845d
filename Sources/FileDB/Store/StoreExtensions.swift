import Synchronization

/// What the folders above add to a store: one value of each type, made when it is first asked for, and gone with the
/// store. What is cached beside a snapshot is kept here.
final class StoreExtensions: Sendable {
  private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

  func value<Value: Sendable>(_ type: Value.Type, _ make: () -> Value) -> Value {
    values.withLock { values in
      let key = ObjectIdentifier(type)
      if let value = values[key] as? Value { return value }
      let value = make()
      values[key] = value
      return value
    }
  }
}
