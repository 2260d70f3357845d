import FileDB
import FileDBEssentials
import FileDBPlist

/// A schema as a Frictionless Table Schema, <https://specs.frictionlessdata.io/table-schema/>.
///
/// The types are `string`, `integer`, `number`, `boolean`, `datetime`, `object`, and `string` with the format `binary`
/// for data. Rules that Frictionless does not have are stored under names that begin with `filedb:`, which other
/// programs ignore.
public enum FrictionlessSchema {
  private static let deleteRule = "filedb:onDelete"
  private static let defaultValue = "filedb:default"
  private static let version = "filedb:version"

  // MARK: - Writing

  /// The JSON text, with a line for each field.
  public static func text(of schema: TableSchema) -> String {
    var parts = ["\"fields\": [\(list(schema.fields.map(object)))]"]
    if !schema.unique.isEmpty {
      parts.append(
        "\"uniqueKeys\": [\(list(schema.unique.map { JSONText.value(.array($0.map { .string($0) })) }))]")
    }
    let keys = schema.fields.compactMap { field in field.references.map { foreignKey(of: field.name, $0) } }
    if !keys.isEmpty { parts.append("\"foreignKeys\": [\(list(keys))]") }
    if schema.version > 0 { parts.append("\"\(version)\": \(schema.version)") }
    return "{\n  " + parts.joined(separator: ",\n  ") + "\n}"
  }

  private static func list(_ objects: [String]) -> String {
    objects.isEmpty ? "" : "\n    " + objects.joined(separator: ",\n    ") + "\n  "
  }

  private static func object(_ field: FieldSchema) -> String {
    var object: [(String, PlistValue)] = [("name", .string(field.name))]
    object += typeWords(field.type)
    if let title = field.title { object.append(("title", .string(title))) }
    var constraints: [(String, PlistValue)] = []
    if field.isRequired { constraints.append(("required", true)) }
    if field.isUnique { constraints.append(("unique", true)) }
    if let allowed = field.allowedValues { constraints.append(("enum", .array(allowed))) }
    if let minimum = field.minimum { constraints.append(("minimum", minimum)) }
    if let maximum = field.maximum { constraints.append(("maximum", maximum)) }
    if let pattern = field.pattern { constraints.append(("pattern", .string(pattern))) }
    var texts = object.map { "\"\($0)\": \(JSONText.value($1))" }
    if !constraints.isEmpty {
      texts.append(
        "\"constraints\": {" + constraints.map { "\"\($0)\": \(JSONText.value($1))" }.joined(separator: ", ")
          + "}")
    }
    if let value = field.defaultValue { texts.append("\"\(defaultValue)\": \(JSONText.value(value))") }
    return "{" + texts.joined(separator: ", ") + "}"
  }

  private static func typeWords(_ type: FieldType?) -> [(String, PlistValue)] {
    switch type {
    case nil: [("type", "any")]
    case .string: [("type", "string")]
    case .integer: [("type", "integer")]
    case .float: [("type", "number")]
    case .bool: [("type", "boolean")]
    case .date: [("type", "datetime")]
    case .data: [("type", "string"), ("format", "binary")]
    case .json: [("type", "object")]
    }
  }

  private static func foreignKey(of field: String, _ rule: ReferenceRule) -> String {
    """
    {"fields": \(JSONText.quoted(field)), "reference": {"resource": \(JSONText.quoted(rule.table)), "fields": \
    \(JSONText.quoted(rule.field))}, "\(deleteRule)": \(JSONText.quoted(rule.onDelete.rawValue))}
    """
  }

  // MARK: - Reading

  /// Reads the schema from a JSON file.
  /// - Parameter path: the path of the file; `-` is standard input.
  /// - Throws: as ``read(_:name:)``, and the errors of reading the file.
  package static func read(_ path: String) throws -> TableSchema {
    let file = path == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: path))
    return try read(file.readAll(), name: path)
  }

  /// Reads a schema from JSON text. Some types become types of FileDB: `array`, `geojson` and `object` become json,
  /// `year` becomes integer, `date` becomes date, `any` becomes no type, and all others become text.
  /// - Parameter name: the name of the text in errors.
  /// - Throws: ``StoreError/Code/invalidText`` for text that is not such a schema.
  public static func read(_ bytes: [UInt8], name: String) throws -> TableSchema {
    guard let text = String(validating: bytes, as: UTF8.self),
      let root = try JSONParser.parse(text, name: name)?.dict,
      let fields = root["fields"]?.array
    else { throw fault("this is not a Frictionless Table Schema: it has no 'fields'", name) }
    var schema = TableSchema(version: root[version]?.integer ?? 0)
    for field in fields { schema.fields.append(try read(field, name)) }
    for name in names(root["primaryKey"]) where names(root["primaryKey"]).count == 1 {
      schema[name]?.isRequired = true
      schema[name]?.isUnique = true
    }
    let groups = (root["uniqueKeys"]?.array ?? []).map(names) + [names(root["primaryKey"])]
    for group in groups where group.count > 1 { schema.unique.append(group) }
    for group in groups.dropLast() where group.count == 1 { schema[group[0]]?.isUnique = true }
    for key in root["foreignKeys"]?.array ?? [] { try readReference(key, into: &schema, name) }
    return schema
  }

  private static func read(_ value: PlistValue, _ file: String) throws -> FieldSchema {
    guard let object = value.dict, let name = object["name"]?.string else {
      throw fault("a field has no name", file)
    }
    var field = FieldSchema(name, type: type(object))
    field.title = object["title"]?.string
    let constraints = object["constraints"]?.dict ?? PlistDictionary()
    field.isRequired = constraints["required"]?.bool ?? false
    field.isUnique = constraints["unique"]?.bool ?? false
    field.pattern = constraints["pattern"]?.string
    func typed(_ value: PlistValue?, _ rule: String) throws -> PlistValue? {
      guard let value, let type = field.type else { return value }
      guard let typed = type.value(of: value) else {
        throw fault("'\(rule)' of '\(name)' is not \(type.expectation)", file)
      }
      return typed
    }
    field.allowedValues = try constraints["enum"]?.array?.compactMap { try typed($0, "enum") }
    field.minimum = try typed(constraints["minimum"], "minimum")
    field.maximum = try typed(constraints["maximum"], "maximum")
    field.defaultValue = try typed(object[defaultValue], "default")
    return field
  }

  private static func type(_ object: PlistDictionary) -> FieldType? {
    switch object["type"]?.string ?? "string" {
    case "any": nil
    case "integer", "year": .integer
    case "number": .float
    case "boolean": .bool
    case "date", "datetime": .date
    case "object", "array", "geojson": .json
    case "string" where object["format"]?.string == "binary": .data
    default: .string
    }
  }

  private static func readReference(
    _ value: PlistValue, into schema: inout TableSchema, _ file: String
  ) throws {
    let fields = names(value.dict?["fields"])
    let target = value.dict?["reference"]?.dict
    let targets = names(target?["fields"])
    guard let table = target?["resource"]?.string, fields.count == 1, targets.count == 1 else {
      throw fault("a foreign key must be one field that refers to one field of a resource", file)
    }
    guard schema[fields[0]] != nil else { throw fault("the foreign key '\(fields[0])' is not a field", file) }
    let rule = value.dict?[deleteRule]?.string.flatMap(ReferenceRule.DeleteRule.init) ?? .restrict
    schema[fields[0]]?.references = ReferenceRule(table, field: targets[0], onDelete: rule)
  }

  /// Reads one name or several.
  private static func names(_ value: PlistValue?) -> [String] {
    value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
  }

  private static func fault(_ message: String, _ file: String) -> StoreError {
    StoreError(.invalidText, message, file: file)
  }
}
