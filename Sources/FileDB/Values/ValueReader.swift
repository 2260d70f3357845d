import FileDBPlist
import FileDBTables
import Synchronization

/// Decodes the values of records, one after another; the counterpart of ``FieldsEncoder``.
struct ValueReader<Value: Decodable> {
  private let hasOwnForm = Value.self == Fields.self || Value.self == PlistValue.self
  let form: ValueForm
  private(set) var fields: RecordFields

  init() {
    let form = ValueForm(Value.self)
    self.init(form, form.makeFields())
  }

  /// - Parameters:
  ///   - form: the form of `Value`.
  ///   - fields: the fields of that form, which nobody else uses.
  init(_ form: ValueForm, _ fields: consuming RecordFields) { (self.form, self.fields) = (form, fields) }

  /// - Throws: `DecodingError` with the path of the field, and what ``ValueForm/newest(_:)`` throws.
  mutating func value(of record: EncodedRecord) throws -> Value {
    if hasOwnForm {
      return try ElementDecoder(.dict(record.fields.dictionary)).decode(Value.self)
    }
    return form.isPlain ? try decode(record) : try newest(record)
  }

  /// Writes the value to `place`. If this throws, `place` stays uninitialized.
  /// - Throws: as ``value(of:)``.
  mutating func putValue(of record: EncodedRecord, at place: UnsafeMutablePointer<Value>) throws {
    guard !hasOwnForm, form.isPlain else {
      place.initialize(to: try value(of: record))
      return
    }
    try putPlainValue(of: record, at: place)
  }

  private mutating func putPlainValue(of record: EncodedRecord, at place: UnsafeMutablePointer<Value>) throws
  {
    defer { letGo(of: record) }
    try fields.visit(record) { place.initialize(to: try Value(from: RecordDecoder(fields: fields))) }
  }

  // A separate function: otherwise space for an optional value would be made on every entry, which takes as long as
  // reading a field.
  @inline(never)
  private mutating func newest(_ record: EncodedRecord) throws -> Value {
    if let version = form.migrations?.version, let value = try decode(record, ofVersion: version) {
      return value
    }
    return try decode(form.newest(record))
  }

  private mutating func decode(_ record: EncodedRecord) throws -> Value {
    try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
      guard let place = memory.baseAddress else { preconditionFailure("there is no memory") }
      try putPlainValue(of: record, at: place)
      return place.move()
    }
  }

  /// `nil` if the record is of another version or has none.
  private mutating func decode(_ record: EncodedRecord, ofVersion version: Int64) throws -> Value? {
    defer { letGo(of: record) }
    return try fields.read(record) {
      guard fields.integer(ValueMigrations.versionKey) == version else { return nil }
      return try Value(from: RecordDecoder(fields: fields))
    }
  }

  private mutating func letGo(of record: EncodedRecord) {
    if isKnownUniquelyReferenced(&fields) { return }
    fields.keep(record)  // The value has kept its decoder.
    fields = form.makeFields()
  }
}

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
