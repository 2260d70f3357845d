import FileDB

/// Brings rows into a table, in batches.
struct RowMerge {
  enum Step {
    case add(IdentifiedRow<Record>)
    case change(RecordID, Record)
    case nothing
  }

  /// Rows that are added together.
  static let batchSize = 1_000

  private let table: TableName<Record>
  private let matching: TableImport.Matching
  /// Whether rows that are added may have the ids that they had elsewhere.
  private let keepsIDs: Bool
  private let file: String
  /// The table before the import. No record is matched twice, so it serves to the end.
  private let before: TableSnapshot<Record>
  private var ids: [RowKey: RecordID] = [:]
  /// Where in the file each key was met.
  private var origins: [RowKey: ImportRow.Origin] = [:]
  private var batch: [IdentifiedRow<Record>] = []
  private var isAwaitingIDs = false
  private var position: Position
  var report = ImportReport()

  init(
    _ settings: TableImport, into table: TableName<Record>, at position: Position, of file: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    (self.table, self.position, self.file) = (table, position, file)
    matching = settings.matching
    before = try transaction.snapshot(of: table)
    keepsIDs = matching == .id || (settings.format.isPropertyList && !before.exists)
    guard case .key(let fields) = matching else { return }
    for row in before {
      guard let key = RowKey(of: fields, in: { row[$0] }) else { continue }
      guard let first = ids.updateValue(row.id, forKey: key) else { continue }
      throw StoreError(
        StoreError.duplicateKey, "records \(first) and \(row.id) have the same key, \(key.text)",
        table: table.text)
    }
  }

  /// What is to be done about a row.
  /// - Throws: what is wrong with it; then nothing has happened.
  mutating func step(for row: ImportRow) throws(StoreError) -> Step {
    var row = row
    if matching == .id, row.id == nil { try row.takeID(file: file) }
    let record = try row.normalized(file: file)
    let key = try key(of: row, record)
    if let key, let first = origins[key] {
      throw row.error(
        "the key \(key.text) is there twice, first in \(first.text)", code: StoreError.duplicateKey,
        file: file)
    }
    let step = try step(for: row, record, key)
    if let key { origins[key] = row.origin }
    return step
  }

  private func step(for row: ImportRow, _ record: Record, _ key: RowKey?) throws(StoreError) -> Step {
    guard let id = key.flatMap({ matchingID(for: $0, row) }), let old = before[id: id]?.record else {
      return .add(IdentifiedRow(record, id: keepsIDs ? row.id : nil))
    }
    try checkTypes(of: row, record, against: old, id)
    var new = old
    for field in record.fields { new[field.key] = field.value }
    return new == old ? .nothing : .change(id, record)
  }

  mutating func take(_ step: Step, in transaction: inout StoreTransaction) throws {
    switch step {
    case .add(let row):
      batch.append(row)
      // The next id of a row that brings none lies above those of all that are still to come.
      isAwaitingIDs = isAwaitingIDs || (keepsIDs && row.id == nil)
      if batch.count >= Self.batchSize, !isAwaitingIDs { try addBatch(in: &transaction) }
    case .change(let id, let fields):
      try transaction.set(fields, of: id, in: table)
      report.changed += 1
    case .nothing: report.unchanged += 1
    }
  }

  /// Adds what is left, and makes the table where there was nothing to add.
  mutating func finish(counter: Int64?, in transaction: inout StoreTransaction) throws {
    try addBatch(in: &transaction)
    if let counter, !before.exists { try transaction.raiseCounter(of: table, to: counter) }
  }

  private mutating func addBatch(in transaction: inout StoreTransaction) throws {
    let ids = try transaction.add(identified: batch, to: table, at: position)
    if let last = ids.last { position = .after(last) }
    report.added += ids.count
    batch.removeAll(keepingCapacity: true)
  }

  private func key(of row: ImportRow, _ record: Record) throws(StoreError) -> RowKey? {
    switch matching {
    case .nothing: return keepsIDs ? row.id.map(RowKey.init) : nil
    case .id: return row.id.map(RowKey.init)
    case .key(let fields):
      if let key = RowKey(of: fields, in: { record[$0] }) { return key }
      let missing = fields.first { record[$0] == nil }
      throw row.error("a row without its key", file: file, field: missing)
    }
  }

  /// A text that should be a number would turn the record's number into a text.
  private func checkTypes(
    of row: ImportRow, _ record: Record, against old: Record, _ id: RecordID
  ) throws(StoreError) {
    guard case .key(let fields) = matching else { return }
    for field in fields {
      guard let mine = record[field]?.keyType, let theirs = old[field]?.keyType, mine != theirs else {
        continue
      }
      throw row.error(
        "the key is a \(mine) here and a \(theirs) in record \(id); give the field its type", file: file,
        field: field)
    }
  }

  private func matchingID(for key: RowKey, _ row: ImportRow) -> RecordID? {
    if case .key = matching { return ids[key] }
    return row.id
  }
}

/// The values of a row's key, as they are written: so 1 is the same as 1.0, and a wrong type shows.
private struct RowKey: Hashable {
  private let bytes: [UInt8]
  /// For people.
  let text: String

  init?(of fields: [String], in value: (String) -> PlistValue?) {
    var bytes: [UInt8] = []
    var texts: [String] = []
    for field in fields {
      guard let value = value(field) else { return nil }
      let text = DelimitedWriter.text(of: value)
      // With its length, so that no two keys run together.
      bytes += Array("\(text.utf8.count) \(text)".utf8)
      texts.append("'\(text)'")
    }
    self.bytes = bytes
    text = texts.joined(separator: ", ")
  }

  init(_ id: RecordID) {
    bytes = Array(id.description.utf8)
    text = id.description
  }

  static func == (left: RowKey, right: RowKey) -> Bool { left.bytes == right.bytes }
  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension PlistValue {
  fileprivate var keyType: String {
    switch self {
    case .integer, .unsigned, .real: "number"
    default: typeName
    }
  }
}
