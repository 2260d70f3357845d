import FileDBTables
import Synchronization

/// The reader that was last used for a single value, kept for the next one: creating it takes longer than reading a
/// small record.
final class SpareReader: Sendable {
  // Unchecked because of the fields: only the thread that takes them out uses them.
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
