import FileDBPlist
import FileDBTables

/// Handles references to records that were deleted.
extension TransactionState {
  /// A field of some table that refers to another table.
  private struct Referring {
    let table: TableKey
    let field: String
    let rule: ReferenceRule
  }

  /// Deletes or changes the records that refer to deleted ones, then the records that refer to those, and so on.
  /// - Complexity: O(*k*) searches for *k* deleted records, however long the chain of references is. If no table refers
  ///   to theirs, they are not looked at.
  func followDeletions() throws(StoreError) {
    // What the transaction itself has deleted is looked up only if something refers to it.
    var waiting = changed.filter(\.table.mayLackRecords).map { ($0.key, [EncodedRecord]?.none) }
    var next = 0
    while next < waiting.count {
      let (key, known) = waiting[next]
      next += 1
      guard known?.isEmpty != true, let box = touched[key] else { continue }
      let referring = try fields(referringTo: key, box.table)
      if referring.isEmpty { continue }
      let gone = known ?? WrittenRecords(of: box.table).removed
      for referring in referring {
        waiting.append((referring.table, try follow(gone, in: key, referring)))
      }
    }
  }

  /// Refuses a schema in which a field is no longer unique although others refer to its values.
  func checkTargets() throws(StoreError) {
    for box in changed where box.table.now.exists && box.table.declares {
      let schema = box.table.now.schema.schema
      let referring = try fields(referringTo: box.key, box.table)
      let broken = referring.first { !$0.rule.isToID && schema?.isUnique($0.rule.targetField) != true }
      guard let broken else { continue }
      throw StoreError(
        .invalidSchema,
        "it must stay unique, because '\(broken.field)' of '\(broken.table.text)' refers to it",
        table: box.key.text, field: broken.rule.field)
    }
  }

  /// - Returns: the records that this deleted, as they were before the transaction. What the transaction has added
  ///   itself, it must not leave without a reference.
  private func follow(
    _ gone: [EncodedRecord], in key: TableKey, _ referring: Referring
  ) throws(StoreError) -> [EncodedRecord] {
    guard referring.rule.onDelete != .restrict else { return [] }
    var found: Set<AnyRecordID> = []
    for (_, value) in try vanished(gone, of: key, referring.rule) {
      found.formUnion(try self.ids(referring, to: value))
    }
    let ids = found.sorted()
    guard !ids.isEmpty else { return [] }
    if referring.rule.onDelete == .cascade {
      try apply(.remove(ids), to: referring.table.text)
      addConsequence(.deletion, of: ids.count, in: referring.table)
      let former = touched[referring.table]?.table.first
      return ids.compactMap { former?.record($0) }
    }
    addConsequence(.change, of: ids.count, in: referring.table)
    for id in ids {
      guard let record = try table(referring.table.text).record(id) else { continue }
      var fields = record.fields
      fields[referring.field] = nil
      try apply(.replace(encoder.encode(fields, id: id)), to: referring.table.text)
    }
    return []
  }

  /// Refuses a change that would leave a reference to nothing: deleting a record that must not be deleted, or changing
  /// a value that is referred to.
  func checkRemainingReferences() throws(StoreError) {
    for box in changed where box.table.mayLackRecords || box.table.changesUniqueValues {
      let (key, table) = (box.key, box.table)
      let referring = try fields(referringTo: key, table)
      if referring.isEmpty { continue }
      let records = WrittenRecords(of: table)
      let changed = records.written.compactMap(\.before)
      for referring in referring {
        // Changing a record never changes its id.
        let former = records.removed + (referring.rule.isToID ? [] : changed)
        for (id, value) in try vanished(former, of: key, referring.rule) {
          guard let other = try ids(referring, to: value, atMost: 1).first else { continue }
          let isGone = try self.table(key.text).record(id) == nil
          throw StoreError(
            .stillReferenced,
            isGone
              ? "record \(other) of '\(referring.table.text)' refers to it in '\(referring.field)'"
              : "record \(other) of '\(referring.table.text)' names its value \(value.quoted) in '\(referring.field)'",
            table: key.text, record: id, field: isGone ? nil : referring.rule.field)
        }
      }
    }
  }

  /// The values by which these records were referred to and that no record has any more.
  private func vanished(
    _ former: [EncodedRecord], of key: TableKey, _ rule: ReferenceRule
  ) throws(StoreError) -> [(id: AnyRecordID, value: PlistValue)] {
    if rule.isToID { return former.map { ($0.id, .integer($0.id.rawValue)) } }
    let target = try table(key.text)
    return former.compactMap { record in
      guard let value = record.field(rule.targetField),
        ids(where: [rule.targetField], are: [value], in: key, target, atMost: 1).isEmpty
      else { return nil }
      return (record.id, value)
    }
  }

  private func ids(
    _ referring: Referring, to value: PlistValue, atMost limit: Int = .max
  ) throws(StoreError) -> [AnyRecordID] {
    ids(
      where: [referring.field], are: [value], in: referring.table, try table(referring.table.text),
      atMost: limit)
  }

  /// The fields that refer to a table.
  private func fields(referringTo key: TableKey, _ table: Touched) throws(StoreError) -> [Referring] {
    var fields: [Referring] = []
    for other in try tables(referringTo: key, table).sorted() where try self.table(other.text).exists {
      for (field, rule) in try readableSchema(of: other)?.references ?? [] where rule.tableKey == key {
        fields.append(Referring(table: other, field: field.name, rule: rule))
      }
    }
    return fields
  }

  /// The tables that refer to this one: those that it knows, and those that are in memory. If somebody wrote a table's
  /// schema by hand, this one does not know of it yet.
  private func tables(referringTo key: TableKey, _ table: Touched) throws(StoreError) -> Set<TableKey> {
    // An attached table is never written to, so it knows none of the user's tables.
    if table.now.beneath != nil {
      return listTables(try source.view.tables(log.tables())).union(touched.keys)
    }
    let tables = Set([table.first, table.now].flatMap { $0.schema.schema?.referencingTables ?? [] })
    return tables.union(tablesInMemory(referringTo: key))
  }
}

extension TransactionState {
  fileprivate func tablesInMemory(referringTo key: TableKey) -> [TableKey] {
    tables.tables { $0.refers(to: key) } + touched.filter { $0.value.table.now.refers(to: key) }.keys
  }

  /// Whether anything was done that a schema may concern. Most tables have no schema, and then this costs nothing.
  var isSubjectToRules: Bool {
    touched.values.contains { box in
      if box.table.changes.isEmpty { return false }
      if box.table.first.schemaValue != nil || box.table.now.schemaValue != nil { return true }
      return box.table.mayLackRecords
        && (box.table.now.beneath != nil || !tablesInMemory(referringTo: box.key).isEmpty)
    }
  }
}

extension TableState {
  func refers(to key: TableKey) -> Bool {
    schema.schema?.fields.contains { $0.references?.tableKey == key } == true
  }
}

/// What deletions have done to records that referred to deleted ones.
package struct Consequence: Equatable, Sendable {
  package enum Effect: Sendable {
    case deletion
    /// The records no longer have the field that referred.
    case change
  }

  package let table: String
  package let effect: Effect
  package fileprivate(set) var records: Int
}

extension TransactionState {
  fileprivate func addConsequence(_ effect: Consequence.Effect, of count: Int, in key: TableKey) {
    let index = consequences.firstIndex { $0.table == key.text && $0.effect == effect }
    if let index {
      consequences[index].records += count
    } else {
      consequences.append(Consequence(table: key.text, effect: effect, records: count))
    }
  }
}

extension TransactionState.Touched {
  /// Whether its schema may have changed.
  fileprivate var declares: Bool {
    changes.contains { if case .declare = $0.change { true } else { false } }
  }

  /// Whether records may have been deleted.
  fileprivate var mayLackRecords: Bool {
    changes.contains {
      switch $0.change {
      case .remove, .removeAll, .truncate, .drop: true
      case .create, .insert, .replace, .move, .reorder, .raiseCounter, .declare: false
      }
    }
  }

  /// Whether unique values may have disappeared.
  fileprivate var changesUniqueValues: Bool {
    guard first.schema.schema?.fields.contains(where: \.isUnique) == true else { return false }
    return changes.contains { if case .replace = $0.change { true } else { false } }
  }
}
