import FileDBPlist
import FileDBTables

/// A record of a snapshot: its id, its fields, and its value, which is decoded when you ask for it.
public struct StoredRecord<Value: Codable & Sendable>: Sendable, Identifiable {
  let encoded: EncodedRecord
  let source: TableSource

  public var id: RecordID<Value> { RecordID(encoded.id) }
  /// The fields as they are stored, including those that `Value` does not know. Each call decodes them.
  public var fields: Fields { encoded.fields }

  /// The fields as a `Value`. Each call decodes them.
  /// - Throws: ``StoreError/Code/invalidValue`` with table, record and field if the fields do not fit the type. If the
  ///   file has the record in this state, the error also has the line. For a ``VersionedValue``,
  ///   ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  public var value: Value {
    get throws {
      var reader = source.spareReader.take(Value.self)
      defer { source.spareReader.put(reader) }
      do { return try reader.value(of: encoded) } catch {
        throw StoreError.fault(error, in: encoded, of: source)
      }
    }
  }

  /// The record in the form of the newest version of `Value`.
  var migrated: StoredRecord {
    get throws {
      let newest = try StoreError.naming(encoded, of: source) { try ValueForm(Value.self).newest(encoded) }
      return StoredRecord(encoded: newest, source: source)
    }
  }

  /// The fields. If this is `other`, they are not decoded a second time.
  func fields(ifNot other: StoredRecord, _ known: Fields) -> Fields {
    encoded.hasSameBytes(as: other.encoded) ? known : fields
  }
}

/// Records are equal if they have the same id and fields, whatever store they are from.
extension StoredRecord: Hashable {
  public static func == (left: StoredRecord, right: StoredRecord) -> Bool { left.encoded == right.encoded }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(encoded.id)
    encoded.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension StoredRecord: CustomStringConvertible {
  /// The id and the fields: `3 ["isDone": true, "title": "Buy milk"]`.
  public var description: String { "\(id) \(fields)" }
}

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

  /// An error about a field of this record. The field's line is searched for when somebody asks for it.
  package func error(_ code: StoreError.Code, _ message: String, field: String) -> StoreError {
    StoreError(code, message, field: field).naming(encoded, of: source, at: FieldPath([AnyKey(field)]))
  }
}

extension FieldReference {
  package func value<Value>(in record: StoredRecord<Value>) -> PlistValue? {
    value(of: record.id.plain) { record[$0] }
  }
}
