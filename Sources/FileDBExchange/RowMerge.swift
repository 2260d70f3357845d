import FileDB
import FileDBPlist

/// Adds the rows of an import to a table, in batches.
package struct RowMerge {
  private enum Step {
    case add(IdentifiedValue<Fields>, ImportRow.Origin)
    case change(RecordID<Fields>, Fields, cleared: [String], ImportRow.Origin)
    case nothing
  }

  package struct Rules {
    let matching: TableImport.Matching
    let onError: TableImport.ErrorPolicy
    /// Whether added rows may keep the ids that they had elsewhere.
    let keepsIDs: Bool
    /// Whether an export wrote each record's id under a name that a field could also have.
    let hasIDAsField: Bool
    package var unmatched = TableImport.Unmatched.kept
    /// Whether a row may remove fields from a record.
    package var clearsFields = false
    /// Restores the types that the format does not keep; `nil` if it keeps every type.
    package var ownTypes: OwnTypes?

    package init(
      _ matching: TableImport.Matching, onError: TableImport.ErrorPolicy, keepsIDs: Bool, hasIDAsField: Bool
    ) {
      (self.matching, self.onError) = (matching, onError)
      (self.keepsIDs, self.hasIDAsField) = (keepsIDs, hasIDAsField)
    }
  }

  /// The number of records that are added together.
  private static let batchSize = 1_000

  private let table: TableName<Fields>
  private let rules: Rules
  /// Whether a record of the table has a field called `id`. Only checked for an import with a key.
  private var tableHasFieldID = false
  /// Whether a row had a name that only an export would use.
  private var isExport = false
  /// The records that were added with a field `id`, until it is known whether an export wrote it.
  private var added: [RecordID<Fields>] = []
  private let file: String
  /// The rules of the table; `nil` if it has none.
  private var schema: RecordRules?
  /// The table before the import. No record is matched twice, so this can be used to the end.
  private let before: TableSnapshot<Fields>
  private var ids: [RowKey: RecordID<Fields>] = [:]
  /// Where each key was found in the file.
  private var origins: [RowKey: ImportRow.Origin] = [:]
  /// The records that rows have matched. They are collected if all others will be deleted.
  private var matched: Set<RecordID<Fields>> = []
  private var batch: [IdentifiedValue<Fields>] = []
  private var batchOrigins: [ImportRow.Origin] = []
  /// Where the records come from that may break a rule when all are added.
  private var recordOrigins: [AnyRecordID: ImportRow.Origin] = [:]
  private let notesOrigins: Bool
  private var isAwaitingIDs = false
  private var position: Position<Fields>
  private var count = 0
  private var report = ImportReport()

  /// - Parameter file: the name of the source in errors.
  package init(
    _ rules: Rules, into table: TableName<Fields>, at position: Position<Fields>, of file: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    (self.rules, self.table, self.position, self.file) = (rules, table, position, file)
    before = try transaction[table].snapshot()
    // A wrong row can only be left out before it is added.
    schema = try RecordRules(
      of: table.text, in: transaction,
      comparing: rules.matching == .nothing || rules.onError == .skip ? .rowsAndTable : .rows)
    notesOrigins = schema?.leavesSome ?? false
    guard case .key(let fields) = rules.matching else { return }
    for row in before {
      tableHasFieldID = tableHasFieldID || row["id"] != nil
      guard let key = RowKey(of: fields, in: { row[$0] }) else { continue }
      guard let first = ids.updateValue(row.id, forKey: key) else { continue }
      throw StoreError(
        .duplicateKey, "records \(first) and \(row.id) have the same key, \(key.text)",
        table: table.text)
    }
  }

  /// Takes the next row of the source.
  /// - Parameter progress: called from time to time with the number of rows.
  package mutating func take(
    _ reading: ImportRow.Reading, in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void
  ) throws {
    countRow(progress)
    let wasExport = isExport
    let step: Step
    do throws(StoreError) {
      step = try self.step(for: try reading.get())
    } catch {
      guard rules.onError == .skip else { throw error }
      return report.skipped.append(error)
    }
    if isExport, !wasExport { try dropIDs(in: &transaction) }
    try take(step, in: &transaction)
  }

  private mutating func countRow(_ progress: (_ rows: Int) -> Void) {
    count += 1
    if count % Self.batchSize == 0 { progress(count) }
  }

  /// Removes the field `id` from the rows that were added before it was known that an export wrote them.
  private mutating func dropIDs(in transaction: inout StoreTransaction) throws {
    guard rules.matching == .nothing else { return }
    let own = batch.map { row in IdentifiedValue(row.value.withOwnNames, id: row.id) }
    report.ignoredIDs += zip(batch, own).count { $0.value != $1.value } + added.count
    report.storedIDs = 0
    batch = own
    for id in added { try transaction[table].unset(["id"], of: id) }
    added = []
  }

  /// What to do with a row.
  /// - Throws: the error in the row. Then nothing has happened.
  private mutating func step(for row: ImportRow) throws(StoreError) -> Step {
    let record = try row.normalized(file: file)
    let key = try key(of: row, record)
    if let key, let first = origins[key] {
      throw row.error(
        "the key \(key.text) occurs twice, first in \(first.text)", code: StoreError.Code.duplicateKey,
        file: file)
    }
    let step = try step(for: row, record, key)
    try check(step, row)
    if let key { origins[key] = row.origin }
    return step
  }

  /// Checks a row against the table's schema while its place in the file is known.
  private mutating func check(_ step: Step, _ row: ImportRow) throws(StoreError) {
    do throws(StoreError) {
      switch step {
      case .add(let new, _): try schema?.check(new: new.value)
      case .change(let id, let fields, let cleared, _):
        guard let old = before[id: id]?.fields else { return }
        try schema?.check(old.changed(by: fields, without: cleared), was: old, of: AnyRecordID(id))
      case .nothing: break
      }
    } catch {
      throw row.error(error.message, code: error.code, file: file, field: error.field)
    }
  }

  private mutating func step(for row: ImportRow, _ record: Fields, _ key: RowKey?) throws(StoreError) -> Step
  {
    let found = key.flatMap { matchingID(for: $0, row) }.flatMap { before[id: $0] }
    let record = try withoutExportedID(row, record, for: found)
    guard let found else {
      return .add(IdentifiedValue(record, id: rules.keepsIDs ? row.id : nil), row.origin)
    }
    let (id, old) = (found.id, found.fields)
    let values = try restored(record, from: old, row)
    try checkTypes(of: row, values, against: old, id)
    if rules.unmatched == .deleted { matched.insert(id) }
    let cleared = clearedFields(of: row).filter { old[$0] != nil }
    let new = old.changed(by: values, without: cleared)
    return new == old ? .nothing : .change(id, values, cleared: cleared, row.origin)
  }

  private func restored(_ record: Fields, from old: Fields, _ row: ImportRow) throws(StoreError) -> Fields {
    guard let restored = rules.ownTypes?.restored(record, from: old), restored != record else {
      return record
    }
    var row = row
    row.fields = restored
    return try row.normalized(file: file)
  }

  private func clearedFields(of row: ImportRow) -> [String] {
    guard rules.clearsFields else { return [] }
    guard isExport, rules.matching != .id else { return row.cleared }
    return row.cleared.filter { $0 != "id" }.map { FieldName(besideID: $0)?.text ?? $0 }
  }

  private mutating func take(_ step: Step, in transaction: inout StoreTransaction) throws {
    switch step {
    case .add(let row, let origin):
      batch.append(row)
      if notesOrigins { batchOrigins.append(origin) }
      // A row without an id gets one above the ids of all rows that are still to come.
      isAwaitingIDs = isAwaitingIDs || (rules.keepsIDs && row.id == nil)
      if batch.count >= Self.batchSize, !isAwaitingIDs { try addBatch(in: &transaction) }
    case .change(let id, let fields, let cleared, let origin):
      try transaction[table].set(fields, of: id)
      try transaction[table].unset(cleared, of: id)
      if notesOrigins { recordOrigins[AnyRecordID(id)] = origin }
      report.changed += 1
    case .nothing: report.unchanged += 1
    }
  }

  /// Adds the remaining rows. If there was nothing to add, it creates the table, but not if every row was wrong.
  /// - Parameter counter: the highest id that the source ever gave, if the table should take it over.
  package mutating func finish(
    counter: Int64?, in transaction: inout StoreTransaction
  ) throws -> ImportReport {
    let isFruitless = batch.isEmpty && report.added + report.changed + report.unchanged == 0
    if isFruitless, !report.skipped.isEmpty { return report }
    try addBatch(in: &transaction)
    if rules.unmatched == .deleted, report.skipped.isEmpty {
      let ids = before.map(\.id).filter { !matched.contains($0) }
      try transaction[table].delete(ids)
      report.deleted = ids.count
    }
    if let counter { try transaction[table].raiseCounter(to: counter) }
    if notesOrigins {
      transaction.addOrigins(of: table.text) { [recordOrigins, file] id in
        recordOrigins[id].map { RecordOrigin(file: file, line: $0.line, text: $0.text) }
      }
    }
    return report
  }

  /// Whether a row with these fields always becomes a new record with exactly these fields, whatever their values are.
  /// Then its bytes can be written directly.
  func takesEncodedRecords(
    withFields names: [String], in transaction: borrowing StoreTransaction
  ) throws -> Bool {
    // The error for a row that does not fit the schema must name its place.
    guard rules.matching == .nothing, !rules.keepsIDs, schema == nil else { return false }
    let isPlain = names.allSatisfy {
      compareUTF8($0, "id") != 0 && compareUTF8($0, TableFile.idKey) != 0 && FieldName(besideID: $0) == nil
    }
    return try isPlain && !transaction[table].addsVersions
  }

  /// Adds the rows of delimited text.
  /// - Precondition: ``takesEncodedRecords(withFields:in:)`` for its columns.
  mutating func take(
    _ reader: inout DelimitedReader, _ columns: DelimitedImport.Columns, _ rows: DelimitedImport,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void
  ) throws {
    let limits = try transaction[table].store.options.limits
    var records = DelimitedRecords(columns.named, rows.emptyText, limits: limits, in: before)
    while try reader.advance() {
      countRow(progress)
      if try reader.withCells({ try records.append($0, $1) }) { continue }
      do throws(StoreError) {
        let row = try rows.row(reader.reading(), columns: columns, file: file).get()
        try records.append(row.normalized(file: file).normalized(limits: limits))
      } catch {
        guard rules.onError == .skip else { throw error }
        report.skipped.append(error)
      }
      if records.byteCount > limits.fileBytes { try add(records.take(), in: &transaction) }
    }
    try add(records.take(), in: &transaction)
  }

  private mutating func add(_ records: [EncodedRecord], in transaction: inout StoreTransaction) throws {
    guard let last = records.last else { return }
    try transaction[table].add(encoded: records, at: position)
    position = .after(RecordID(last.id))
    report.added += records.count
  }

  private mutating func addBatch(in transaction: inout StoreTransaction) throws {
    let ids = try transaction[table].add(identified: batch, at: position)
    if let last = ids.last { position = .after(last) }
    report.added += ids.count
    for (id, origin) in zip(ids, batchOrigins) { recordOrigins[AnyRecordID(id)] = origin }
    batchOrigins.removeAll(keepingCapacity: true)
    if rules.matching == .nothing, rules.hasIDAsField, !isExport {
      added += zip(batch, ids).compactMap { row, id in row.value["id"] == nil ? nil : id }
    }
    batch.removeAll(keepingCapacity: true)
  }

  private func key(of row: ImportRow, _ record: Fields) throws(StoreError) -> RowKey? {
    switch rules.matching {
    case .nothing: return rules.keepsIDs ? row.id.map(RowKey.init) : nil
    case .id: return row.id.map(RowKey.init)
    case .key(let fields):
      if let key = RowKey(of: fields, in: { record[$0] }) { return key }
      let missing = fields.first { record[$0] == nil }
      throw row.error("the row has no value for this key", file: file, field: missing)
    }
  }

  /// The record without the `id` that an export added, and with the fields' own names.
  ///
  /// A file that was not exported may have a field `id`, too. If there is a field `fields.id`, an export wrote the
  /// file. With a key, the table decides.
  private mutating func withoutExportedID(
    _ row: ImportRow, _ record: Fields, for found: StoredRecord<Fields>?
  ) throws(StoreError) -> Fields {
    guard rules.hasIDAsField, rules.matching != .id else { return record }
    isExport = isExport || record.haveNamesOfExport
    guard case .key(let key) = rules.matching else {
      if isExport { return withoutID(record) }
      if record["id"] != nil { report.storedIDs += 1 }
      return record
    }
    let isUnknownField = !tableHasFieldID && !before.isEmpty
    if key.contains("id") {
      guard isUnknownField else { return record }
      throw row.error(
        "no record of the table has a field 'id'; to match by the records' own ids, use --ids instead of a key",
        file: file, field: "id")
    }
    guard let id = record["id"] else { return isExport ? record.withOwnNames : record }
    let isOwnID = found.map { $0.id == RecordID<Fields>(importing: id) && $0["id"] == nil } ?? false
    guard isExport || isUnknownField || isOwnID else { return record }
    return withoutID(record)
  }

  private mutating func withoutID(_ record: Fields) -> Fields {
    if record["id"] != nil { report.ignoredIDs += 1 }
    return record.withOwnNames
  }

  /// Throws if a value of the key and the record's own value differ in type. Otherwise, the record's number could
  /// become a string.
  private func checkTypes(
    of row: ImportRow, _ record: Fields, against old: Fields, _ id: RecordID<Fields>
  ) throws(StoreError) {
    guard case .key(let fields) = rules.matching else { return }
    for field in fields {
      guard let mine = record[field]?.keyType, let theirs = old[field]?.keyType, mine != theirs else {
        continue
      }
      throw row.error(
        "the key is a \(mine) here and a \(theirs) in record \(id); give the field its type", file: file,
        field: field)
    }
  }

  private func matchingID(for key: RowKey, _ row: ImportRow) -> RecordID<Fields>? {
    if case .key = rules.matching { return ids[key] }
    return row.id
  }
}

/// The values of a row's key in their written form. So 1 is the same as 1.0, and a wrong type is noticed.
///
/// There is one for each row of the file and for each record of the table. A string with up to fifteen bytes needs no
/// memory of its own.
private struct RowKey: Hashable {
  /// Each value with its length, so that no two keys look the same; an id unchanged.
  private let code: String

  init?(of fields: [String], in value: (String) -> PlistValue?) {
    var code = ""
    for field in fields {
      guard let value = value(field) else { return nil }
      let text = DelimitedWriter.text(of: value)
      code += "\(text.utf8.count) \(text)"
    }
    self.code = code
  }

  init(_ id: RecordID<Fields>) { code = id.description }

  /// The key for messages.
  var text: String {
    var texts: [String] = []
    var rest = Substring(code)
    while let space = rest.utf8.firstIndex(of: UInt8(ascii: " ")), let count = Int(rest[..<space]) {
      let start = rest.utf8.index(after: space)
      let end = rest.utf8.index(start, offsetBy: count)
      texts.append("'\(rest[start..<end])'")
      rest = rest[end...]
    }
    return texts.isEmpty ? code : texts.joined(separator: ", ")
  }

  // Compares bytes: `String` treats canonically equivalent strings as equal.
  static func == (left: RowKey, right: RowKey) -> Bool { left.code.utf8.elementsEqual(right.code.utf8) }

  func hash(into hasher: inout Hasher) {
    var code = code
    code.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Fields {
  /// The fields with the values of `new`, and without the fields named in `cleared`.
  fileprivate func changed(by new: Fields, without cleared: [String]) -> Fields {
    var fields = self
    for field in new.dictionary { fields[field.key] = field.value }
    for name in cleared { fields[name] = nil }
    return fields
  }
}

extension PlistValue {
  fileprivate var keyType: String {
    switch self {
    case .integer, .unsigned, .real: "number"
    default: typeName
    }
  }
}
