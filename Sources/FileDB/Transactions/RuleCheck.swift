import FileDBPlist
import FileDBTables

/// Checks what a transaction wrote to a table against the table's schema. Fields that the transaction left unchanged
/// are not checked, unless it changed their rules. So a record that somebody saved against the rules can still be
/// moved, or repaired step by step.
struct RuleCheck {
  private let key: TableKey
  private let table: TransactionState.Touched
  private let transaction: TransactionState
  private let rules: [ValueRules]
  private let groups: [[String]]
  /// The fields and groups whose rules have changed.
  private let changedRules: Set<FieldName>
  private let changedGroups: [[String]]
  private let names: [String]

  init(
    of schema: TableSchema, in key: TableKey, _ table: TransactionState.Touched, transaction: TransactionState
  ) throws(StoreError) {
    (self.key, self.table, self.transaction) = (key, table, transaction)
    rules = schema.fields.map(ValueRules.init)
    groups = schema.uniqueGroups
    names = schema.fields.map(\.name)
    let former = table.first.schema.schema
    changedRules = Set(schema.fields.filter { former?[$0.name] != $0 }.map { FieldName($0.name) })
    let formerGroups = former?.uniqueGroups ?? []
    changedGroups = groups.filter { !formerGroups.contains($0) }
    for field in schema.fields where changedRules.contains(FieldName(field.name)) {
      try checkTarget(of: field)
    }
  }

  func run() throws(StoreError) {
    for (before, now) in WrittenRecords(of: table).written { try check(now, was: before) }
    guard !changedRules.isEmpty || !changedGroups.isEmpty, !table.first.records.isEmpty else { return }
    for record in table.now.records where table.first.record(record.id)?.hasSameBytes(as: record) == true {
      try check(record, was: record)
    }
  }

  private func check(_ record: EncodedRecord, was before: EncodedRecord?) throws(StoreError) {
    let new = record.fields(names)
    let old = before.map { $0 == record ? new : $0.fields(names) }
    for rule in rules {
      let value = new[rule.field.name]
      let isNew = old.map { $0[rule.field.name] != value } ?? true
      guard isNew || changedRules.contains(FieldName(rule.field.name)) else { continue }
      do throws(StoreError) {
        let isRestored = isRestored(value, rule.field.name, record.id)
        if !isRestored, let error = rule.error(for: value) { throw error }
        // Other records may have come or gone since, so references are still checked.
        if !isRestored || !wasMisfit(record.id, MisfitRule.reference(rule.field.name)) {
          try transaction.checkReference(value, rule)
        }
      } catch {
        throw placed(error, record, isAsItWas: old == new)
      }
    }
    for group in groups {
      let isNew = old.map { old in group.contains { old[$0] != new[$0] } } ?? true
      guard isNew || changedGroups.contains(group) else { continue }
      if group.allSatisfy({ isRestored(new[$0], $0, record.id) }),
        wasMisfit(record.id, MisfitRule.unique(group))
      {
        continue
      }
      if let other = try transaction.other(
        than: record.id, with: group.map { new[$0] }, in: group, of: key, transaction.table(key.text))
      {
        var error = StoreError.notUnique(group, new, other: other)
        if let origin = transaction.origin(of: other, in: key) { error.message += " (\(origin.text))" }
        throw placed(error, record, isAsItWas: old == new)
      }
    }
  }

  /// Whether an undo has restored the value.
  private func isRestored(_ value: PlistValue?, _ field: String, _ id: AnyRecordID) -> Bool {
    transaction.restored[key]?[id].map { $0.field(field) == value } ?? false
  }

  /// Whether the record broke this rule before the write that an undo takes back.
  private func wasMisfit(_ id: AnyRecordID, _ rule: String) -> Bool {
    transaction.formerMisfits[key]?[rule]?.contains(id) ?? false
  }

  /// A field may refer only to a field with unique values.
  private func checkTarget(of field: FieldSchema) throws(StoreError) {
    guard let rule = field.references, !rule.isToID else { return }
    guard try transaction.readableSchema(of: rule.tableKey)?.isUnique(rule.targetField) == true else {
      throw StoreError(
        .invalidSchema,
        "it refers to \(rule.text), which is not declared as unique", table: key.text, field: field.name
      )
    }
  }

  private func placed(_ error: StoreError, _ record: EncodedRecord, isAsItWas: Bool) -> StoreError {
    var error = error.adding(table: key.text)
    error.record = record.id
    if let origin = transaction.origin(of: record.id, in: key) {
      (error.file, error.line) = (origin.file, origin.line)
      if origin.line == nil { error.message = "\(origin.text): \(error.message)" }
    } else if isAsItWas, let name = error.field {
      error = error.naming(
        record, of: TableSource(table: key.text, in: transaction.source), at: FieldPath([AnyKey(name)]))
    }
    return error
  }
}

extension ValueRules {
  /// What is wrong with a field by itself.
  /// - Parameter value: `nil` if the record does not have the field.
  func error(for value: PlistValue?) -> StoreError? {
    guard let value else {
      return field.isRequired
        ? StoreError(.requiredField, "the field is required", field: field.name) : nil
    }
    return misfit(of: value)
  }

  /// The error if there is no record to which a value refers.
  /// - Parameter isNamed: whether there is a record to which a value refers.
  func referenceError(
    for value: PlistValue?, _ isNamed: (PlistValue, ReferenceRule) throws(StoreError) -> Bool
  ) throws(StoreError) -> StoreError? {
    guard let value, let rule = field.references, try !isNamed(value, rule) else { return nil }
    return StoreError(.missingReference, "\(rule.text) has no \(value.quoted)", field: field.name)
  }
}

extension TransactionState {
  /// Checks that the record exists to which a value refers.
  func checkReference(_ value: PlistValue?, _ rule: ValueRules) throws(StoreError) {
    let error = try rule.referenceError(for: value) { value, rule throws(StoreError) in
      try names(value, rule, in: table(rule.table))
    }
    if let error { throw error }
  }

  /// Whether there is a record in `target` that a value refers to.
  func names(_ value: PlistValue, _ rule: ReferenceRule, in target: TableState) -> Bool {
    if rule.isToID {
      return value.integer.flatMap(AnyRecordID.init(rawValue:)).map(target.records.contains) ?? false
    }
    return !ids(where: [rule.targetField], are: [value], in: rule.tableKey, target, atMost: 1).isEmpty
  }

  /// Another record with the same values. If this record lacks one of the fields, there is none.
  /// - Parameter id: `nil` for a record that is not in the table yet.
  func other(
    than id: AnyRecordID?, with values: [PlistValue?], in names: [String], of key: TableKey,
    _ table: TableState
  ) -> AnyRecordID? {
    let known = values.compactMap(\.self)
    guard known.count == names.count else { return nil }
    return ids(where: names, are: known, in: key, table, atMost: 2).first { $0 != id }
  }

  /// The records that have these values in these fields.
  func ids(
    where names: [String], are values: [PlistValue], in key: TableKey, _ table: TableState,
    atMost limit: Int = .max
  ) -> [AnyRecordID] {
    source.extensions.value(ValueLookups.self) { ValueLookups() }
      .lookup(by: names, of: key).ids(where: values, in: table.records, atMost: limit)
  }
}

extension ReferenceRule {
  /// The field's name in the records, if it is not the id.
  var targetField: String { FieldName(besideID: field)?.text ?? field }
}

extension StoreError {
  static func notUnique(_ names: [String], _ fields: PlistDictionary, other: AnyRecordID) -> StoreError {
    let values = names.compactMap { fields[$0]?.quoted }.joined(separator: ", ")
    guard names.count > 1 else {
      return StoreError(
        .notUnique, "record \(other) has \(values) already, and the field is unique", field: names[0])
    }
    return StoreError(
      .notUnique,
      "record \(other) has \(values) already, and \(names.joined(separator: ", ")) are unique together",
      field: names[0])
  }
}

/// The names of the rules about other records, which a record may have broken before a write; see
/// ``TransactionState/formerMisfits``.
enum MisfitRule {
  static func unique(_ names: [String]) -> String { "unique \(names.joined(separator: ", "))" }
  static func reference(_ name: String) -> String { "reference \(name)" }
}
