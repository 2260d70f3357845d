/// What leads from one list of records to another, as a table view wants it.
///
/// The steps keep the rules of `UITableView`'s and `UICollectionView`'s batch updates:
///
/// - The indices of ``deletions`` and the old indices of ``moves`` are those of the list before. The indices of
///   ``insertions`` and the new indices of ``moves`` are those of the list after.
/// - No index is deleted and moved from, none is inserted at and moved to, and none is in one of the lists twice.
/// - The counts add up: records before − deletions + insertions = records after.
/// - What is in none of the three stays, in its order.
/// - ``updates`` are no part of the batch: a record may be moved *and* updated, and a view refuses to reload a record
///   that it moves. They come after the batch, by their new indices.
///
/// As few records as possible are moved. An update is a record that was there before and has other fields now.
///
/// ``sequence`` gives the same as single steps, each for the list as the former left it, as `NSTableView` and an array
/// want them.
public struct ListSteps: Sendable, Equatable {
  /// A record and its index.
  public struct Place: Sendable, Hashable {
    public let id: RecordID
    public let index: Int
  }

  /// A record with its index before and its index after. The two may be equal, where others around it came or went.
  public struct Passage: Sendable, Hashable {
    public let id: RecordID
    public let oldIndex: Int
    public let newIndex: Int
  }

  /// The records that are gone, by their indices before, ascending.
  public let deletions: [Place]
  /// The records that are new, by their indices after, ascending.
  public let insertions: [Place]
  /// The records that are in another order to those that stay, by their indices after, ascending.
  public let moves: [Passage]
  /// The records with other fields than before, the moved ones among them, by their indices after, ascending.
  public let updates: [Passage]

  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

extension ListSteps {
  package init(_ difference: RecordsDifference) {
    deletions = difference.removed.map { Place(id: $0.record.id, index: $0.oldIndex) }
    insertions = difference.inserted.map { Place(id: $0.record.id, index: $0.newIndex) }
    moves = difference.moved.map { Passage(id: $0.id, oldIndex: $0.oldIndex, newIndex: $0.newIndex) }
    updates = difference.updated.map { Passage(id: $0.new.id, oldIndex: $0.oldIndex, newIndex: $0.newIndex) }
  }
}
