import FileDBPlist
import FileDBTables

extension RecordTable {
  /// Gives a field another name: in all records, in the table's schema, and in the schemas of the tables that refer to
  /// the field. The field keeps its rules and its place among the columns.
  /// - Returns: the number of records that were changed.
  /// - Throws: ``StoreError/Code/invalidValue`` with the record if one has both fields;
  ///   ``StoreError/Code/invalidSchema`` if both are declared; ``StoreError/Code/reservedField``;
  ///   ``StoreError/Code/tableNotFound``; and as `RecordStore.write(_:)`.
  /// - Complexity: O(*n*).
  @discardableResult
  public func renameField(_ field: String, to newName: String) throws -> Int {
    try writing { try $0.renameField(field, to: newName, in: name.text) }
  }

  /// Removes a field from all records and from the table's schema. Lists of fields that are unique together are removed
  /// from the schema if the field is one of them.
  /// - Returns: the number of records that were changed.
  /// - Throws: ``StoreError/Code/stillReferenced`` if another table refers to the field;
  ///   ``StoreError/Code/tableNotFound``; and as `RecordStore.write(_:)`.
  /// - Complexity: O(*n*).
  @discardableResult
  public func removeField(_ field: String) throws -> Int {
    try writing { try $0.removeField(field, in: name.text) }
  }

  /// Converts a field's values in all records and declares the field, in one transaction.
  /// - Parameters:
  ///   - field: the field's rules from now on.
  ///   - convert: returns the new value; `nil` if the old one cannot be converted.
  /// - Returns: the number of records that were changed.
  /// - Throws: ``StoreError/Code/wrongType``, which names the records for which `convert` returned `nil`; and as
  ///   `declare(_:)`.
  /// - Complexity: O(*n*).
  @discardableResult
  public func convertField(
    declaring field: FieldSchema, _ convert: (PlistValue) -> PlistValue?
  ) throws -> Int {
    try writing { transaction in
      let count = try transaction.replaceField(field.name, in: name.text, convert)
      var schema = try snapshot().schema ?? TableSchema()
      schema[field.name] = field
      try transaction.declare(schema, for: name.text)
      return count
    }
  }
}

extension RecordTable {
  /// As the synchronous `renameField`, without blocking the caller's thread.
  @discardableResult
  public func renameField(_ field: String, to newName: String) async throws -> Int {
    try await writing { try $0.renameField(field, to: newName) }
  }

  /// As the synchronous `convertField`, without blocking the caller's thread.
  @discardableResult
  public func convertField(
    declaring field: FieldSchema, _ convert: @escaping @Sendable (PlistValue) -> PlistValue?
  ) async throws -> Int {
    try await writing { try $0.convertField(declaring: field, convert) }
  }

  /// As the synchronous `removeField`, without blocking the caller's thread.
  @discardableResult
  public func removeField(_ field: String) async throws -> Int {
    try await writing { try $0.removeField(field) }
  }
}

extension TransactionState {
  fileprivate func renameField(
    _ field: String, to newName: String, in table: String
  ) throws(StoreError) -> Int {
    _ = try existing(table)
    let (old, new) = (FieldName(field), FieldName(newName))
    if old == new { return 0 }
    let count = try change(field, in: table) { value, record throws(StoreError) in
      guard record.field(newName) == nil else {
        throw StoreError(
          .invalidValue, "the record has a field '\(newName)' already", table: table, record: record.id,
          field: field)
      }
      return (newName, value)
    }
    try changeSchema(of: table) { schema in schema.rename(old, to: new) }
    for other in try tablesReferring(to: table) {
      try changeSchema(of: other) { schema in
        for place in schema.fields.indices
        where schema.fields[place].references?.names(old, of: table) == true {
          schema.fields[place].references?.field = new.besideID
        }
      }
    }
    return count
  }

  fileprivate func removeField(_ field: String, in table: String) throws(StoreError) -> Int {
    _ = try existing(table)
    let name = FieldName(field)
    for other in try tablesReferring(to: table) {
      let referring = try readableSchema(of: TableKey(other))?.references.first {
        $0.rule.names(name, of: table)
      }
      guard let referring else { continue }
      throw StoreError(
        .stillReferenced, "'\(referring.field.name)' of '\(other)' refers to it", table: table, field: field)
    }
    let count = try change(field, in: table) { _, _ in (field, nil) }
    try changeSchema(of: table) { schema in
      schema[field] = nil
      schema.unique.removeAll { $0.contains { FieldName($0) == name } }
    }
    return count
  }

  fileprivate func replaceField(
    _ field: String, in table: String, _ convert: (PlistValue) -> PlistValue?
  ) throws(StoreError) -> Int {
    var misfits: [(id: AnyRecordID, value: PlistValue)] = []
    let count = try change(field, in: table) { value, record in
      let new = convert(value)
      if new == nil { misfits.append((record.id, value)) }
      return new == nil || new == value ? nil : (field, new)
    }
    guard let first = misfits.first else { return count }
    let named = misfits.prefix(20).map { "\($0.id) (\($0.value.quoted))" }.joined(separator: ", ")
    let more = misfits.count > 20 ? " and \(misfits.count - 20) more" : ""
    throw StoreError(
      .wrongType, "these records have a value that does not fit: \(named)\(more)", table: table,
      record: first.id, field: field)
  }

  /// Changes a field in all records that have it.
  /// - Parameter new: gets the value and its record; returns the new name and value, or `nil` if they stay.
  /// - Returns: the number of records that were changed.
  private func change(
    _ field: String, in table: String,
    to new: (PlistValue, EncodedRecord) throws(StoreError) -> (name: String, value: PlistValue?)?
  ) throws(StoreError) -> Int {
    var count = 0
    for record in try existing(table).records {
      guard let value = record.field(field), let changed = try new(value, record) else { continue }
      let former = record.fields
      var fields = former
      fields[field] = nil
      fields[changed.name] = changed.value
      try replace(record.id, with: fields, was: former, in: table)
      count += 1
    }
    return count
  }

  private func existing(_ table: String) throws(StoreError) -> TableState {
    let state = try self.table(table)
    guard state.exists else { throw StoreError(.tableNotFound, "there is no such table", table: table) }
    return state
  }

  private func tablesReferring(to table: String) throws(StoreError) -> [String] {
    (try readableSchema(of: TableKey(table))?.referencingTables ?? []).map(\.text) + [table]
  }

  private func changeSchema(of table: String, _ change: (inout TableSchema) -> Void) throws(StoreError) {
    guard let former = try readableSchema(of: TableKey(table)) else { return }
    var schema = former
    change(&schema)
    if schema != former { try declare(schema, for: table) }
  }
}

extension TableSchema {
  fileprivate mutating func rename(_ old: FieldName, to new: FieldName) {
    for place in fields.indices where FieldName(fields[place].name) == old { fields[place].name = new.text }
    unique = unique.map { names in names.map { FieldName($0) == old ? new.text : $0 } }
  }
}

extension ReferenceRule {
  fileprivate func names(_ field: FieldName, of other: String) -> Bool {
    !isToID && tableKey == TableKey(other) && FieldName(targetField) == field
  }
}
