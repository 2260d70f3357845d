import FileDBPlist

/// The fields of a record, by name. They do not include its id.
///
/// Field names are compared by their UTF-8 bytes.
public struct Fields: Sendable, Hashable {
  /// The fields as a dictionary of values by name.
  public var dictionary: PlistDictionary

  /// Fields with these names and values.
  public init(_ dictionary: PlistDictionary = PlistDictionary()) { self.dictionary = dictionary }

  /// The value of a field; `nil` if the field is missing. Setting `nil` removes the field.
  /// - Complexity: O(log *n*) to get a value or to replace one, O(*n*) to add or remove a field.
  public subscript(field: String) -> PlistValue? {
    get { dictionary[field] }
    set { dictionary[field] = newValue }
  }
}

extension Fields: CustomStringConvertible {
  public var description: String { dictionary.description }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// Fields with these names and values. If a field is given twice, the last value is kept.
  public init(dictionaryLiteral elements: (String, PlistValue)...) {
    dictionary = PlistDictionary(lastOf: elements.map { PlistDictionary.Entry(key: $0, value: $1) })
  }
}

extension Fields: Codable {
  public init(from decoder: any Decoder) throws {
    let value = try PlistValue(from: decoder)
    guard case .dict(let dictionary) = value else {
      throw DecodingError.typeMismatch(
        Fields.self,
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected fields by name"))
    }
    self.dictionary = dictionary
  }

  public func encode(to encoder: any Encoder) throws { try PlistValue.dict(dictionary).encode(to: encoder) }
}

extension Fields {
  /// The fields as the file will return them. If a field cannot be stored, this throws an error that names it.
  package func normalized(limits: PlistLimits) throws(StoreError) -> Fields {
    // No schema, no condition and no column could name it.
    guard self[""] == nil else { throw StoreError(.invalidValue, "a field has no name") }
    guard self[TableFile.idKey] == nil else {
      throw StoreError(
        .reservedField, "FileDB keeps the record's id under this name", field: TableFile.idKey)
    }
    return Fields(
      try dictionary.mapValues { (key, value) throws(StoreError) in
        do throws(PlistError) {
          try checkXMLText(key, limits: limits)
          return try value.normalized(depth: TableFile.depthOfFields, limits: limits)
        } catch {
          throw StoreError(.unrepresentableValue, error.message, field: key)
        }
      })
  }

  /// The same for a record that had the fields `old`. A field without a name, which another program has written, may
  /// stay, so that the others can be changed.
  package func normalized(limits: PlistLimits, was old: Fields) throws(StoreError) -> Fields {
    guard let nameless = old[""], self[""] == nameless else { return try normalized(limits: limits) }
    var fields = self
    fields[""] = nil
    fields = try fields.normalized(limits: limits)
    fields[""] = nameless
    return fields
  }
}
