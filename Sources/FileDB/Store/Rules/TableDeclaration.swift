import FileDBPlist
import FileDBTables

/// What a program declares about the fields of a table, once, beside the table's name.
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
/// The first write to a table that declares nothing yet writes the schema into the table's file. Later writes compare
/// the two. If they differ in a rule, the write throws ``StoreError/Code/schemaDiffers``: give the declaration a higher
/// version, and the next write puts it in the place of the one in the file. If the file has a higher version, a newer
/// program has been there, and the write throws ``StoreError/Code/newerSchema``. Titles and the order of the fields may
/// differ. Reading compares nothing.
public struct TableDeclaration<Value: Codable & Sendable>: Sendable {
  /// What brings the records of an older version into the new shape: called with the table and the version of its file.
  public typealias Migration = @Sendable (_ table: RecordTable<Fields>, _ version: Int64) throws -> Void

  let schema: TableSchema
  let migration: Migration?

  /// A declaration.
  /// - Parameters:
  ///   - fields: what is declared of each field, in the order in which columns are shown.
  ///   - unique: lists of fields that are unique together, by their names.
  ///   - version: which shape the records have; `nil` for the number of migrations of a ``VersionedValue``, and 0 for
  ///     another type. Raise it with each change of the rules.
  ///   - migration: run before a higher version is written to the file, in the same transaction. The records of a
  ///     ``VersionedValue`` are brought to its newest version by themselves.
  public init(
    _ fields: DeclaredField<Value>..., unique: [[String]] = [], version: Int64? = nil,
    migration: Migration? = nil
  ) {
    let version = version ?? ValueForm(Value.self).migrations?.version ?? 0
    schema = TableSchema(version: version, fields: fields.map(\.schema), unique: unique)
    self.migration = migration
  }
}

/// What is declared of a field; see ``TableDeclaration``.
public struct DeclaredField<Value: Codable & Sendable>: Sendable {
  let schema: FieldSchema

  /// Declares the field in which `Value` stores a property, whatever its `CodingKeys` call it.
  /// - Parameters:
  ///   - path: the property.
  ///   - name: the field's name; `nil` to find it as ``SortKey/init(_:_:text:)`` does.
  ///   - type: the type of its values; `nil` for the one that `Value` encodes.
  ///   - title: a heading for people.
  ///   - isRequired: whether every record has the field.
  ///   - isUnique: whether no two records have the same value.
  ///   - allowedValues: the only values that are allowed.
  ///   - minimum: the smallest number or the earliest date.
  ///   - maximum: the largest number or the latest date.
  ///   - pattern: a regular expression that a text matches as a whole.
  ///   - defaultValue: what a new record gets that lacks the field.
  ///   - references: the record that the value names.
  /// - Precondition: the name is given, or can be found; see ``SortKey/init(_:_:text:)``.
  public static func field<Field: Equatable>(
    _ path: KeyPath<Value, Field>, _ name: String? = nil, type: FieldType? = nil, title: String? = nil,
    isRequired: Bool = false, isUnique: Bool = false, allowedValues: [PlistValue]? = nil,
    minimum: PlistValue? = nil, maximum: PlistValue? = nil, pattern: String? = nil,
    defaultValue: PlistValue? = nil, references: ReferenceRule? = nil
  ) -> DeclaredField {
    let name = name ?? Self.name(of: path)
    let encoded = Fields(probing: Value.self)?[name].map(FieldType.init(of:))
    return DeclaredField(
      schema: FieldSchema(
        name, type: type ?? encoded, title: title, isRequired: isRequired, isUnique: isUnique,
        allowedValues: allowedValues, minimum: minimum, maximum: maximum, pattern: pattern,
        defaultValue: defaultValue, references: references))
  }

  private static func name<Field: Equatable>(of path: KeyPath<Value, Field>) -> String {
    guard case .path(let names)? = FieldReference(of: path), names.count == 1 else {
      preconditionFailure(
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
  /// - Precondition: the field's name can be found; see ``SortKey/init(_:_:text:)``.
  public init<Target, Field: Equatable>(
    _ table: TableName<Target>, _ path: KeyPath<Target, Field>, onDelete: DeleteRule = .restrict
  ) {
    let field = DeclaredField<Target>.field(path).schema.name
    self.init(table.text, field: FieldName(field).besideID, onDelete: onDelete)
  }
}
