import FileDBEssentials
import FileDBPlist

/// Decodes a value from the bytes of its record. It skips what the type does not ask for.
struct RecordDecoder: Decoder {
  let fields: RecordFields
  // Computed, so that a decoder is a single reference and needs no box.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(FieldReader(fields: fields, parent: nil))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { whole }

  /// For a value that is not a keyed container.
  private var whole: ElementDecoder {
    let entries = fields.names.compactMap { name in
      fields[name].map { PlistDictionary.Entry(key: name, value: $0) }
    }
    return ElementDecoder(.dict(PlistDictionary(lastOf: entries)))
  }
}

/// Reads the fields of a record, or the entries of a dictionary in it. The usual types come directly from the bytes if
/// the field is as expected; for them, no decoder is made.
struct FieldReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let fields: RecordFields
  /// The decoder of the dictionary; `nil` for the record itself.
  let parent: ElementDecoder?

  var codingPath: [any CodingKey] { parent?.codingPath ?? [] }
  var allKeys: [Key] { fields.names.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { fields.contains(key.stringValue) }
  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try fields.string(key.stringValue) ?? decoder(key).decode(type)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try fields.bool(key.stringValue) ?? decoder(key).decode(type)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try fields.integer(key.stringValue).flatMap(Int.init(exactly:)) ?? decoder(key).decode(type)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try fields.real(key.stringValue) ?? decoder(key).decode(type)
  }

  // Without these two, the protocol's own implementation would report that this is impossible.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decoder(key).decode(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder(key).decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    if type == Date.self, let date = fields.date(key.stringValue) {
      // This type has just been checked. A cast would check it again.
      return unsafeBitCast(date, to: type)
    }
    guard let decoder = fields.decoder(of: key, in: parent) else {
      return try MissingField.decode(type, key, in: codingPath)
    }
    return try decoder.decode(type)
  }

  // Without these functions, a field that may be missing would be searched for three times.
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    if let text = fields.string(key.stringValue) { return text }
    return try fields.decoder(of: key, in: parent)?.decode(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    contains(key) ? try decode(type, forKey: key) : nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(AnyKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: any CodingKey) throws -> ElementDecoder {
    guard let decoder = fields.decoder(of: key, in: parent) else {
      throw MissingField(key, in: codingPath).error
    }
    return decoder
  }
}
