import ArgumentParser
import FileDB
import FileDBExchange
import FileDBPlist

/// The rules of a field, as options of `filedb schema`.
struct RuleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The type of its values: \(FieldType.names).", valueName: "type"))
  var type: String?
  @Option(help: "A title for people, for example as a column's heading.") var title: String?
  @Flag(help: "Every record must have the field.") var required = false
  @Flag(help: "No two records may have the same value.") var unique = false
  @Option(
    help: ArgumentHelp(
      "No two records may have the same values in the field and this one together.", valueName: "field"))
  var uniqueWith: [String] = []
  @Option(
    name: .customLong("enum"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("An allowed value. Give the option once for each value.", valueName: "value"))
  var allowed: [String] = []
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The smallest number or the earliest date.", valueName: "value"))
  var minimum: String?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("The largest number or the latest date.", valueName: "value"))
  var maximum: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("A regular expression that must match the whole text.", valueName: "regex"))
  var pattern: String?
  @Option(
    name: .customLong("default"), parsing: .unconditional,
    help: ArgumentHelp("The value for a new record that lacks the field.", valueName: "value"))
  var defaultValue: String?
  @Option(
    help: ArgumentHelp(
      "The value refers to a record of this table: it is its id, or its value in a unique field.",
      valueName: "table[.field]"))
  var references: String?
  @Option(
    help: ArgumentHelp(
      "What deleting that record does: restrict forbids it, cascade also deletes this record, clear removes the field.",
      valueName: "restrict|cascade|clear"))
  var onDelete: ReferenceRule.DeleteRule?
  @Option(help: ArgumentHelp("A rule to remove: the name of its option.", valueName: "rule"))
  var without: [Rule] = []

  enum Rule: String, ExpressibleByArgument, CaseIterable {
    case type, title, required, unique, minimum, maximum, pattern, references
    case uniqueWith = "unique-with"
    case allowed = "enum"
    case defaultValue = "default"
  }

  var isEmpty: Bool {
    let texts = [type, title, minimum, maximum, pattern, defaultValue, references]
    return texts.allSatisfy { $0 == nil } && !required && !unique && uniqueWith.isEmpty && allowed.isEmpty
      && onDelete == nil && without.isEmpty
  }

  /// A field with these rules and its other former rules.
  /// - Throws: ``StoreError`` for a value that is not of the field's type; `ValidationError`.
  func applied(to former: FieldSchema, store: RecordStore) throws -> FieldSchema {
    var field = former
    for rule in without { field.remove(rule) }
    if let type { field.type = try FieldType(named: type) }
    if let references { field.references = try reference(references, in: store, former: field.references) }
    if let onDelete {
      guard field.references != nil else { throw ValidationError("--on-delete needs --references.") }
      field.references?.onDelete = onDelete
    }
    if field.type == nil, type == nil, let rule = field.references {
      field.type = try Self.type(of: rule, in: store)
    }
    if let title { field.title = title }
    if required { field.isRequired = true }
    if unique { field.isUnique = true }
    if let pattern { field.pattern = pattern }
    if !allowed.isEmpty { field.allowedValues = try allowed.map { try value($0, of: field) } }
    if let minimum { field.minimum = try bound(minimum, of: field) }
    if let maximum { field.maximum = try bound(maximum, of: field) }
    if let defaultValue { field.defaultValue = try value(defaultValue, of: field) }
    return field
  }

  func apply(toGroupsOf name: String, in schema: inout TableSchema) {
    if without.contains(.uniqueWith) {
      schema.unique.removeAll { $0.contains { compareUTF8($0, name) == 0 } }
    }
    guard !uniqueWith.isEmpty else { return }
    for other in uniqueWith where schema[other] == nil { schema[other] = FieldSchema(other) }
    let group = [name] + uniqueWith
    if !schema.unique.contains(group) { schema.unique.append(group) }
  }

  /// Reads `folders`, `folders.id` or `groups.code`. The name of a table may contain a dot.
  private func reference(
    _ text: String, in store: RecordStore, former: ReferenceRule?
  ) throws -> ReferenceRule {
    var rule = ReferenceRule(text, onDelete: former?.onDelete ?? .restrict)
    let tables = try store.tableNames
    if !tables.contains(text), let (table, field) = text.cut(at: ".") {
      (rule.table, rule.field) = (table, field)
    }
    guard tables.contains(rule.table) else {
      let nearest = NearestName(to: rule.table, among: tables).name.map { "; did you mean '\($0)'?" } ?? ""
      throw StoreError(.tableNotFound, "there is no such table\(nearest)", table: rule.table)
    }
    return rule
  }

  /// The type of a reference's values, to which text is converted.
  private static func type(of rule: ReferenceRule, in store: RecordStore) throws -> FieldType? {
    rule.isToID ? .integer : try store.table(rule.table).snapshot().knownSchema?[rule.field]?.type
  }

  private func value(_ text: String, of field: FieldSchema) throws -> PlistValue {
    try TypedText(type: nil, text: text).value(of: field.name, declared: field.type)
  }

  private func bound(_ text: String, of field: FieldSchema) throws -> PlistValue {
    if field.type != nil { return try value(text, of: field) }
    for type in [FieldType.integer, .float, .date] { if let value = type.value(of: text) { return value } }
    throw StoreError(.invalidText, "'\(text)' is neither a number nor a date", field: field.name)
  }
}

extension ReferenceRule.DeleteRule: ExpressibleByArgument {}

extension FieldSchema {
  fileprivate mutating func remove(_ rule: RuleOptions.Rule) {
    switch rule {
    case .type: type = nil
    case .title: title = nil
    case .required: isRequired = false
    case .unique: isUnique = false
    case .minimum: minimum = nil
    case .maximum: maximum = nil
    case .pattern: pattern = nil
    case .references: references = nil
    case .allowed: allowedValues = nil
    case .defaultValue: defaultValue = nil
    case .uniqueWith: break  // This rule belongs to several fields.
    }
  }
}
