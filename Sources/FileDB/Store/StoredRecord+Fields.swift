import FileDBPlist

extension StoredRecord {
  /// One field as it is stored; `nil` if the record does not have this field. The other fields are not decoded.
  public subscript(field: String) -> PlistValue? { encoded.field(field) }

  /// One field as a Swift type. It is decoded as a property of that type would be. The other fields are not decoded.
  ///
  ///     let title = try record.decode(String.self, "title")
  ///     let due = try record.decode(Date?.self, "due")
  ///
  /// For a ``VersionedValue`` and a ``DefaultedValue``, it returns the field that ``value`` would have.
  /// - Throws: ``StoreError/Code/invalidValue`` if the field does not fit the type, or is missing and `Field` is not an
  ///   optional; for a ``VersionedValue``, as ``value``.
  public func decode<Field: Decodable>(_ type: Field.Type, _ field: String) throws -> Field {
    try StoreError.naming(encoded, of: source) {
      let key = AnyKey(field)
      let form = ValueForm(Value.self)
      guard let value = try form.newest(encoded).field(field) ?? form.defaultValue(of: field) else {
        return try MissingField.decode(type, key, in: [])
      }
      return try ElementDecoder(value, in: nil, key).decode(type)
    }
  }
}

extension FieldReference {
  package func value<Value>(in record: StoredRecord<Value>) -> PlistValue? {
    value(of: record.id.plain) { record[$0] }
  }
}
