import FileDBPlist

/// The rules that a table declares for its fields. They are stored in the table's file, under the root key `schema`.
///
/// Each write checks the fields that it adds or changes. A record may also have fields that the schema does not name.
/// See <doc:Schemas>.
public struct TableSchema: Hashable, Sendable {
  /// The version of the records' shape, from 0. Each migration raises it.
  public var version: Int64
  /// The fields, in the order in which their columns are shown.
  public var fields: [FieldSchema] { didSet { indices = FieldIndices() } }
  private var indices = FieldIndices()
  /// Lists of fields that are unique together: no two records may have the same values in all fields of a list. A
  /// record that lacks one of the fields is not compared.
  public var unique: [[String]]
  /// The tables that refer to this one, in order. FileDB keeps this list: a write to such a table adds it.
  package var referencingTables: [TableKey]

  /// A schema with these fields.
  public init(version: Int64 = 0, fields: [FieldSchema] = [], unique: [[String]] = []) {
    (self.version, self.fields, self.unique) = (version, fields, unique)
    referencingTables = []
  }

  /// The field with this name; `nil` if the schema does not declare it. Names are compared by their UTF-8 bytes.
  /// Setting a field replaces the one with that name, or adds it at the end. Setting `nil` removes it.
  /// - Complexity: O(1) on average; O(*n*) for the first use after ``fields`` has changed, and after a field is removed.
  public subscript(name: String) -> FieldSchema? {
    get { indices.index(of: name, in: fields).map { fields[$0] } }
    set {
      var indices = indices
      switch (indices.index(of: name, in: fields), newValue) {
      case (let place?, let field?):
        fields[place] = field
        if compareUTF8(field.name, name) == 0 { self.indices = indices }
      case (let place?, nil): fields.remove(at: place)
      case (nil, let field?):
        fields.append(field)
        indices.add(field.name, at: fields.count - 1)
        self.indices = indices
      case (nil, nil): break
      }
    }
  }

  /// Whether a record can break this schema. If it has only names, titles and default values, it just orders the
  /// columns.
  package var hasRules: Bool { !unique.isEmpty || fields.contains(where: \.hasRules) }

  /// Whether the schema is empty, so that the file need not contain it.
  package var isEmpty: Bool { self == TableSchema() }
}

/// The rules for one field. All of them except ``isRequired`` concern only records that have the field.
public struct FieldSchema: Hashable, Sendable {
  /// The name of the field in the record. It cannot be a path into a dictionary.
  public var name: String
  /// The type of the field's values; `nil` allows any type.
  public var type: FieldType?
  /// A title for people, for example as a column's heading.
  public var title: String?
  /// Whether every record must have the field.
  public var isRequired: Bool
  /// Whether the value must be unique: no two records may have the same value.
  public var isUnique: Bool
  /// The only values that are allowed; `nil` allows any value.
  public var allowedValues: [PlistValue]?
  /// The smallest number or the earliest date that is allowed.
  public var minimum: PlistValue?
  /// The largest number or the latest date that is allowed.
  public var maximum: PlistValue?
  /// A regular expression that must match the whole text, from its beginning to its end. See <doc:Schemas> for its
  /// syntax.
  public var pattern: String?
  /// The value that a new record gets if it lacks the field.
  public var defaultValue: PlistValue?
  /// The reference to a record of this or another table, if the field's value is one.
  public var references: ReferenceRule?

  /// A field with these rules.
  public init(
    _ name: String, type: FieldType? = nil, title: String? = nil, isRequired: Bool = false,
    isUnique: Bool = false, allowedValues: [PlistValue]? = nil, minimum: PlistValue? = nil,
    maximum: PlistValue? = nil, pattern: String? = nil, defaultValue: PlistValue? = nil,
    references: ReferenceRule? = nil
  ) {
    (self.name, self.type, self.title) = (name, type, title)
    (self.isRequired, self.isUnique, self.allowedValues) = (isRequired, isUnique, allowedValues)
    (self.minimum, self.maximum, self.pattern) = (minimum, maximum, pattern)
    (self.defaultValue, self.references) = (defaultValue, references)
  }

  fileprivate var hasRules: Bool {
    var bare = FieldSchema(name, title: title)
    bare.defaultValue = defaultValue
    return self != bare
  }
}

/// A reference to a record. The field's value is the record's id, or its value in a unique field.
public struct ReferenceRule: Hashable, Sendable {
  /// What happens to the referring records when the record that they refer to is deleted.
  public enum DeleteRule: String, CaseIterable, Sendable {
    /// FileDB refuses to delete the record.
    case restrict
    /// The referring records are deleted too.
    case cascade
    /// The referring records lose the field.
    case clear
  }

  /// The table that the reference leads to.
  public var table: String
  /// `id`, or the name of a field that is unique in ``table``. A field that is itself called `id` is `fields.id`.
  public var field: String
  /// What happens when the record is deleted. As long as another record refers to it, its value in ``field`` cannot be
  /// changed.
  public var onDelete: DeleteRule

  /// A reference to a record.
  public init(_ table: String, field: String = "id", onDelete: DeleteRule = .restrict) {
    (self.table, self.field, self.onDelete) = (table, field, onDelete)
  }
}

extension ReferenceRule {
  package var tableKey: TableKey { TableKey(table) }

  /// Whether the reference is to the record's id.
  package var isToID: Bool { compareUTF8(field, "id") == 0 }

  /// The reference as it is written on the command line and in messages, for example `folders.id`.
  package var text: String { "\(table).\(field)" }
}

extension TableSchema {
  /// All groups of fields that are unique, each by itself or together.
  package var uniqueGroups: [[String]] { fields.filter(\.isUnique).map { [$0.name] } + unique }

  /// Whether no two records may have the same value in this field.
  package func isUnique(_ field: String) -> Bool { self[field]?.isUnique == true }

  package var references: [(field: FieldSchema, rule: ReferenceRule)] {
    fields.compactMap { field in field.references.map { (field, $0) } }
  }
}

/// The content of the root key `schema` of a table's file.
package enum SchemaDeclaration: Sendable {
  /// There is no such key.
  case none
  /// Another program wrote it. FileDB keeps it and ignores it.
  case foreign
  case schema(TableSchema)
  /// A schema of FileDB that has an error. Until it is corrected, the table cannot be written to.
  case unreadable(SchemaFault)

  package init(_ value: PlistValue?) {
    guard let value else {
      self = .none
      return
    }
    guard let root = value.dict, root[SchemaKey.format]?.string == SchemaKey.newestFormat else {
      self = .foreign
      return
    }
    do throws(SchemaFault) { self = .schema(try TableSchema(root)) } catch { self = .unreadable(error) }
  }

  /// The schema; `nil` if there is none that can be read.
  package var schema: TableSchema? { if case .schema(let schema) = self { schema } else { nil } }

  package var isForeign: Bool { if case .foreign = self { true } else { false } }
}

/// What is wrong with a schema, and the place in it.
package struct SchemaFault: Error {
  package let message: String
  package let path: [PlistStep]

  package init(_ message: String, at path: [PlistStep] = []) { (self.message, self.path) = (message, path) }
}
