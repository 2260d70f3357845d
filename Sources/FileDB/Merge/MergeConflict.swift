import FileDBPlist

/// Data that both sides of a ``TableMerge`` changed in different ways. The merged table has one of the two versions.
/// The conflict has both.
public struct MergeConflict: Sendable {
  /// What the two sides did, with the values of each.
  public enum Kind: Sendable {
    /// Both sides changed a field. The merged record has our value. `nil` means that the field is missing.
    case field(String, base: PlistValue?, ours: PlistValue?, theirs: PlistValue?)
    /// Our side deleted a record that their side changed. The merge keeps their version. When ``ShippedStore`` merges,
    /// the record stays deleted.
    case deletedByOurs(base: Fields, theirs: Fields)
    /// Their side deleted a record that our side changed. The merge keeps our version.
    case deletedByTheirs(base: Fields, ours: Fields)
    /// The merged record breaks a rule of the table's schema, although the record of each side keeps it. For example,
    /// both sides added a record with the same value in a unique field. The record is in the merged table.
    case rule(field: String, message: String)
    /// Both sides put the records into a new order, for example by sorting them. The merged table has the order of
    /// ours. Each list has the records that both sides have.
    case order(ours: [AnyRecordID], theirs: [AnyRecordID])
  }

  /// The record's id in the merged table; `nil` if the conflict is about the order of the records, or about another key
  /// in the root of the file. In a store with an attached store, the merged table may have no record with this id, if
  /// none of the changes to the attached record are left.
  public let record: AnyRecordID?
  /// What the two sides did.
  public let kind: Kind
}

/// The change to a merged record that settles a conflict.
package enum MergeSettlement: Sendable {
  /// None: the record is already as that side has it.
  case none
  /// `nil` removes the field.
  case set(String, PlistValue?)
  case delete
  /// These records come into this order.
  case order([AnyRecordID])
}

extension MergeConflict {
  /// The change that makes the merged record like the record of one side.
  package func settlement(taking side: MergeRenumbering.Side) -> MergeSettlement {
    switch (kind, side) {
    case (.field(let name, _, _, let theirs), .theirs): .set(name, theirs)
    case (.order(_, let theirs), .theirs): .order(theirs)
    case (.deletedByOurs, .ours), (.deletedByTheirs, .theirs): .delete
    default: .none
    }
  }
}

/// A record whose id in the merged table differs from its id on one of the sides.
public struct MergeRenumbering: Sendable, Hashable {
  /// One of the two sides of a merge.
  public enum Side: String, Sendable, CaseIterable {
    /// Our side. If both sides changed a field, the merged record has the value of this side.
    case ours
    /// The other side.
    case theirs
  }

  /// The side on which the record had the ``oldID``.
  public let side: Side
  /// The record's id on its side.
  public let oldID: AnyRecordID
  /// The record's id in the merged table.
  public let newID: AnyRecordID
}
