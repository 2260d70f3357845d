import FileDBPlist

/// The merge of two versions of a table that have a common earlier version.
///
///     let merge = try TableMerge(base: base, ours: ours, theirs: theirs)
///     try merge.merged.write(to: file)
///     for conflict in merge.conflicts { show(conflict) }
///
/// FileDB matches records by their ids and merges them field by field. The merged table has the changes of either side.
/// If the sides disagree:
///
/// - A field that both sides changed has our value, and is a conflict.
/// - A record that one side deleted and the other changed is kept, and is a conflict.
/// - If both sides added different records with the same id, both records are kept. Theirs gets a new id; see
///   ``renumbered``.
/// - A record that both sides moved is where our side has it. If both sides put records in the same place, ours come
///   first.
/// - If both sides moved at least a third of the records, as by sorting, all are in our order, and this is a conflict.
///
/// In a store with an attached store, the table also has records that describe changes to attached records. These are
/// always matched by their ids, and their changes are merged.
///
/// If an earlier merge gave a record a new id, FileDB still recognizes the record by its fields, as long as they have
/// not changed since the base. So you can merge branches again and again, and rebase them.
public struct TableMerge<Value: Codable & Sendable>: Sendable {
  /// The merged table. It is complete and valid, even if there are conflicts.
  public let merged: TableSnapshot<Value>
  /// The conflicts, in the order of the merged records. After them come conflicts about attached records whose changes
  /// are all gone, and then conflicts about other keys in the root of the file.
  public let conflicts: [MergeConflict]
  /// The records that got new ids, in the order of the merged records. FileDB does not change fields that refer to such
  /// a record by its old id.
  public let renumbered: [MergeRenumbering]
  private let merge: RecordsMerge

  /// Merges two versions of a table.
  /// - Parameters:
  ///   - base: the version that both sides began with; `nil` if each side created the table itself.
  ///   - ours: our version. Its value is kept if both sides changed a field.
  ///   - theirs: the other version.
  ///   - side: the side that wins wherever the two disagree, so that there are no such conflicts. If both changed a
  ///     field, the merge takes the value of this side. If one deleted a record that the other changed, the merge does
  ///     what this side did. ``conflicts`` then has only broken rules of the schema. By default, no side wins.
  /// - Throws: ``StoreError/Code/counterExhausted`` if a record needs a new id and there are no more.
  /// - Complexity: O(*n* log *n*); only records that differ are decoded.
  public init(
    base: TableSnapshot<Value>?, ours: TableSnapshot<Value>, theirs: TableSnapshot<Value>,
    favoring side: MergeRenumbering.Side? = nil
  ) throws {
    merge = try RecordsMerge(
      base: base?.state ?? TableState(), ours: ours.state, theirs: theirs.state, favoring: side)
    merged = TableSnapshot(source: ours.source, state: merge.merged)
    (conflicts, renumbered) = (merge.conflicts, merge.renumbered)
  }

  /// The merged table as the base of another merge: where the sides disagree, it differs from every version.
  package var asBase: TableSnapshot<Value> { TableSnapshot(source: merged.source, state: merge.asBase) }
}
