import FileDBEssentials
import FileDBPlist

/// Decodes a value from the bytes of its record. It skips what the type does not ask for.
struct RecordDecoder: Decoder {
  let fields: RecordFields
  // Computed, so that a decoder is a single reference and needs no box.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(FieldReader(fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { whole.singleValueContainer() }

  /// For a value that is not a keyed container.
  private var whole: ValueDecoder {
    let entries = fields.names.compactMap { name in
      fields[name].map { PlistDictionary.Entry(key: name, value: $0) }
    }
    return ValueDecoder(codingPath: [], value: .dict(PlistDictionary(lastOf: entries)))
  }
}

/// Reads the usual types directly from the bytes. Other types, and fields that are not as expected, are read from the
/// field's property list value.
private struct FieldReader<Key: CodingKey>: FieldContainer {
  let fields: RecordFields
  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] { fields.names.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { fields.contains(key.stringValue) }
  func field(_ name: String) -> PlistValue? { fields[name] }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try fields.string(key.stringValue) ?? scalar(key).decode(type)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try fields.bool(key.stringValue) ?? scalar(key).decode(type)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try fields.integer(key.stringValue).flatMap(Int.init(exactly:)) ?? scalar(key).decode(type)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try fields.real(key.stringValue) ?? scalar(key).decode(type)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    if type == Date.self, let date = fields.date(key.stringValue) {
      // This type has just been checked. A cast would check it again.
      return unsafeBitCast(date, to: type)
    }
    return try decodeValue(type, key)
  }

  // Without these functions, a field that may be missing would be searched for three times.
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    if let text = fields.string(key.stringValue) { return text }
    return try contains(key) ? scalar(key).decode(type) : nil
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    contains(key) ? try decode(type, forKey: key) : nil
  }
}
