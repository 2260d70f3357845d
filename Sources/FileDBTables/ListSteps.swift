/// The steps from one list of records to another, in the form that table views need.
///
/// The steps follow the rules of batch updates in `UITableView` and `UICollectionView`:
///
/// - The indices of ``deletions`` and the old indices of ``moves`` refer to the list before the change. The indices of
///   ``insertions`` and the new indices of ``moves`` refer to the list after it.
/// - No index is both deleted and moved from. No index is both inserted at and moved to. Each list names an index at
///   most once.
/// - The counts add up: records before − deletions + insertions = records after.
/// - All other records keep their order.
/// - ``updates`` are not part of the batch. A record may be moved *and* updated, and a view cannot reload a record that
///   it moves in the same batch. Carry out the updates after the batch, with the new indices.
///
/// FileDB moves as few records as possible. An update is a record that exists before and after, with changed fields.
///
/// ``sequence`` gives the same changes as single steps, each on the list that the step before it left. `NSTableView`
/// and arrays need this form.
public struct ListSteps: Sendable, Equatable {
  /// A record and its index.
  public struct Place: Sendable, Hashable {
    /// The record's id.
    public let id: AnyRecordID
    /// The record's index, before the change for a deletion and after it for an insertion.
    public let index: Int
  }

  /// A record with its index before and its index after the change. The two can be equal if other records were inserted
  /// or deleted.
  public struct Passage: Sendable, Hashable {
    /// The record's id.
    public let id: AnyRecordID
    /// The record's index before the change.
    public let oldIndex: Int
    /// The record's index after the change.
    public let newIndex: Int
  }

  /// The deleted records, ordered by their indices before the change.
  public let deletions: [Place]
  /// The new records, ordered by their indices after the change.
  public let insertions: [Place]
  /// The records whose order among the remaining records changed, ordered by their indices after the change.
  public let moves: [Passage]
  /// The records whose fields changed, including moved ones, ordered by their indices after the change.
  public let updates: [Passage]

  /// Whether there are no steps, because the lists are equal.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

extension ListSteps {
  package init(_ difference: RecordsDifference) {
    deletions = difference.removed.map { Place(id: $0.record.id, index: $0.oldIndex) }
    insertions = difference.inserted.map { Place(id: $0.record.id, index: $0.newIndex) }
    moves = difference.moved
    updates = difference.updated.map { Passage(id: $0.new.id, oldIndex: $0.oldIndex, newIndex: $0.newIndex) }
  }
}
