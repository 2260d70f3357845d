import FileDBTables

extension RecordTable {
  /// Merges a version of the table that was edited elsewhere, for example in a copy of its file, into the newest
  /// version. If both changed a field, the newest version's value stays.
  /// - Parameter before: the version from which the edit began; `nil` for a new table.
  /// - Returns: the conflicts.
  /// - Throws: as `RecordStore.write(_:)`; ``StoreError/Code/counterExhausted``.
  /// - Complexity: O(*n* log *n*) in the records.
  package func merge(_ edited: TableState, editedFrom before: TableState?) throws -> [MergeConflict] {
    try writing { transaction in
      let newest = try transaction.table(name.text)
      let merge = try RecordsMerge(base: before ?? TableState(), ours: newest, theirs: edited)
      for change in newest.changes(to: merge.merged) { try transaction.apply(change, to: name.text) }
      return merge.conflicts
    }
  }

  /// Puts these records into this order. All others keep their indices.
  /// - Throws: as `RecordStore.write(_:)`.
  /// - Complexity: O(*n*) in the records.
  package func order(as order: [AnyRecordID]) throws {
    try writing { transaction in
      let ids = try transaction.table(name.text).records.ids
      let ordered = ids.ordered(as: order)
      if ordered != ids { try transaction.apply(.reorder(ordered), to: name.text) }
    }
  }
}
