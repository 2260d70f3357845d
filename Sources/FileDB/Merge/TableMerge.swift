import FileDBPlist

/// The merge of two versions of a table that have a common earlier version.
///
///     let merge = try TableMerge(base: base, ours: ours, theirs: theirs)
///     try merge.merged.write(to: file)
///     for conflict in merge.conflicts { show(conflict) }
///
/// Records are matched by their ids, and merged field by field. The merged table has the changes that only one side
/// made, and those that both made in the same way. If the sides disagree:
///
/// - A field that both changed has our value, and is a conflict.
/// - A record that one side deleted and the other changed is kept, and is a conflict.
/// - Different new records with the same id are both kept. Theirs gets a new id; see ``renumbered``.
/// - A record that both moved is where ours has it. If both put a record in the same place, ours comes first.
///
/// In the table of a store over an attached one, records that describe changes to attached records are always matched
/// by their ids, and the changes are merged.
///
/// A record that got a new id in an earlier merge is recognized by its fields, as long as they are the same as in the
/// base. So you can merge branches again and again, and rebase them.
public struct TableMerge<Value: Codable & Sendable>: Sendable {
  /// The merged table. It is complete and sound, even if there are conflicts.
  public let merged: TableSnapshot<Value>
  /// The conflicts, in the order of the merged records. Conflicts about attached records whose changes are all gone
  /// come next, and then those about other keys in the root of the file.
  public let conflicts: [MergeConflict]
  /// The records with new ids, in the order of the merged records. Fields that refer to such a record by its id are not
  /// changed.
  public let renumbered: [MergeRenumbering]
  private let ours: TableState

  /// Merges two versions of a table.
  /// - Parameters:
  ///   - base: the version that both sides began with; `nil` if each side created the table itself.
  ///   - ours: the version whose value a field has that both changed.
  ///   - theirs: the other version.
  ///   - side: the side whose version the merge takes wherever the two disagree: of a field that both changed, its
  ///     value; of a record that one deleted and the other changed, the record or its deletion. Then ``conflicts`` has
  ///     only what breaks a rule of the schema. By default the disagreements are conflicts.
  /// - Throws: ``StoreError/Code/counterExhausted`` if no id is left for a record that needs a new one.
  /// - Complexity: O(*n* log *n*); only records that differ are decoded.
  public init(
    base: TableSnapshot<Value>?, ours: TableSnapshot<Value>, theirs: TableSnapshot<Value>,
    favoring side: MergeRenumbering.Side? = nil
  ) throws {
    let merge = try RecordsMerge(
      base: base?.state ?? TableState(), ours: ours.state, theirs: theirs.state, favoring: side)
    merged = TableSnapshot(source: ours.source, state: merge.merged)
    (conflicts, renumbered) = (merge.conflicts, merge.renumbered)
    self.ours = ours.state
  }

  /// What leads from ours to the merged table, but for the keys beside its records, and for a counter that is lower.
  package var changes: [Change] { ours.changes(to: merged.state) }
}
