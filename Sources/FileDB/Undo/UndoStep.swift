import FileDBPlist

/// The data that undoes a write; see `RecordStore.undoableWrite(_:)`.
///
/// Taking a write back is itself a write. It keeps later commits: other records, and other fields of the same records,
/// stay as they are.
public struct UndoStep: Sendable {
  var tables: [TableKey: TableUndo]
  /// What readers saw of the tables that lie over attached ones. There, a move gives a record in the log's own part a
  /// position.
  var seen: [TableKey: TableUndo] = [:]

  /// The names of the tables that the write changed, in order.
  public var tableNames: [String] { tables.keys.sorted().map(\.text) }

  /// Whether the write changed nothing.
  public var isEmpty: Bool { tables.isEmpty }

  /// What the write did, in words, such as "deletion of 3 records from notes".
  public var summary: String {
    tables.sorted { $0.key < $1.key }.map { (seen[$0] ?? $1).summary(of: $0.text) }.joined(separator: "; ")
  }
}

/// The effect of a write on one table.
struct TableUndo: Sendable {
  /// A record that the write added.
  struct Added: Sendable {
    let id: AnyRecordID
    /// The checksum of its bytes: a record that was changed since is not removed.
    let checksum: UInt32
  }

  /// A record that the write removed.
  struct Removed: Sendable {
    let record: EncodedRecord
    let position: FormerPosition
  }

  /// A record that the write moved.
  struct Moved: Sendable {
    let id: AnyRecordID
    let position: FormerPosition
    /// The records beside it after the write; `nil` at the ends of the table.
    let above: AnyRecordID?
    let below: AnyRecordID?
  }

  /// A record that the write changed, and its fields before and after; `nil` for a field that was missing.
  struct Updated: Sendable {
    struct Field: Sendable {
      let name: String
      let before: PlistValue?
      let after: PlistValue?
    }

    let id: AnyRecordID
    let fields: [Field]
  }

  /// Where a record was. This includes the record above, because that identifies the position even if other records
  /// have come or gone.
  struct FormerPosition: Sendable {
    let index: Int
    /// `nil` for the first record.
    let above: AnyRecordID?
  }

  /// The complete order, if the write moved many records, or sorted them.
  struct Order: Sendable {
    let before: [AnyRecordID]
    let after: [AnyRecordID]
  }

  /// The root key `schema` before and after; `nil` for none.
  struct Schema: Sendable {
    let before: PlistValue?
    let after: PlistValue?
  }

  /// Whether the table existed.
  let existed: Bool
  let exists: Bool
  /// The highest id given before.
  let counter: Int64
  var added: [Added] = []
  /// Sorted by former index, as are the moved records.
  var removed: [Removed] = []
  /// The file that the undo log keeps instead of the removed records; `nil` if it keeps the records.
  var former: FormerFile?
  var moved: [Moved] = []
  var order: Order?
  var updated: [Updated] = []
  /// `nil` if it stayed as it was.
  var schema: Schema?
  /// The rules of the schema before the write; `nil` if there was none or it is unknown.
  var rules: RulesVersion?
  /// The records, of those changed or removed, that broke a rule about other records before; by the rule.
  var misfits: [String: [AnyRecordID]] = [:]

  var isEmpty: Bool {
    existed == exists && added.isEmpty && removed.isEmpty && moved.isEmpty && order == nil && updated.isEmpty
      && schema == nil
  }

  /// The size of the records that would be restored.
  var removedBytes: Int { removed.reduce(0) { $0 + $1.record.bytes.count } }
}

extension TableUndo {
  /// - Complexity: as ``RecordsDifference/init(from:to:)``; O(*n*) in the records of the table if many were moved.
  init(from old: TableState, to new: TableState, moving movedIDs: Set<AnyRecordID>) {
    self.init(existed: old.exists, exists: new.exists, counter: old.counter)
    let difference = RecordsDifference(from: old.records, to: new.records, moving: movedIDs)
    added = difference.inserted.map { Added(id: $0.record.id, checksum: $0.record.checksum) }
    removed = difference.removed.map {
      Removed(record: $0.record, position: old.formerPosition(at: $0.oldIndex))
    }
    let isSorted = !movedIDs.isSuperset(of: difference.moved.lazy.map(\.id))
    if isSorted || difference.moved.count > max(64, old.records.count / 8) {
      order = Order(before: old.records.ids, after: new.records.ids)
    } else {
      moved = difference.moved.map {
        Moved(
          id: $0.id, position: old.formerPosition(at: $0.oldIndex), above: new.id(at: $0.newIndex - 1),
          below: new.id(at: $0.newIndex + 1))
      }
      .sorted { $0.position.index < $1.position.index }
    }
    updated = difference.updated.map { Updated(from: $0.old, to: $0.new) }
    rules = old.schema.schema.map(RulesVersion.init)
    if old.schemaValue != new.schemaValue { schema = Schema(before: old.schemaValue, after: new.schemaValue) }
  }
}

extension TableState {
  /// Where the record at `index` is.
  func formerPosition(at index: Int) -> TableUndo.FormerPosition {
    TableUndo.FormerPosition(index: index, above: id(at: index - 1))
  }
}

extension TableUndo.Updated {
  fileprivate init(from old: EncodedRecord, to new: EncodedRecord) {
    var fields: [Field] = []
    old.differences(to: new) { name, before, after in
      fields.append(Field(name: name, before: before, after: after))
    }
    self.init(id: old.id, fields: fields)
  }

  /// The values of the fields before the write, or after it.
  func values(_ value: (Field) -> PlistValue?) -> PlistDictionary {
    PlistDictionary(
      lastOf: fields.compactMap { field in value(field).map { .init(key: field.name, value: $0) } })
  }
}

extension TableUndo {
  /// The effect of the write in words.
  fileprivate func summary(of table: String) -> String {
    if !existed, exists {
      return added.isEmpty ? "creation of \(table)" : "\(addition) to the new table \(table)"
    }
    if existed, !exists { return "drop of \(table)" }
    var parts: [String] = []
    if !added.isEmpty { parts.append("\(addition) to \(table)") }
    if !removed.isEmpty { parts.append("deletion of \(removed.count.counted("record")) from \(table)") }
    if !updated.isEmpty {
      parts.append("change of \(updated.count.counted("record")) in \(table) (\(changedFields))")
    }
    if !moved.isEmpty { parts.append("move of \(moved.count.counted("record")) in \(table)") }
    if schema != nil { parts.append("change of the schema of \(table)") }
    if order != nil { parts.append("new order of \(table)") }
    return parts.joined(separator: ", ")
  }

  /// The names of the first fields that were changed.
  private var changedFields: String {
    var names: [String] = []
    for field in updated.lazy.flatMap(\.fields) where names.count < 4 && !names.contains(field.name) {
      names.append(field.name)
    }
    return names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
  }

  private var addition: String { "addition of \(added.count.counted("record"))" }
}

extension TransactionState {
  /// What undoes everything that was done since the tables were as in `earlier`.
  func undoStep(since earlier: [TableKey: TableState] = [:]) throws(StoreError) -> UndoStep {
    try keepRules()
    var step = UndoStep(tables: [:])
    for box in changed {
      let (key, table) = (box.key, box.table)
      // Without the attached tables: another store may be attached when the step is undone, and the step must not
      // restore anything of these tables.
      let before = try ownTable(key, seenAs: earlier[key] ?? table.first)
      var undo = TableUndo(
        from: before, to: try ownTable(key, seenAs: table.now), moving: movedIDs(in: key))
      undo.misfits = try misfits(before, changedBy: undo, in: key, since: earlier)
      if undo.isEmpty { continue }
      step.tables[key] = undo
      guard table.now.beneath != nil else { continue }
      let seen = TableUndo(from: earlier[key] ?? table.first, to: table.now, moving: movedIDs(in: key))
      if !seen.isEmpty { step.seen[key] = seen }
    }
    return step
  }

  /// - Returns: whether something of the write was left to undo.
  func undo(_ undo: TableUndo, in key: TableKey) throws(StoreError) -> Bool {
    let seen = try table(key.text)
    var own = try ownTable(key, seenAs: seen)
    var changes = try undo.changes(in: own)
    if seen.beneath == nil {
      permitFormerMisfits(in: changes, of: undo, in: key, seen.schema)
    } else {
      for change in changes { try own.apply(change) }
      // The log's part of a table over an attached one cannot be dropped. So undoing its creation may change nothing.
      changes = seen.changes(to: try source.view.seen(key, own: own), moving: undo.ids)
    }
    for change in changes { try apply(change, to: key.text) }
    return !changes.isEmpty
  }

  /// Records that broke rules before may come back like that, if the rules are still the same.
  private func permitFormerMisfits(
    in changes: [Change], of undo: TableUndo, in key: TableKey, _ schema: SchemaDeclaration
  ) {
    let schema = undo.schema.map { SchemaDeclaration($0.before) } ?? schema
    guard let rules = undo.rules, schema.schema.map(RulesVersion.init) == rules else { return }
    for record in changes.flatMap(\.records) { restored[key, default: [:]][record.id] = record }
    for (rule, ids) in undo.misfits { formerMisfits[key, default: [:]][rule, default: []].formUnion(ids) }
  }
}

extension TableUndo {
  /// The records that the write touched. Over an attached table, a record that it added may say where a shipped one was
  /// moved.
  fileprivate var ids: Set<AnyRecordID> {
    Set(added.map(\.id) + removed.map(\.record.id) + moved.map(\.id) + updated.map(\.id))
  }
}
