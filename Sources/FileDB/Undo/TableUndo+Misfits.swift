import FileDBPlist

extension TransactionState {
  /// The records that an undo may bring back although they break a rule about other records, because they broke it
  /// before. Somebody saved them like that in an editor.
  /// - Parameter earlier: the tables before the write, if they differ from those before the transaction.
  /// - Returns: their ids, by the rule.
  /// - Complexity: O(*m*) in the records that were changed or removed, if there are such rules.
  func misfits(
    _ before: TableState, changedBy undo: TableUndo, in key: TableKey, since earlier: [TableKey: TableState]
  ) throws(StoreError) -> [String: [AnyRecordID]] {
    guard let schema = before.schema.schema else { return [:] }
    var misfits: [String: [AnyRecordID]] = [:]
    for fields in schema.uniqueGroups {
      let ids = undo.formerRecords(with: fields, in: before).filter { record in
        let values = fields.map { record.field($0) }
        return other(than: record.id, with: values, in: fields, of: key, before) != nil
      }.map(\.id)
      if !ids.isEmpty { misfits[MisfitRule.unique(fields)] = ids }
    }
    for (field, rule) in schema.references {
      let former = earlier[rule.tableKey] ?? touched[rule.tableKey]?.table.first
      let target = if let former { former } else { try table(rule.table) }
      let ids = undo.formerRecords(with: [field.name], in: before).filter { record in
        record.field(field.name).map { !names($0, rule, in: target) } ?? false
      }.map(\.id)
      if !ids.isEmpty { misfits[MisfitRule.reference(field.name)] = ids }
    }
    return misfits
  }
}

extension TableUndo {
  /// The records that were removed, or in which one of the fields was changed, as they were before.
  fileprivate func formerRecords(with names: [String], in before: TableState) -> [EncodedRecord] {
    let changed = updated.filter { record in record.fields.contains { names.contains($0.name) } }
    return removed.map(\.record) + changed.compactMap { before.record($0.id) }
  }
}
