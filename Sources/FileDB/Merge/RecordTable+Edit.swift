import FileDBTables

extension RecordTable {
  /// Merges a version of the table that was edited elsewhere, such as in a copy of its file, into the newest one. Where
  /// both changed a field, the newest one's value stays.
  /// - Parameter before: what the edit began with; `nil` for a table that is new.
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
}
