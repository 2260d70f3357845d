/// Decodes what a record does not hold: `nil`, for a type that asks whether it is; for any other it is an error.
///
/// So an optional that is decoded by name, and a property wrapper around one, come back as they were written: as
/// nothing.
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
    // A type that looks at nothing would be there without ever having been written.
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
    // Any other would come back here and ask for itself.
    guard type is any ExpressibleByNilLiteral.Type else { throw error }
    return try Value(from: self)
  }
}
