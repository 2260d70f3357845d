import FileDBPlist

/// Something that both sides of a ``TableMerge`` changed in different ways. The merged table has one version; this has
/// both.
public struct MergeConflict: Sendable {
  /// What the two sides did, with the values of each.
  public enum Kind: Sendable {
    /// Both changed a field. The merged record has our value. `nil` means that the field is missing.
    case field(String, base: PlistValue?, ours: PlistValue?, theirs: PlistValue?)
    /// Ours deleted a record that theirs changed. It is kept as theirs has it; in an installation it stays deleted.
    case deletedByOurs(base: Fields, theirs: Fields)
    /// Theirs deleted a record that ours changed. It is kept as ours has it.
    case deletedByTheirs(base: Fields, ours: Fields)
    /// The merged record does not keep a rule of the table's schema, although the record of each side does: for example,
    /// both added a record with the same value in a field that is unique. The record is in the merged table.
    case rule(field: String, message: String)
  }

  /// The record's id in the merged table; `nil` for another key in the root of the file. In a store over an attached
  /// one, the merged table may have no record with this id, if no changes to the attached record are left.
  public let record: AnyRecordID?
  /// What the two sides did.
  public let kind: Kind
}

/// What has to be done to a merged record so that a conflict is settled.
package enum MergeSettlement: Sendable {
  /// Nothing: the record is as that side has it.
  case none
  /// `nil` removes the field.
  case set(String, PlistValue?)
  case delete
}

extension MergeConflict {
  /// What makes the merged record as one side has it.
  package func settlement(taking side: MergeRenumbering.Side) -> MergeSettlement {
    switch (kind, side) {
    case (.field(let name, _, _, let theirs), .theirs): .set(name, theirs)
    case (.deletedByOurs, .ours), (.deletedByTheirs, .theirs): .delete
    default: .none
    }
  }
}

/// A record that has another id in the merged table than it had on one of the sides.
public struct MergeRenumbering: Sendable, Hashable {
  /// One of the two sides of a merge.
  public enum Side: Sendable, Hashable {
    /// The side whose value a field has that both changed.
    case ours
    /// The other side.
    case theirs
  }

  /// The side that had it under ``oldID``.
  public let side: Side
  /// The record's id on its side.
  public let oldID: AnyRecordID
  /// The record's id in the merged table.
  public let newID: AnyRecordID
}
