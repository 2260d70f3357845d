/// Decodes a field that a record lacks: as `nil` if the type asks whether it is `nil`. For other types, this throws.
///
/// So an optional that is decoded by name, and a property wrapper around one, are read back as `nil`.
final class MissingField: Decoder, SingleValueDecodingContainer {
  private let key: any CodingKey
  private let container: [any CodingKey]
  private var isNil = false

  init(_ key: any CodingKey, in container: [any CodingKey]) {
    (self.key, self.container) = (key, container)
  }

  static func decode<Value: Decodable>(
    _ type: Value.Type, _ key: any CodingKey, in container: [any CodingKey]
  ) throws -> Value {
    let decoder = MissingField(key, in: container)
    let value = try Value(from: decoder)
    // Otherwise, a type that asks for nothing would be decoded although it was never written.
    guard decoder.isNil else { throw decoder.error }
    return value
  }

  var error: DecodingError {
    DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: container, debugDescription: "the field is missing"))
  }

  var codingPath: [any CodingKey] { container + [key] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw error }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw error }
  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool {
    isNil = true
    return true
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Any other type would come back here and ask for itself.
    guard type is any ExpressibleByNilLiteral.Type else { throw error }
    return try Value(from: self)
  }
}
