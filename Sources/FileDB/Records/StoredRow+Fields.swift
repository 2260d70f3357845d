import FileDBPlist

extension StoredRow {
  /// One field as it is stored; `nil` where the record has none of this name. The others are passed over.
  public subscript(field: String) -> PlistValue? { stored.field(field) }

  /// One field as a Swift type, as a row's property of that type would have it. The others are passed over.
  ///
  ///     let title = try row.decode(String.self, "title")
  ///     let due = try row.decode(Date?.self, "due")
  ///
  /// - Throws: ``StoreError/invalidRow`` where it is missing, unless `Value` is an optional, or does not fit the type.
  public func decode<Value: Decodable>(_ type: Value.Type, _ field: String) throws -> Value {
    try StoreError.naming(stored, of: source) {
      let key = AnyKey(field)
      guard let value = stored.field(field) else { return try MissingField.decode(type, key, in: []) }
      return try RowDecoder.decodeValue(type, from: value, codingPath: [key])
    }
  }
}

extension StoredRecord {
  /// - Complexity: O(*n*) in the size of the record up to this field.
  fileprivate func field(_ name: String) -> PlistValue? {
    guard compareUTF8(name, TableFile.idKey) != 0 else { return nil }
    return bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var entries = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let (key, element) = entries.next() {
        if reader.isText(key, name) { return reader.value(of: element) }
      }
      return nil
    }
  }

  /// Those of these fields that the record has.
  func fields(_ names: [String]) -> PlistDictionary {
    bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var found = PlistDictionary()
      var entries = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let (key, element) = entries.next() {
        if let name = names.first(where: { reader.isText(key, $0) }) {
          found[name] = reader.value(of: element)
        }
      }
      return found
    }
  }
}
