import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Encodes a `Codable` value as the fields of a record.
///
/// `Date` and `Data` become the format's own types, and `URL`, `UUID` and `Decimal` become text. A field with `nil` is
/// left out. `nil` is an error in an array if it would shift other elements, and in a dictionary, which would lose the
/// key.
enum FieldsEncoder {
  /// - Throws: `EncodingError` if the value is not a keyed container or contains something that a record cannot;
  ///   ``StoreError/Code/reservedField``.
  static func encode<Value: Encodable>(_ value: Value) throws -> Fields {
    if let fields = value as? Fields { return fields }
    return try ValueForm(Value.self).addingVersion(to: encodeWithoutVersion(value))
  }

  /// The fields without the record's version.
  static func encodeWithoutVersion(_ value: some Encodable) throws -> Fields {
    guard case .dict(let dictionary)? = try encodeValue(value, codingPath: []) else {
      throw EncodingError.invalidValue(
        value, EncodingError.Context(codingPath: [], debugDescription: "a value must encode itself by keys"))
    }
    return Fields(dictionary)
  }

  /// The names of the fields that a value leaves out because they are `nil`. A type that leaves out a field without
  /// asking the encoder cannot be told from one that does not have the field.
  static func namesWithoutValue(of value: some Encodable) -> [String] {
    let encoder = ValueEncoder(codingPath: [])
    encoder.node.omitted = []
    try? value.encode(to: encoder)
    return encoder.node.omitted ?? []
  }

  /// - Returns: `nil` for `nil`.
  static func encodeValue(_ value: some Encodable, codingPath: [any CodingKey]) throws -> PlistValue? {
    switch value {
    case let value as PlistValue: return value
    case let value as Fields: return .dict(value.dictionary)
    case let value as Date: return .date(value)
    case let value as Data: return .data(value)
    case let value as URL: return .string(value.absoluteString)
    case let value as UUID: return .string(value.uuidString)
    case let value as Decimal: return .string(value.description)
    default:
      let encoder = ValueEncoder(codingPath: codingPath)
      try value.encode(to: encoder)
      if let key = encoder.node.emptyKey, value is any KeyedByValues { throw noNil(codingPath + [key]) }
      let encoded = encoder.node.value
      if case .array(let elements)? = encoded {
        try (value as? any OfDistinctElements)?.check(elements, codingPath)
      }
      return encoded
    }
  }

  fileprivate static func noNil(_ codingPath: [any CodingKey]) -> EncodingError {
    EncodingError.invalidValue(
      Optional<Never>.none as Any,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: "a property list cannot hold nil in an array or a dictionary"))
  }
}

extension FieldsEncoder {
  /// The fields of new records, as they are stored. This needs no transaction, so other writers need not wait for it.
  static func fields(
    of values: some Sequence<some Encodable>, for table: String, limits: PlistLimits
  ) throws(StoreError) -> [Fields] {
    do throws(StoreError) {
      return try values.map { value throws(StoreError) in
        try fields(of: value, for: table).normalized(limits: limits)
      }
    } catch {
      throw error.adding(table: table)
    }
  }

  /// The fields of a value. An error names the table and the record.
  static func fields(
    of value: some Encodable, for table: String, record: AnyRecordID? = nil
  ) throws(StoreError) -> Fields {
    do {
      return try encode(value)
    } catch {
      var error = StoreError(encoding: error).adding(table: table)
      if error.record == nil { error.record = record }
      throw error
    }
  }
}

extension Fields {
  /// Fields with these names and values, which need not be literals.
  ///
  ///     try things.add(Fields(encoding: ["name": name, "watts": watts, "bought": Date.now]))
  ///
  /// A value may be of any type that the property of a record may have; see <doc:Values>. A name whose value is `nil`
  /// is left out. If a name is given twice, the last value counts.
  /// - Throws: ``StoreError/Code/invalidValue`` with the field, if a value holds `nil` in an array or throws while it is
  ///   encoded.
  public init(encoding values: KeyValuePairs<String, any Encodable>) throws {
    self.init()
    for (name, value) in values {
      do { self[name] = try FieldsEncoder.encodeValue(value, codingPath: [AnyKey(name)]) } catch {
        var error = StoreError(encoding: error)
        error.field = error.field ?? name
        throw error
      }
    }
  }
}

/// A collection that would lose elements if two of them became the same.
private protocol OfDistinctElements {
  /// How many elements of its array belong together; the first of them must be distinct.
  static var step: Int { get }
}

extension Set: OfDistinctElements { fileprivate static var step: Int { 1 } }
/// Keys that are neither strings nor integers are encoded in an array, each before its value.
extension Dictionary: OfDistinctElements { fileprivate static var step: Int { 2 } }

extension OfDistinctElements {
  /// - Throws: `EncodingError` if two elements, as they will be stored, are the same.
  fileprivate func check(_ elements: [PlistValue], _ codingPath: [any CodingKey]) throws {
    var seen: Set<PlistValue> = []
    for place in stride(from: 0, to: elements.count, by: Self.step) {
      guard let stored = try? elements[place].normalized(depth: 0, limits: PlistLimits()),
        !seen.insert(stored).inserted
      else { continue }
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: "two elements are stored as the same value; of a Date, whole seconds are stored, "
            + "and of an ExactDate all"))
    }
  }
}

/// A dictionary. Its keys are data, not names of fields.
private protocol KeyedByValues {}
extension Dictionary: KeyedByValues {}

/// The output of a value's `encode(to:)` so far. A class, because nested containers continue to write to it.
private final class Node {
  var scalar: PlistValue?
  var elements: [Node]?
  var entries: [(key: String, value: Entry)]?
  /// A key whose value was `nil`.
  var emptyKey: (any CodingKey)?
  /// The names of all keys whose value was `nil`, if somebody wants to know them.
  var omitted: [String]?

  /// A value that is known immediately needs no node.
  enum Entry {
    case value(PlistValue)
    case node(Node)

    var value: PlistValue? {
      switch self {
      case .value(let value): value
      case .node(let node): node.value
      }
    }
  }

  var value: PlistValue? {
    if let elements { return .array(elements.compactMap(\.value)) }
    if let entries {
      return .dict(
        PlistDictionary(
          lastOf: entries.compactMap { entry in
            entry.value.value.map { PlistDictionary.Entry(key: entry.key, value: $0) }
          }))
    }
    return scalar
  }
}

private struct ValueEncoder: Encoder {
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  var node = Node()

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if node.entries == nil { node.entries = [] }
    return KeyedEncodingContainer(KeyedWriter(codingPath: codingPath, node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if node.elements == nil { node.elements = [] }
    return ArrayWriter(codingPath: codingPath, node: node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let codingPath: [any CodingKey]
  let node: Node

  private func encoder(_ key: any CodingKey) -> ValueEncoder {
    // A type that asks twice continues where it was.
    let former = node.entries?.last { compareUTF8($0.key, key.stringValue) == 0 }
    if case .node(let child)? = former?.value {
      return ValueEncoder(codingPath: codingPath + [key], node: child)
    }
    let encoder = ValueEncoder(codingPath: codingPath + [key])
    node.entries?.append((key.stringValue, .node(encoder.node)))
    return encoder
  }

  func encodeNil(forKey key: Key) {
    node.emptyKey = key
    node.omitted?.append(key.stringValue)
  }

  private func add(_ value: PlistValue, _ key: Key) {
    node.entries?.append((key.stringValue, .value(value)))
  }

  private func add(_ value: PlistValue?, _ key: Key) {
    if let value { add(value, key) } else { node.omitted?.append(key.stringValue) }
  }

  // The usual types need not be checked for special forms.
  func encode(_ value: String, forKey key: Key) { add(.string(value), key) }
  func encode(_ value: Bool, forKey key: Key) { add(.bool(value), key) }
  func encode(_ value: Int, forKey key: Key) { add(.integer(Int64(value)), key) }
  func encode(_ value: Int64, forKey key: Key) { add(.integer(value), key) }
  func encode(_ value: Double, forKey key: Key) { add(.real(value), key) }
  func encode(_ value: Int128, forKey key: Key) { add(PlistValue(wide: value), key) }
  func encode(_ value: UInt128, forKey key: Key) { add(PlistValue(wide: value), key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    guard let encoded = try FieldsEncoder.encodeValue(value, codingPath: codingPath + [key]) else {
      return encodeNil(forKey: key)
    }
    add(encoded, key)
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) { add(value.map(PlistValue.string), key) }
  func encodeIfPresent(_ value: Bool?, forKey key: Key) { add(value.map(PlistValue.bool), key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) { add(value.map(PlistValue.integer), key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) { add(value.map { PlistValue(UInt64($0)) }, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) { add(value.map { .integer(Int64($0)) }, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) { add(value.map { PlistValue($0) }, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) { add(value.map { .real(Double($0)) }, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) { add(value.map(PlistValue.real), key) }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) { add(value.map { PlistValue(wide: $0) }, key) }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) { add(value.map { PlistValue(wide: $0) }, key) }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    add(try value.flatMap { try FieldsEncoder.encodeValue($0, codingPath: codingPath + [key]) }, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(AnyKey("super")) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct ArrayWriter: UnkeyedEncodingContainer {
  let codingPath: [any CodingKey]
  let node: Node

  var count: Int { node.elements?.count ?? 0 }
  private var nextPath: [any CodingKey] { codingPath + [ElementKey(count)] }

  private func child() -> Node {
    let child = Node()
    node.elements?.append(child)
    return child
  }

  func encodeNil() throws { throw FieldsEncoder.noNil(nextPath) }

  func encode(_ value: Int128) { child().scalar = PlistValue(wide: value) }
  func encode(_ value: UInt128) { child().scalar = PlistValue(wide: value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let path = nextPath
    guard let encoded = try FieldsEncoder.encodeValue(value, codingPath: path) else { return try encodeNil() }
    child().scalar = encoded
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(codingPath: nextPath, node: child()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    ValueEncoder(codingPath: nextPath, node: child()).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { ValueEncoder(codingPath: nextPath, node: child()) }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws {}
  func encode(_ value: Bool) throws { node.scalar = .bool(value) }
  func encode(_ value: String) throws { node.scalar = .string(value) }
  func encode(_ value: Double) throws { node.scalar = .real(value) }
  func encode(_ value: Float) throws { node.scalar = .real(Double(value)) }
  func encode(_ value: Int) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: Int8) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: Int16) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: Int32) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: Int64) throws { node.scalar = .integer(value) }
  func encode(_ value: UInt) throws { node.scalar = PlistValue(UInt64(value)) }
  func encode(_ value: UInt8) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: UInt16) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: UInt32) throws { node.scalar = .integer(Int64(value)) }
  func encode(_ value: UInt64) throws { node.scalar = PlistValue(value) }
  func encode(_ value: Int128) throws { node.scalar = PlistValue(wide: value) }
  func encode(_ value: UInt128) throws { node.scalar = PlistValue(wide: value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    node.scalar = try FieldsEncoder.encodeValue(value, codingPath: codingPath)
  }
}

extension PlistValue {
  /// An integer, or its digits as text if it is too large for a property list.
  fileprivate init(wide value: some FixedWidthInteger) {
    if let small = Int64(exactly: value) {
      self = .integer(small)
    } else if let large = UInt64(exactly: value) {
      self = .unsigned(large)
    } else {
      self = .string(value.description)
    }
  }
}
