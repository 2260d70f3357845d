/// What leads from one list of rows to another, as a table view wants it.
///
/// The steps keep the rules of `UITableView`'s and `UICollectionView`'s batch updates:
///
/// - Rows of ``deletions`` and old rows of ``moves`` are those of the list before, rows of ``insertions`` and new rows of
///   ``moves`` those of the list after.
/// - No row is deleted and moved, none inserted and moved to, and none in one of the lists twice.
/// - The counts add up: rows before − deletions + insertions = rows after.
/// - What is in none of the three stays, in its order.
/// - ``updates`` are no part of the batch: a row may be moved *and* updated, and a view refuses to reload a row that it
///   moves. They come after the batch, by their new rows.
///
/// As few rows as possible are moved. An update is a record that was there before and has other fields now.
///
/// ``sequence`` gives the same as single steps, each for the list as the former left it: so `NSTableView` wants them, and
/// an array.
public struct ListSteps: Sendable, Equatable {
  /// A record and its row, from 0.
  public struct Place: Sendable, Hashable {
    public let id: RecordID
    public let row: Int
  }

  /// A record with its row before and its row after. Both may be the same number, where others around it came or went.
  public struct Passage: Sendable, Hashable {
    public let id: RecordID
    public let oldRow: Int
    public let newRow: Int
  }

  /// The records that are gone, by their rows before, ascending.
  public let deletions: [Place]
  /// The records that are new, by their rows after, ascending.
  public let insertions: [Place]
  /// The records that are in another order to those that stay, by their rows after, ascending.
  public let moves: [Passage]
  /// The records with other fields than before, the moved ones among them, by their rows after, ascending.
  public let updates: [Passage]

  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

extension ListSteps {
  init(_ difference: RecordsDifference) {
    deletions = difference.removed.map { Place(id: $0.record.id, row: $0.oldRow) }
    insertions = difference.inserted.map { Place(id: $0.record.id, row: $0.newRow) }
    moves = difference.moved.map { Passage(id: $0.id, oldRow: $0.oldRow, newRow: $0.newRow) }
    updates = difference.updated.map { Passage(id: $0.new.id, oldRow: $0.oldRow, newRow: $0.newRow) }
  }
}
