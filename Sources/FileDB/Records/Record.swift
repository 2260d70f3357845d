import FileDBPlist

/// The fields of a record, by name. Its id is not among them.
///
/// Field names are told apart by their UTF-8 bytes.
public struct Record: Sendable, Equatable {
  public var fields: PlistDictionary

  public init(fields: PlistDictionary = PlistDictionary()) { self.fields = fields }

  public subscript(field: String) -> PlistValue? {
    get { fields[field] }
    set { fields[field] = newValue }
  }
}

extension Record: CustomStringConvertible {
  public var description: String { fields.description }
}

extension Record: ExpressibleByDictionaryLiteral {
  /// A field that is given twice keeps its last value.
  public init(dictionaryLiteral elements: (String, PlistValue)...) {
    fields = PlistDictionary()
    for (field, value) in elements { fields[field] = value }
  }
}

extension Record: Codable {
  public init(from decoder: any Decoder) throws {
    let value = try PlistValue(from: decoder)
    guard case .dict(let fields) = value else {
      throw DecodingError.typeMismatch(
        Record.self,
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected fields by name"))
    }
    self.fields = fields
  }

  public func encode(to encoder: any Encoder) throws { try PlistValue.dict(fields).encode(to: encoder) }
}

extension Record {
  /// The record as its file will give it back, or the error that names the field which cannot be stored.
  package func normalized(limits: PlistLimits) throws(StoreError) -> Record {
    guard self[TableFile.idKey] == nil else {
      throw StoreError(
        StoreError.reservedField, "this name is kept for the record's id", field: TableFile.idKey)
    }
    return Record(
      fields: try fields.mapValues { (key, value) throws(StoreError) in
        do throws(PlistError) {
          try checkXMLText(key, limits: limits)
          return try value.normalized(depth: TableFile.depthOfFields, limits: limits)
        } catch {
          throw StoreError(StoreError.unrepresentableValue, error.message, field: key)
        }
      })
  }
}
