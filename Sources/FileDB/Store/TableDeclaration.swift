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

  private let version: Int64
  private let fields: [DeclaredField<Value>]
  private let unique: [[String]]
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
    self.version = version ?? ValueForm(Value.self).migrations?.version ?? 0
    (self.fields, self.unique, self.migration) = (fields, unique, migration)
  }

  /// The declaration as a schema.
  /// - Parameter examples: records in which names of fields are looked for.
  /// - Throws: ``StoreError/Code/invalidSchema`` if the name or a value of a field cannot be found.
  func schema(_ examples: () throws(StoreError) -> OrderedRecords) throws(StoreError) -> TableSchema {
    TableSchema(
      version: version, fields: try fields.map { field throws(StoreError) in try field.schema(examples) },
      unique: unique)
  }
}

/// The rules for one field; see ``TableDeclaration``.
public struct DeclaredField<Value: Codable & Sendable>: Sendable {
  /// The rules without the field's name, or an error if a value of them cannot be stored.
  private let rules: Result<FieldSchema, StoreError>
  /// The name that the program gave.
  private let name: String?
  private let property: DeclaredProperty

  /// - Parameter examples: records in which the name is looked for.
  /// - Throws: ``StoreError/Code/invalidSchema``.
  func schema(_ examples: () throws(StoreError) -> OrderedRecords) throws(StoreError) -> FieldSchema {
    var schema = try rules.get()
    schema.name = if let name { name } else { try property.name(examples) }
    if schema.type == nil { schema.type = MadeUpFields.of(Value.self)?[schema.name].map(FieldType.init(of:)) }
    if schema.type == nil { schema.type = property.type() }
    return schema
  }

  /// Declares the field in which `Value` stores a property, even if its `CodingKeys` give the field another name.
  /// - Parameters:
  ///   - path: the property.
  ///   - name: the field's name; `nil` to find it as ``SortKey/init(_:_:text:)`` does, also from the value that is
  ///     being added. If nothing shows it, the write throws ``StoreError/Code/invalidSchema``.
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
      rules: Result { () throws(StoreError) in
        func stored(_ value: Field?) throws(StoreError) -> PlistValue? {
          do { return try FieldsEncoder.encodeValue(value, codingPath: []) } catch {
            throw StoreError(.invalidSchema, "\(error)", field: name ?? "\(path)")
          }
        }
        return FieldSchema(
          name ?? "", type: type, title: title, isRequired: isRequired, isUnique: isUnique,
          allowedValues: try allowedValues?.map { value throws(StoreError) in try stored(value) }
            .compactMap(\.self), minimum: try stored(minimum),
          maximum: try stored(maximum), pattern: pattern, defaultValue: try stored(defaultValue),
          references: references)
      }, name: name, property: DeclaredProperty(path))
  }
}

/// The property that a rule is for.
///
/// Unchecked because a path may have captured a subscript's argument. Here it is only read.
struct DeclaredProperty: @unchecked Sendable {
  private let path: AnyKeyPath
  private let find: (() throws(StoreError) -> OrderedRecords) throws(StoreError) -> StoredProperty?
  /// The type of its values, as far as the Swift type alone shows it.
  let type: () -> FieldType?

  init<Value: Codable, Field: Codable>(_ path: KeyPath<Value, Field>) {
    self.path = path
    find = { examples throws(StoreError) in
      if let property = StoredProperty.find(path) { return property }
      return StoredProperty.find(path, in: try examples())
    }
    type = { FieldType(madeUp: Field.self) }
  }

  /// - Throws: ``StoreError/Code/invalidSchema``.
  func name(_ examples: () throws(StoreError) -> OrderedRecords) throws(StoreError) -> String {
    guard case .path(let names)? = try find(examples)?.reference, names.count == 1 else {
      throw StoreError(
        .invalidSchema,
        "FileDB cannot tell which field stores \(path); give its name: .field(path, \"name\")")
    }
    return names[0].text
  }
}

extension FieldType {
  /// The type in which values of a Swift type are stored; `nil` if it refuses made-up values.
  fileprivate init?<Field: Codable>(madeUp type: Field.Type) {
    func raw<Raw: RawRepresentable>(_ type: Raw.Type) -> FieldType? {
      func field<Value: Codable>(_ type: Value.Type) -> FieldType? { FieldType(madeUp: type) }
      return (Raw.RawValue.self as? any Codable.Type).flatMap { field($0) }
    }
    let probe = FieldProbe(ValueForm(type), examples: [], .none)
    if let value = try? probe.decode(type, at: []),
      let stored = try? FieldsEncoder.encodeValue(value, codingPath: [])
    {
      self.init(of: stored)
    } else if let type = (type as? any RawRepresentable.Type).flatMap({ raw($0) }) {
      self = type
    } else {
      return nil
    }
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
  public init<Target, Field: Codable & Equatable>(
    _ table: TableName<Target>, _ path: KeyPath<Target, Field>, onDelete: DeleteRule = .restrict
  ) {
    let field = try? FieldName(DeclaredProperty(path).name { OrderedRecords() }).besideID
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
