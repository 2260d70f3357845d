import FileDBPlist

/// What two versions of a table, made from the same earlier one, are together.
///
///     let merge = try TableMerge(base: base, ours: ours, theirs: theirs)
///     try merge.merged.write(to: file)
///     for conflict in merge.conflicts { show(conflict) }
///
/// Records are matched by their ids, and merged field by field. What only one side added, changed, moved or deleted is so in
/// the merged table; what both did in the same way, too. Where they disagree:
///
/// - A field that both changed has our value, and is a conflict.
/// - A record that one side deleted and the other changed is kept, and is a conflict.
/// - Different new records with the same id are both kept; theirs gets a new id, which ``renumbered`` tells.
/// - A record that both moved is where ours has it. What both put in the same place comes ours first.
///
/// In the table of a store over an attached one, records that say something about attached ones are known by their ids
/// always, and what they say is merged.
///
/// A record that an earlier merge gave a new id is known by its fields, as long as these are the same as in the base. So
/// branches may be merged again and again, and rebased.
public struct TableMerge<Value: Codable & Sendable>: Sendable {
  /// The merged table, whole and sound whether there are conflicts or not.
  public let merged: TableSnapshot<Value>
  /// In the order of the merged records; then those of attached records of which nothing is left; then those of keys
  /// beside the records.
  public let conflicts: [MergeConflict]
  /// In the order of the merged records. What refers to such a record by its id from elsewhere is not changed.
  public let renumbered: [MergeRenumbering]
  private let ours: TableState

  /// - Parameter base: the version that both sides began with; `nil` where each made the table for itself.
  /// - Throws: ``StoreError/counterExhausted`` where there is no id left for a record that needs one.
  /// - Complexity: O(*n* log *n*); only records that differ are decoded.
  public init(
    base: TableSnapshot<Value>?, ours: TableSnapshot<Value>, theirs: TableSnapshot<Value>
  ) throws {
    let merge = try RecordsMerge(
      base: base?.state ?? TableState(), ours: ours.state, theirs: theirs.state)
    merged = TableSnapshot(source: ours.source, state: merge.merged)
    (conflicts, renumbered) = (merge.conflicts, merge.renumbered)
    self.ours = ours.state
  }

  /// What leads from ours to the merged table, but for the keys beside its records, and for a counter that is lower.
  package var changes: [Change] { ours.changes(to: merged.state) }
}
