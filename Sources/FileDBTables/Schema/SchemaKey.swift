/// The keys of a schema in a table's file. The keys of a field have the names that Frictionless Table Schema uses, if
/// it has such a key.
package enum SchemaKey {
  static let newestFormat = "filedb 1"

  static let format = "format"
  static let version = "version"
  static let fields = "fields"
  static let unique = "unique"
  static let referencedBy = "referencedBy"
  static let ofSchema = [format, version, fields, unique, referencedBy]

  static let name = "name"
  static let type = "type"
  static let title = "title"
  static let required = "required"
  static let allowed = "enum"
  static let minimum = "minimum"
  static let maximum = "maximum"
  static let pattern = "pattern"
  static let defaultValue = "default"
  static let references = "references"
  package static let ofField = [
    name, type, title, required, unique, allowed, minimum, maximum, pattern, defaultValue, references,
  ]

  static let table = "table"
  static let field = "field"
  static let onDelete = "onDelete"
  static let ofReference = [table, field, onDelete]
}
