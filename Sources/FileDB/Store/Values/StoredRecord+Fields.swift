import FileDBPlist

extension StoredRecord {
  /// One field as it is stored; `nil` where the record has none of this name. The others are passed over.
  public subscript(field: String) -> PlistValue? { encoded.field(field) }

  /// One field as a Swift type, as a value's property of that type would have it. The others are passed over.
  ///
  ///     let title = try record.decode(String.self, "title")
  ///     let due = try record.decode(Date?.self, "due")
  ///
  /// - Throws: ``StoreError/invalidValue`` where it is missing, unless `Field` is an optional, or does not fit the
  ///   type.
  public func decode<Field: Decodable>(_ type: Field.Type, _ field: String) throws -> Field {
    try StoreError.naming(encoded, of: source) {
      let key = AnyKey(field)
      guard let value = encoded.field(field) else { return try MissingField.decode(type, key, in: []) }
      return try FieldsDecoder.decodeValue(type, from: value, codingPath: [key])
    }
  }
}
