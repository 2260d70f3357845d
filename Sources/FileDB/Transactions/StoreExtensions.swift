import Synchronization

/// What the folders above `Store` add to a store: one value of each type. It is created when it is first needed, and
/// released with the store. Whatever is cached beside a snapshot is kept here.
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
