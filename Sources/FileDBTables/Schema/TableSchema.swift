import FileDBPlist

/// What a table declares about its fields. It is kept in the table's file, under the root key `schema`.
///
/// A write checks each field that it adds or changes. A record may have fields that the schema does not name. See
/// <doc:Schemas>.
public struct TableSchema: Hashable, Sendable {
  /// Which shape the records have, from 0: it rises with each migration.
  public var version: Int64
  /// The fields, in the order in which columns are shown.
  public var fields: [FieldSchema]
  /// Lists of fields that are unique together: no two records have the same values in all of them. A record that lacks
  /// one of the fields is not compared.
  public var unique: [[String]]
  /// The tables that refer to this one, in order. FileDB keeps this list: a write to such a table adds it.
  package var referencingTables: [TableKey]

  /// A schema with these fields.
  public init(version: Int64 = 0, fields: [FieldSchema] = [], unique: [[String]] = []) {
    (self.version, self.fields, self.unique) = (version, fields, unique)
    referencingTables = []
  }

  /// The field with this name, compared by its UTF-8 bytes; `nil` if it is not declared. Setting a field replaces the
  /// one of that name, or adds it at the end; setting `nil` removes it.
  public subscript(name: String) -> FieldSchema? {
    get { index(of: name).map { fields[$0] } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let field?): fields[index] = field
      case (let index?, nil): fields.remove(at: index)
      case (nil, let field?): fields.append(field)
      case (nil, nil): break
      }
    }
  }

  private func index(of name: String) -> Int? { fields.firstIndex { compareUTF8($0.name, name) == 0 } }

  /// Whether any record could break it. Names, titles and default values alone give an order to the columns, and nothing
  /// needs to be checked.
  package var hasRules: Bool { !unique.isEmpty || fields.contains(where: \.hasRules) }

  /// Whether it says nothing at all, so that a file needs none.
  package var isEmpty: Bool { self == TableSchema() }
}

/// What a table declares about one field. Every rule but ``isRequired`` is about records that have the field.
public struct FieldSchema: Hashable, Sendable {
  /// The name of the field in the record; no path into a dictionary.
  public var name: String
  /// The type of its values; `nil` for any.
  public var type: FieldType?
  /// A heading for people.
  public var title: String?
  /// Whether every record has the field.
  public var isRequired: Bool
  /// Whether no two records have the same value.
  public var isUnique: Bool
  /// The only values that are allowed; `nil` for any.
  public var allowedValues: [PlistValue]?
  /// The smallest number or the earliest date that is allowed.
  public var minimum: PlistValue?
  /// The largest number or the latest date that is allowed.
  public var maximum: PlistValue?
  /// A regular expression that a text matches from its beginning to its end; see <doc:Schemas> for its syntax.
  public var pattern: String?
  /// The value that a new record gets if it lacks the field.
  public var defaultValue: PlistValue?
  /// The record of another table, or of the same, that the value names.
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

/// The record that a field names: the one whose id, or whose value in a unique field, is the field's value.
public struct ReferenceRule: Hashable, Sendable {
  /// What happens to the records that name a record when that is deleted.
  public enum DeleteRule: String, CaseIterable, Sendable {
    /// The record cannot be deleted.
    case restrict
    /// They are deleted, too.
    case cascade
    /// They lose the field.
    case clear
  }

  /// The table of the record.
  public var table: String
  /// `id`, or the name of a field that is unique there. A field that is itself called `id` is `fields.id`.
  public var field: String
  /// What happens when the record is deleted. Its value in ``field`` cannot be changed while a record names it.
  public var onDelete: DeleteRule

  /// A reference to a record.
  public init(_ table: String, field: String = "id", onDelete: DeleteRule = .restrict) {
    (self.table, self.field, self.onDelete) = (table, field, onDelete)
  }
}

extension ReferenceRule {
  package var tableKey: TableKey { TableKey(table) }

  /// Whether the value is the record's id.
  package var isToID: Bool { compareUTF8(field, "id") == 0 }

  /// `folders.id`, as it is written on the command line and in messages.
  package var text: String { "\(table).\(field)" }
}

extension TableSchema {
  /// All that is unique: by itself, or together.
  package var uniqueGroups: [[String]] { fields.filter(\.isUnique).map { [$0.name] } + unique }

  /// Whether the values of this field tell records apart.
  package func isUnique(_ field: String) -> Bool { self[field]?.isUnique == true }

  package var references: [(field: FieldSchema, rule: ReferenceRule)] {
    fields.compactMap { field in field.references.map { (field, $0) } }
  }
}

/// What the root key `schema` of a table's file is.
package enum SchemaDeclaration: Sendable {
  /// It is not there.
  case none
  /// Another program's. It is kept, and means nothing here.
  case foreign
  case schema(TableSchema)
  /// Ours, and wrong. Until it is right the table takes no writes.
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

  /// `nil` where there is none that can be read.
  package var schema: TableSchema? { if case .schema(let schema) = self { schema } else { nil } }

  package var isForeign: Bool { if case .foreign = self { true } else { false } }
}

/// What is wrong with a schema, and where in it.
package struct SchemaFault: Error {
  package let message: String
  package let path: [PlistStep]

  package init(_ message: String, at path: [PlistStep] = []) { (self.message, self.path) = (message, path) }
}
