import Synchronization

/// What is kept beside a store's tables, as the lookups of fields are: one value of each type. It is created when it is
/// first needed, and released with the store.
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
