import FileDBPlist

/// Something that both sides of a ``TableMerge`` changed, each in its own way. The merged table has one of the two; the
/// other is here.
public struct MergeConflict: Sendable {
  public enum Kind: Sendable {
    /// Both changed a field. The merged record has it as ours; `nil` stands for no such field.
    case field(String, base: PlistValue?, ours: PlistValue?, theirs: PlistValue?)
    /// Ours deleted a record that theirs changed. It is kept as theirs has it; in an installation it stays deleted.
    case deletedByOurs(base: Fields, theirs: Fields)
    /// Theirs deleted a record that ours changed. It is kept as ours has it.
    case deletedByTheirs(base: Fields, ours: Fields)
  }

  /// The record's id in the merged table; `nil` for a key beside the records in the root of the file. In a store over
  /// an attached one, the table has no record with this id where nothing is left of what the sides said about the
  /// attached one.
  public let record: RecordID?
  public let kind: Kind
}

/// A record that has another id in the merged table than it had on one of the sides.
public struct MergeRenumbering: Sendable, Hashable {
  public enum Side: Sendable, Hashable { case ours, theirs }

  /// The side that had it under ``oldID``.
  public let side: Side
  public let oldID: RecordID
  public let newID: RecordID
}
