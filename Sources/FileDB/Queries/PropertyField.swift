import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Reads a property of records from its field alone, which is faster than decoding the whole value.
///
/// Unchecked: the closure in the decoder captures nothing but types.
struct PropertyField<Field>: @unchecked Sendable {
  let reference: FieldReference
  private let decoder: FieldDecoder<Field>
  let withoutField: StoredProperty.Missing

  /// - Returns: `nil` if only the type itself can tell what the property is.
  init?<Value: Codable>(_ path: KeyPath<Value, Field>, in records: OrderedRecords) {
    func decoder(_ type: (some Decodable).Type) -> Any { FieldDecoder(type, inColumn: nil) }
    func columnDecoder<Known: ColumnField>(_ type: Known.Type) -> Any {
      FieldDecoder(type) { Known(in: $0, $1, of: $2) }
    }
    let made =
      (Field.self as? any ColumnField.Type).map { columnDecoder($0) }
      ?? (Field.self as? any Decodable.Type).map { decoder($0) }
    guard let decoder = made as? FieldDecoder<Field>,
      let property = StoredProperty.find(path, in: records), property.isReadAlone
    else { return nil }
    (reference, withoutField) = (property.reference, property.withoutField)
    self.decoder = decoder
  }

  /// The property of a record that holds `value` in the field.
  /// - Returns: `nil` if only the type itself can tell.
  func property(of value: PlistValue?) -> Field? {
    guard let value else { return withoutField == .isNil ? decoder.missing() : nil }
    return decoder.decode(value)
  }

  /// The property of a record in a chunk.
  /// - Returns: `nil` if only the type itself can tell.
  func property(in values: ChunkValues, _ index: Int, of record: EncodedRecord) -> Field? {
    if let decodeColumn = decoder.decodeColumn, case .column(let column, _) = values,
      column.kind(index) != .missing, let property = decodeColumn(column, index, record)
    {
      return property
    }
    return property(of: values.value(index, of: record))
  }
}

/// Decodes the values of a field.
private struct FieldDecoder<Field> {
  let decode: (PlistValue) -> Field?
  /// `nil` for a type that is not read from columns.
  let decodeColumn: ((ChunkColumn, Int, EncodedRecord) -> Field?)?
  let missing: () -> Field?
}

extension FieldDecoder where Field: Decodable {
  init(_ type: Field.Type, inColumn decodeColumn: ((ChunkColumn, Int, EncodedRecord) -> Field?)?) {
    self.decodeColumn = decodeColumn
    decode = { try? ElementDecoder($0).decode(Field.self) }
    missing = { try? MissingField.decode(Field.self, AnyKey(""), in: []) }
  }
}

/// The property of some records.
///
/// Unchecked: the thread that makes it hands it over, and does not keep it.
private struct PropertyPart<Field>: @unchecked Sendable {
  let fields: [Field?]
}

extension TableSnapshot {
  /// The property of each record; `nil` for a record that does not fit the type, unless the property's field is enough.
  /// - Throws: the errors of migrating a record to its type's newest version.
  func properties<Field>(at path: KeyPath<Value, Field>) throws(StoreError) -> [Field?] {
    // Safe: threads only read the path.
    nonisolated(unsafe) let path = path
    let field = PropertyField(path, in: state.records)
    let parts = try ofChunks(reading: field.map { [$0.reference] } ?? []) { _, records, values in
      var reader = ValueReader<Value>()
      return PropertyPart(
        fields: records.enumerated().map { index, record in
          field.flatMap { $0.property(in: values[0], index, of: record) }
            ?? (try? reader.value(of: record))?[keyPath: path]
        })
    }
    return parts.flatMap(\.fields)
  }

  /// The records whose property passes a test, in order.
  /// - Throws: ``StoreError/Code/invalidValue`` for the first record whose property is not known.
  func records<Field>(
    at path: KeyPath<Value, Field>, where isIncluded: @Sendable (Field) -> Bool
  ) throws(StoreError) -> [StoredRecord<Value>] {
    // Safe: threads only read the path.
    nonisolated(unsafe) let path = path
    let field = PropertyField(path, in: state.records)
    let chosen = try ofChunks(reading: field.map { [$0.reference] } ?? []) {
      (_, records, values) throws(StoreError) in
      var reader = ValueReader<Value>()
      var chosen: [EncodedRecord] = []
      for (index, record) in records.enumerated() {
        let known = field.flatMap { $0.property(in: values[0], index, of: record) }
        let property =
          if let known { known } else {
            try StoreError.naming(record, of: source) { try reader.value(of: record)[keyPath: path] }
          }
        if isIncluded(property) { chosen.append(record) }
      }
      return chosen
    }
    return chosen.flatMap { $0.map { StoredRecord(encoded: $0, source: source) } }
  }
}
