import FileDBPlist
import FileDBTables
import Synchronization

/// The rules that a program declares for the fields of a table, once, together with the table's name.
///
/// ```swift
/// extension TableName<Note> {
///   static var notes: Self {
///     TableName(
///       "notes",
///       declaring: TableDeclaration(
///         .field(\.title, isRequired: true, isUnique: true),
///         .field(\.folder, references: ReferenceRule(.folders, onDelete: .cascade))))
///   }
/// }
/// ```
///
/// If the table declares nothing yet, the first write writes the declaration as a schema into the table's file. Later
/// writes compare the two:
///
/// - If they differ in a rule, the write throws ``StoreError/Code/schemaDiffers``. Give the declaration a higher
///   version, and the next write replaces the schema in the file.
/// - If the file has a higher version, a newer program wrote it, and the write throws ``StoreError/Code/newerSchema``.
///
/// Titles and the order of the fields may differ. Reading does not compare anything: it works for all records that fit
/// `Value`.
///
/// FileDB evaluates the declaration once in each transaction that writes to the table, so it should always be the same
/// for the same name. A program may declare a table twice, for example for an old type and a new one. Then the higher
/// version changes the file, and writes with the lower one throw ``StoreError/Code/newerSchema``.
public struct TableDeclaration<Value: Codable & Sendable>: Sendable {
  /// Brings the records of an older version into the new shape. It is called with the table and the version in its
  /// file.
  public typealias Migration = @Sendable (_ table: RecordTable<Fields>, _ version: Int64) throws -> Void

  /// An error if the name or a value of a field cannot be found.
  let schema: Result<TableSchema, StoreError>
  let migration: Migration?

  /// Declares the rules of a table.
  /// - Parameters:
  ///   - fields: the rules for each field, in the order in which columns are shown.
  ///   - unique: lists of fields that are unique together, by their names.
  ///   - version: the version of the records' shape. Raise it with each change of the rules. `nil` takes the number of
  ///     migrations of a ``VersionedValue``, and 0 for another type.
  ///   - migration: run before a higher version is written to the file, in the same transaction. The records of a
  ///     ``VersionedValue`` need none: FileDB brings them to its newest version.
  public init(
    _ fields: DeclaredField<Value>..., unique: [[String]] = [], version: Int64? = nil,
    migration: Migration? = nil
  ) {
    let version = version ?? ValueForm(Value.self).migrations?.version ?? 0
    schema = Result { () throws(StoreError) in
      TableSchema(
        version: version, fields: try fields.map { field throws(StoreError) in try field.schema.get() },
        unique: unique)
    }
    self.migration = migration
  }
}

/// The rules for one field; see ``TableDeclaration``.
public struct DeclaredField<Value: Codable & Sendable>: Sendable {
  let schema: Result<FieldSchema, StoreError>

  /// Declares the field in which `Value` stores a property, even if its `CodingKeys` give the field another name.
  /// - Parameters:
  ///   - path: the property.
  ///   - name: the field's name; `nil` to find it as ``SortKey/init(_:_:text:)`` does. If that fails, the first write
  ///     to the table throws ``StoreError/Code/invalidSchema``.
  ///   - type: the type of its values; `nil` for the one that `Value` encodes.
  ///   - title: a title for people, for example as a column's heading.
  ///   - isRequired: whether every record must have the field.
  ///   - isUnique: whether no two records may have the same value.
  ///   - allowedValues: the only values that are allowed.
  ///   - minimum: the smallest number or the earliest date that is allowed.
  ///   - maximum: the largest number or the latest date that is allowed.
  ///   - pattern: a regular expression that must match the whole text.
  ///   - defaultValue: the value that a new record gets if it lacks the field.
  ///   - references: the reference to a record, if the field's value is one.
  public static func field<Field: Codable & Equatable>(
    _ path: KeyPath<Value, Field>, _ name: String? = nil, type: FieldType? = nil, title: String? = nil,
    isRequired: Bool = false, isUnique: Bool = false, allowedValues: [Field]? = nil, minimum: Field? = nil,
    maximum: Field? = nil, pattern: String? = nil, defaultValue: Field? = nil,
    references: ReferenceRule? = nil
  ) -> DeclaredField {
    DeclaredField(
      schema: Result { () throws(StoreError) in
        let name = if let name { name } else { try Self.name(of: path) }
        func stored(_ value: Field?) throws(StoreError) -> PlistValue? {
          do { return try FieldsEncoder.encodeValue(value, codingPath: []) } catch {
            throw StoreError(.invalidSchema, "\(error)", field: name)
          }
        }
        let encoded = MadeUpFields.of(Value.self)?[name].map(FieldType.init(of:))
        return FieldSchema(
          name, type: type ?? encoded, title: title, isRequired: isRequired, isUnique: isUnique,
          allowedValues: try allowedValues?.map { value throws(StoreError) in try stored(value) }
            .compactMap(\.self), minimum: try stored(minimum),
          maximum: try stored(maximum), pattern: pattern, defaultValue: try stored(defaultValue),
          references: references)
      })
  }

  static func name<Field>(of path: KeyPath<Value, Field>) throws(StoreError) -> String {
    guard case .path(let names)? = StoredProperty.find(path)?.reference, names.count == 1 else {
      throw StoreError(
        .invalidSchema,
        "FileDB cannot tell in which field \(Value.self) stores \(path); give its name: .field(path, \"name\")"
      )
    }
    return names[0].text
  }
}

extension ReferenceRule {
  /// A reference to a record of `table` by its id.
  public init<Target>(_ table: TableName<Target>, onDelete: DeleteRule = .restrict) {
    self.init(table.text, onDelete: onDelete)
  }

  /// A reference to a record of `table` by its value in a unique field.
  ///
  /// If the field's name cannot be found, see ``SortKey/init(_:_:text:)``, the first write to the table throws
  /// ``StoreError/Code/invalidSchema``.
  public init<Target, Field: Equatable>(
    _ table: TableName<Target>, _ path: KeyPath<Target, Field>, onDelete: DeleteRule = .restrict
  ) {
    let field = try? FieldName(DeclaredField<Target>.name(of: path)).besideID
    self.init(table.text, field: field ?? "", onDelete: onDelete)
  }
}

/// The fields of a made-up value of each type. They are made once, because a declaration is evaluated for each write.
private enum MadeUpFields {
  private static let known = Mutex<[ObjectIdentifier: Fields?]>([:])

  /// - Returns: `nil` for a type that refuses made-up fields.
  static func of<Value: Codable>(_ type: Value.Type) -> Fields? {
    let key = ObjectIdentifier(type)
    if let fields = known.withLock({ $0[key] }) { return fields }
    // Not while holding the lock, because this runs the type's own code.
    let fields = Fields(probing: type)
    known.withLock { $0[key] = .some(fields) }
    return fields
  }
}
