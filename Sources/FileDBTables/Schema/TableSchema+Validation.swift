import FileDBPlist

extension TableSchema {
  /// Refuses rules that no record can satisfy, or that have no effect.
  package func validate() throws(SchemaFault) {
    var declared: Set<TableKey> = []
    for (index, field) in fields.enumerated() {
      let path = [PlistStep.key(SchemaKey.fields), .index(index)]
      guard declared.insert(TableKey(field.name)).inserted else {
        throw SchemaFault("the field '\(field.name)' is declared twice", at: path + [.key(SchemaKey.name)])
      }
      do throws(SchemaFault) { try field.validate() } catch {
        throw SchemaFault("field '\(field.name)': \(error.message)", at: path + error.path)
      }
    }
    for (index, names) in unique.enumerated() {
      let path = [PlistStep.key(SchemaKey.unique), .index(index)]
      guard names.count > 1 else {
        throw SchemaFault(
          "'unique' of the schema lists two fields or more; a single one has its own", at: path)
      }
      for (place, name) in names.enumerated() where !declared.contains(TableKey(name)) {
        throw SchemaFault("'\(name)' is not declared as a field", at: path + [.index(place)])
      }
      if Set(names.map(TableKey.init)).count < names.count {
        throw SchemaFault("a field is named twice", at: path)
      }
    }
    for (index, table) in referencingTables.enumerated() {
      do throws(StoreError) { try TableNameRule.validate(table.text) } catch {
        throw SchemaFault(error.message, at: [.key(SchemaKey.referencedBy), .index(index)])
      }
    }
  }
}

extension FieldSchema {
  fileprivate func validate() throws(SchemaFault) {
    try validateName()
    try validateBounds()
    try validateValues()
    if let pattern {
      guard type == nil || type == .string else {
        throw fault("only a string can have a pattern", SchemaKey.pattern)
      }
      do throws(PatternFault) { _ = try TextPattern(pattern) } catch {
        throw fault(
          "FileDB does not know this regular expression: \(error.message), at character \(error.column)",
          SchemaKey.pattern)
      }
    }
    if let references { try validate(references) }
  }

  private func validateName() throws(SchemaFault) {
    if name.isEmpty { throw fault("a name is empty", SchemaKey.name) }
    if compareUTF8(name, TableFile.idKey) == 0 {
      throw fault("FileDB keeps the record's id under this name", SchemaKey.name)
    }
  }

  private func validateBounds() throws(SchemaFault) {
    for (key, bound) in [(SchemaKey.minimum, minimum), (SchemaKey.maximum, maximum)] {
      guard let bound else { continue }
      guard [.integer, .float, .date].contains(FieldType(of: bound)), type.map({ $0.holds(bound) }) ?? true
      else { throw fault("'\(key)' must be a number or a date, and of the field's type", key) }
      if case .real(let number) = bound, number.isNaN { throw fault("'\(key)' must be a number", key) }
    }
    guard let minimum, let maximum else { return }
    guard let order = ValueBound.compare(minimum, maximum), order <= 0 else {
      throw fault("the minimum is above the maximum", SchemaKey.minimum)
    }
  }

  private func validateValues() throws(SchemaFault) {
    if let allowedValues {
      guard !allowedValues.isEmpty else { throw fault("no value is allowed", SchemaKey.allowed) }
      if let type, let index = allowedValues.firstIndex(where: { !type.holds($0) }) {
        throw SchemaFault(
          "an allowed value is not \(type.noun)", at: [.key(SchemaKey.allowed), .index(index)])
      }
    }
    guard let defaultValue else { return }
    var others = self
    others.references = nil
    if let misfit = ValueRules(others).misfit(of: defaultValue) {
      throw fault("the default value is not allowed: \(misfit.message)", SchemaKey.defaultValue)
    }
  }

  private func validate(_ rule: ReferenceRule) throws(SchemaFault) {
    do throws(StoreError) { try TableNameRule.validate(rule.table) } catch {
      throw fault(error.message, SchemaKey.references)
    }
    if rule.isToID, let type, type != .integer {
      throw fault("a field that refers to an id has the type integer", SchemaKey.type)
    }
    if rule.field.isEmpty { throw fault("a reference names no field", SchemaKey.references) }
  }

  private func fault(_ message: String, _ key: String) -> SchemaFault {
    SchemaFault(message, at: [.key(key)])
  }
}
