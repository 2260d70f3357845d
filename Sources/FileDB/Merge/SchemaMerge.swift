import FileDBPlist
import FileDBTables

/// The merge of three versions of a table's schema: field by field, and rule by rule in each field.
struct SchemaMerge {
  private(set) var merged: PlistValue?
  private(set) var conflicts: [MergeConflict.Kind] = []

  /// - Returns: `nil` if a version cannot be read as a schema. Then the value is merged as a whole.
  init?(base: TableState, ours: TableState, theirs: TableState) {
    guard let mine = ours.schema.schema, let other = theirs.schema.schema else { return nil }
    if base.schema.isForeign { return nil }
    if case .unreadable = base.schema { return nil }
    let former = base.schema.schema ?? TableSchema()
    var schema = mine
    schema.version = max(mine.version, other.version)
    mergeFields(former, mine, other, into: &schema)
    schema.unique = Self.merged(former.unique, mine.unique, other.unique)
    schema.referencingTables = Self.merged(
      former.referencingTables, mine.referencingTables, other.referencingTables
    ).sorted()
    // Both schemas may be valid, and the merged one may not be.
    guard (try? schema.validate()) != nil else { return nil }
    merged = schema.plist
  }

  private mutating func mergeFields(
    _ base: TableSchema, _ ours: TableSchema, _ theirs: TableSchema, into schema: inout TableSchema
  ) {
    let names = theirs.fields.map(\.name) + base.fields.map(\.name).filter { theirs[$0] == nil }
    for name in names {
      let (former, mine, other) = (base[name]?.plist, ours[name]?.plist, theirs[name]?.plist)
      if other == former || other == mine { continue }
      if mine == former {
        schema[name] = theirs[name]
        continue
      }
      guard case .dict(let former) = former ?? [:], case .dict(let mine)? = mine,
        case .dict(let other)? = other
      else {
        conflicts.append(.field("schema.\(name)", base: former, ours: mine, theirs: other))
        continue
      }
      let rules = MergedFields(base: former, ours: mine, theirs: other)
      if let merged = FieldSchema(merged: rules.merged) { schema[name] = merged }
      conflicts += rules.conflicts.map { conflict in
        guard case .field(let rule, let base, let ours, let theirs) = conflict else { return conflict }
        return .field("schema.\(name).\(rule)", base: base, ours: ours, theirs: theirs)
      }
    }
  }

  /// Ours, with the additions and removals that only theirs made.
  private static func merged<Element: Equatable>(
    _ base: [Element], _ ours: [Element], _ theirs: [Element]
  ) -> [Element] {
    ours.filter { !base.contains($0) || theirs.contains($0) }
      + theirs.filter { !base.contains($0) && !ours.contains($0) }
  }
}
