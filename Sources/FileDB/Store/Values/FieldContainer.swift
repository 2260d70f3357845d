import FileDBPlist

/// A keyed container whose fields are decoded from property list values, unless it knows a faster way.
protocol FieldContainer: KeyedDecodingContainerProtocol {
  func field(_ name: String) -> PlistValue?
}

extension FieldContainer {
  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decodeValue<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    guard let value = field(key.stringValue) else {
      return try MissingField.decode(type, key, in: codingPath)
    }
    return try FieldsDecoder.decodeValue(type, from: value, codingPath: codingPath + [key])
  }

  // Without this, the protocol's own implementation would report that this is impossible.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(key).decode(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try scalar(key).decode(type) }

  func scalar(_ key: Key) throws -> ScalarReader {
    ScalarReader(codingPath: codingPath + [key], value: try value(key))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(AnyKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: any CodingKey) throws -> ValueDecoder {
    ValueDecoder(codingPath: codingPath + [key], value: try value(key))
  }

  private func value(_ key: any CodingKey) throws -> PlistValue {
    guard let value = field(key.stringValue) else { throw MissingField(key, in: codingPath).error }
    return value
  }
}
