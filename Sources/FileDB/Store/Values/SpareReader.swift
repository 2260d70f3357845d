import FileDBTables
import Synchronization

/// What a single value was read with last, for the next one: to make it takes longer than to read a small record.
final class SpareReader: Sendable {
  // Unchecked for the fields: whoever takes them is the only one who has them.
  private struct Parts: @unchecked Sendable {
    let type: ObjectIdentifier
    let form: ValueForm
    let fields: RecordFields
  }

  private let spare = Mutex<Parts?>(nil)

  func take<Value>(_ type: Value.Type) -> ValueReader<Value> {
    let parts = spare.withLock { spare in
      defer { spare = nil }
      return spare
    }
    guard let parts, parts.type == ObjectIdentifier(type) else { return ValueReader() }
    return ValueReader(parts.form, parts.fields)
  }

  func put<Value>(_ reader: ValueReader<Value>) {
    let parts = Parts(type: ObjectIdentifier(Value.self), form: reader.form, fields: reader.fields)
    spare.withLock { $0 = parts }
  }
}
