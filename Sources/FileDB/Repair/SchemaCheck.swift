import FileDBPlist
import FileDBTables

extension RecordStore {
  /// What is wrong with a table's schema, and which records do not match it.
  /// - Parameter file: the table's file; `nil` if there is none.
  func schemaFindings(
    of key: TableKey, _ table: TableState, in file: (path: String, bytes: [UInt8])?
  ) throws(StoreError) -> [CheckFinding] {
    if case .unreadable(let fault) = table.schema {
      let path = [PlistStep.key(TableFile.schemaKey)] + fault.path
      let error = StoreError(
        .invalidSchema, "the schema cannot be read, so nothing can be written to the table: \(fault.message)",
        file: file?.path, line: file.flatMap { PlistParser.line(of: path, in: $0.bytes) }, table: key.text)
      return [CheckFinding(severity: .damage, error: error)]
    }
    guard let schema = table.schema.schema else { return [] }
    var targets = ReferenceTargets { key throws(StoreError) in try self.current(key) }
    let misfits = try SchemaMisfits(of: table) { value, rule throws(StoreError) in
      // If that table cannot be read, its own check reports it.
      (try? targets.contains(value, rule)) ?? true
    }
    let lines = misfits.all.isEmpty ? nil : file.flatMap { RecordLines(in: $0.bytes, limits: options.limits) }
    let findings = misfits.all.map { misfit in
      var error = misfit.error.adding(table: key.text)
      error.file = file?.path
      error.line = lines?.line(of: error.field, in: misfit.record)
      if let other = misfit.other.flatMap(table.record), let line = lines?.line(of: error.field, in: other) {
        error.message += " (line \(line))"
      }
      return CheckFinding(severity: .warning, error: error)
    }
    return findings + forgottenReferences(of: key, schema)
  }

  /// The tables to which this one refers and that do not know it, because its schema was written by hand.
  private func forgottenReferences(of key: TableKey, _ schema: TableSchema) -> [CheckFinding] {
    schema.references.compactMap { field, rule in
      guard rule.tableKey != key, let target = try? current(rule.tableKey), target.exists,
        target.beneath == nil, target.schema.schema?.referencingTables.contains(key) != true
      else { return nil }
      let error = StoreError(
        .invalidSchema,
        "'\(rule.table)' does not list this reference yet; the next write to '\(key.text)' adds it",
        table: key.text, field: field.name)
      return CheckFinding(severity: .warning, error: error)
    }
  }
}

/// Finds the lines of records in a table's file.
private struct RecordLines {
  private let table: TableState
  private let lines: PlistElementLines

  /// `nil` if the bytes are not a table.
  init?(in bytes: [UInt8], limits: PlistLimits) {
    guard let table = try? TableFile.decode(bytes, file: "", table: "", limits: limits) else { return nil }
    self.table = table
    lines = PlistParser.elementLines(of: [.key(TableFile.recordsKey)], in: bytes)
  }

  /// The line of a field, or otherwise of the record; `nil` if the file now has a different record.
  func line(of field: String?, in record: EncodedRecord) -> Int? {
    guard let index = table.records.index(of: record.id), table.records[index] == record else { return nil }
    return field.flatMap { lines.line(of: $0, inElement: index) } ?? lines.line(ofElement: index)
  }
}

/// The values that references may have. They are read when they are first needed.
private struct ReferenceTargets {
  private var tables: [TableKey: TableState] = [:]
  private var values: [ReferenceRule: Set<PlistValue>] = [:]
  private let read: (TableKey) throws(StoreError) -> TableState

  init(_ read: @escaping (TableKey) throws(StoreError) -> TableState) { self.read = read }

  mutating func contains(_ value: PlistValue, _ rule: ReferenceRule) throws(StoreError) -> Bool {
    let table = if let known = tables[rule.tableKey] { known } else { try read(rule.tableKey) }
    tables[rule.tableKey] = table
    if rule.isToID {
      return value.integer.flatMap(AnyRecordID.init(rawValue:)).map(table.records.contains) ?? false
    }
    if values[rule] == nil {
      values[rule] = Set(table.records.lazy.compactMap { $0.field(rule.targetField) })
    }
    return values[rule]?.contains(value) ?? false
  }
}
