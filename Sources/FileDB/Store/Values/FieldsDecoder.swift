import FileDBEssentials
import FileDBPlist

/// Decodes `Codable` values from the fields of records; the counterpart of ``FieldsEncoder``.
///
/// It ignores fields that the type does not ask for. If a real is asked for, it accepts an integer. If an integer is
/// asked for, it accepts a real without a fraction: people write `2` for `2.0`.
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
      return try FieldsDecoder.decodeValue(Value.self, from: .dict(record.fields.dictionary), codingPath: [])
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
    if let version = form.migrations?.version, let value = try decode(record, markedWith: version) {
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

  /// `nil` if the record is of another version or has no mark.
  private mutating func decode(_ record: EncodedRecord, markedWith version: Int64) throws -> Value? {
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

enum FieldsDecoder {
  static func decodeValue<Value: Decodable>(
    _ type: Value.Type, from value: PlistValue, codingPath: [any CodingKey]
  ) throws -> Value {
    let reader = ScalarReader(codingPath: codingPath, value: value)
    let special: Any? =
      switch type {
      case is PlistValue.Type: value
      case is Fields.Type: value.dict.map(Fields.init)
      case is Date.Type: value.date
      case is Data.Type: value.data
      case is URL.Type: value.string.flatMap { URL(string: $0) }
      case is UUID.Type: value.string.flatMap { UUID(uuidString: $0) }
      case is Decimal.Type: decimal(value)
      default: nil
      }
    // In two steps, because `nil` would also be accepted as the value of an optional.
    if let special, let value = special as? Value { return value }
    if type is any SpecialValue.Type { throw reader.mismatch(type) }
    return try Value(from: ValueDecoder(codingPath: codingPath, value: value))
  }

  private static func decimal(_ value: PlistValue) -> Decimal? {
    switch value {
    case .string("NaN"): Decimal.nan
    // Foundation would accept the digits at the beginning of any text.
    case .string(let text) where Double(text)?.isFinite == true && !text.utf8.contains(UInt8(ascii: "x")):
      Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    case .integer(let number): Decimal(number)
    case .unsigned(let number): Decimal(number)
    case .real(let number): Decimal(string: PlistWriter.text(number))
    default: nil
    }
  }
}

/// The types that have a special form in a record instead of their `Codable` form.
private protocol SpecialValue {}
extension Date: SpecialValue {}
extension Data: SpecialValue {}
extension URL: SpecialValue {}
extension UUID: SpecialValue {}
extension Decimal: SpecialValue {}
extension Fields: SpecialValue {}

struct ValueDecoder: Decoder {
  let codingPath: [any CodingKey]
  let value: PlistValue
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dict(let entries) = value else {
      throw ScalarReader(codingPath: codingPath, value: value).mismatch(PlistDictionary.self)
    }
    return KeyedDecodingContainer(KeyedReader(codingPath: codingPath, entries: entries))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else {
      throw ScalarReader(codingPath: codingPath, value: value).mismatch([PlistValue].self)
    }
    return ArrayReader(codingPath: codingPath, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    ScalarReader(codingPath: codingPath, value: value)
  }
}

private struct KeyedReader<Key: CodingKey>: FieldContainer {
  let codingPath: [any CodingKey]
  let entries: PlistDictionary

  var allKeys: [Key] { entries.keys.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { entries[key.stringValue] != nil }
  func field(_ name: String) -> PlistValue? { entries[name] }

  // For the usual types, no path or box is needed if the field is as expected.
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    if case .string(let text)? = entries[key.stringValue] { return text }
    return try scalar(key).decode(type)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    if case .bool(let value)? = entries[key.stringValue] { return value }
    return try scalar(key).decode(type)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    if case .integer(let number)? = entries[key.stringValue], let number = Int(exactly: number) {
      return number
    }
    return try scalar(key).decode(type)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    if case .real(let number)? = entries[key.stringValue] { return number }
    return try scalar(key).decode(type)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decodeValue(type, key)
  }
}

private struct ArrayReader: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  let elements: [PlistValue]
  private(set) var currentIndex = 0

  init(codingPath: [any CodingKey], elements: [PlistValue]) {
    self.codingPath = codingPath
    self.elements = elements
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }
  private var path: [any CodingKey] { codingPath + [ElementKey(currentIndex)] }

  private mutating func next<Value>(_ read: (PlistValue) throws -> Value) throws -> Value {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Value.self, DecodingError.Context(codingPath: path, debugDescription: "the array ends here"))
    }
    let result = try read(elements[currentIndex])
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool { false }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar { try $0.decode(type) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar { try $0.decode(type) } }

  private mutating func scalar<Value>(_ read: (ScalarReader) throws -> Value) throws -> Value {
    let path = path
    return try next { try read(ScalarReader(codingPath: path, value: $0)) }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let path = path
    return try next { try FieldsDecoder.decodeValue(type, from: $0, codingPath: path) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let path = path
    return try next { try ValueDecoder(codingPath: path, value: $0).container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let path = path
    return try next { try ValueDecoder(codingPath: path, value: $0).unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    let path = path
    return try next { ValueDecoder(codingPath: path, value: $0) }
  }
}

struct ScalarReader: SingleValueDecodingContainer {
  let codingPath: [any CodingKey]
  let value: PlistValue

  func mismatch(_ type: Any.Type) -> DecodingError {
    DecodingError.typeMismatch(
      type,
      DecodingError.Context(codingPath: codingPath, debugDescription: "<\(value.typeName)> is not \(type)"))
  }

  private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number? =
      switch value {
      case .integer(let number): Number(exactly: number)
      case .unsigned(let number): Number(exactly: number)
      case .real(let number): Number(exactly: number)
      case .string(let digits) where Number.bitWidth > 64: Number(digits)
      default: nil
      }
    guard let number else { throw mismatch(type) }
    return number
  }

  func decodeNil() -> Bool { false }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard let value = value.bool else { throw mismatch(type) }
    return value
  }

  func decode(_ type: String.Type) throws -> String {
    guard let value = value.string else { throw mismatch(type) }
    return value
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    case .unsigned(let number): return Double(number)
    default: throw mismatch(type)
    }
  }

  func decode(_ type: Float.Type) throws -> Float {
    let number = try decode(Double.self)
    guard Float(number).isFinite || !number.isFinite else { throw mismatch(type) }
    return Float(number)
  }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try FieldsDecoder.decodeValue(type, from: value, codingPath: codingPath)
  }
}
