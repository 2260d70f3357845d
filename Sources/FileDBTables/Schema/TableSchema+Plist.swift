import FileDBPlist

extension TableSchema {
  /// The schema as it is written in a table's file. The same schema always gives the same value.
  package var plist: PlistValue {
    var plist: PlistDictionary = [
      SchemaKey.format: .string(SchemaKey.newestFormat), SchemaKey.fields: .array(fields.map(\.plist)),
    ]
    if version != 0 { plist[SchemaKey.version] = .integer(version) }
    if !unique.isEmpty {
      plist[SchemaKey.unique] = .array(unique.map { .array($0.map { .string($0) }) })
    }
    if !referencingTables.isEmpty {
      plist[SchemaKey.referencedBy] = .array(referencingTables.map { .string($0.text) })
    }
    return .dict(plist)
  }

  /// - Throws: ``SchemaFault`` if this is not a schema: it has a wrong type, an unknown key, or rules that contradict
  ///   each other.
  package init(_ plist: PlistDictionary) throws(SchemaFault) {
    let reader = SchemaReader(plist, at: [])
    try reader.refuseUnknownKeys(but: SchemaKey.ofSchema)
    self.init(
      version: try reader.integer(SchemaKey.version) ?? 0,
      fields: try reader.dictionaries(SchemaKey.fields).map { field throws(SchemaFault) in
        try FieldSchema(field)
      },
      unique: try reader.lists(SchemaKey.unique))
    referencingTables = try reader.strings(SchemaKey.referencedBy)?.map(TableKey.init) ?? []
    try validate()
  }
}

extension FieldSchema {
  /// - Returns: `nil` if the merged rules of two sides contradict each other.
  package init?(merged plist: PlistDictionary) { try? self.init(SchemaReader(plist, at: [])) }

  package var plist: PlistValue {
    var plist: PlistDictionary = [SchemaKey.name: .string(name)]
    plist[SchemaKey.type] = type.map { .string($0.rawValue) }
    plist[SchemaKey.title] = title.map { .string($0) }
    if isRequired { plist[SchemaKey.required] = true }
    if isUnique { plist[SchemaKey.unique] = true }
    plist[SchemaKey.allowed] = allowedValues.map { .array($0) }
    plist[SchemaKey.minimum] = minimum
    plist[SchemaKey.maximum] = maximum
    plist[SchemaKey.pattern] = pattern.map { .string($0) }
    plist[SchemaKey.defaultValue] = defaultValue
    plist[SchemaKey.references] = references?.plist
    return .dict(plist)
  }

  fileprivate init(_ reader: SchemaReader) throws(SchemaFault) {
    try reader.refuseUnknownKeys(but: SchemaKey.ofField)
    guard let name = try reader.string(SchemaKey.name) else {
      throw SchemaFault("a field has no name", at: reader.path)
    }
    self.init(
      name, type: try reader.choice(SchemaKey.type, of: FieldType.self),
      title: try reader.string(SchemaKey.title),
      isRequired: try reader.bool(SchemaKey.required) ?? false,
      isUnique: try reader.bool(SchemaKey.unique) ?? false,
      allowedValues: try reader.array(SchemaKey.allowed), minimum: reader[SchemaKey.minimum],
      maximum: reader[SchemaKey.maximum], pattern: try reader.string(SchemaKey.pattern),
      defaultValue: reader[SchemaKey.defaultValue],
      references: try reader.dictionary(SchemaKey.references).map { rule throws(SchemaFault) in
        try ReferenceRule(rule)
      })
  }
}

extension ReferenceRule {
  fileprivate var plist: PlistValue {
    .dict([
      SchemaKey.table: .string(table), SchemaKey.field: .string(field),
      SchemaKey.onDelete: .string(onDelete.rawValue),
    ])
  }

  fileprivate init(_ reader: SchemaReader) throws(SchemaFault) {
    try reader.refuseUnknownKeys(but: SchemaKey.ofReference)
    guard let table = try reader.string(SchemaKey.table) else {
      throw SchemaFault("a reference names no table", at: reader.path)
    }
    self.init(
      table, field: try reader.string(SchemaKey.field) ?? "id",
      onDelete: try reader.choice(SchemaKey.onDelete, of: DeleteRule.self) ?? .restrict)
  }
}

/// Reads the values of a dictionary in a schema, and reports the place of an error.
private struct SchemaReader {
  private let plist: PlistDictionary
  let path: [PlistStep]

  init(_ plist: PlistDictionary, at path: [PlistStep]) { (self.plist, self.path) = (plist, path) }

  subscript(key: String) -> PlistValue? { plist[key] }

  /// An unknown key may be a mistyped rule, which would not be enforced.
  func refuseUnknownKeys(but known: [String]) throws(SchemaFault) {
    guard let key = plist.keys.first(where: { key in !known.contains { compareUTF8($0, key) == 0 } }) else {
      return
    }
    throw SchemaFault(
      "'\(key)' is not a key of a schema here; these are: \(known.joined(separator: ", "))",
      at: path + [.key(key)])
  }

  func string(_ key: String) throws(SchemaFault) -> String? { try value(key, "a string") { $0.string } }
  func bool(_ key: String) throws(SchemaFault) -> Bool? { try value(key, "<true/> or <false/>") { $0.bool } }
  func integer(_ key: String) throws(SchemaFault) -> Int64? {
    try value(key, "a whole number from 0") { $0.integer.flatMap { $0 < 0 ? nil : $0 } }
  }
  func array(_ key: String) throws(SchemaFault) -> [PlistValue]? { try value(key, "an array") { $0.array } }
  func dictionary(_ key: String) throws(SchemaFault) -> SchemaReader? {
    try value(key, "a dictionary") { $0.dict }.map { SchemaReader($0, at: path + [.key(key)]) }
  }

  func strings(_ key: String) throws(SchemaFault) -> [String]? {
    try array(key).map { elements throws(SchemaFault) in try strings(elements, at: path + [.key(key)]) }
  }

  func lists(_ key: String) throws(SchemaFault) -> [[String]] {
    try (array(key) ?? []).enumerated().map { index, element throws(SchemaFault) in
      let path = path + [.key(key), .index(index)]
      guard let names = element.array else { throw SchemaFault("'\(key)' must be lists of names", at: path) }
      return try strings(names, at: path)
    }
  }

  func dictionaries(_ key: String) throws(SchemaFault) -> [SchemaReader] {
    try (array(key) ?? []).enumerated().map { index, element throws(SchemaFault) in
      let path = path + [.key(key), .index(index)]
      guard let entries = element.dict else {
        throw SchemaFault("'\(key)' must be an array of dictionaries", at: path)
      }
      return SchemaReader(entries, at: path)
    }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, of type: Choice.Type
  ) throws(SchemaFault) -> Choice? {
    try value(key, "one of " + type.allCases.map(\.rawValue).joined(separator: ", ")) {
      $0.string.flatMap(Choice.init)
    }
  }

  private func strings(_ values: [PlistValue], at path: [PlistStep]) throws(SchemaFault) -> [String] {
    try values.enumerated().map { index, value throws(SchemaFault) in
      guard let text = value.string else {
        throw SchemaFault("a name must be a string", at: path + [.index(index)])
      }
      return text
    }
  }

  private func value<Value>(
    _ key: String, _ expected: String, _ read: (PlistValue) -> Value?
  ) throws(SchemaFault) -> Value? {
    guard let found = plist[key] else { return nil }
    guard let value = read(found) else {
      throw SchemaFault("'\(key)' must be \(expected)", at: path + [.key(key)])
    }
    return value
  }
}
