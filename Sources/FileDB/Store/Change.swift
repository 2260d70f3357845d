/// One step from a table's state to the next. Every verb becomes some of these, and ``TableState/apply(_:)`` alone
/// carries them out.
package enum Change: Sendable {
  case create
  case drop
  /// New records, in this order, the first at `row`.
  case insert([StoredRecord], row: Int)
  case replace(StoredRecord)
  case remove([RecordID])
  /// `row` is where the record is in the end.
  case move(RecordID, row: Int)
  /// All the ids, in their new order.
  case reorder([RecordID])
  /// Removes every record and keeps the counter.
  case removeAll
  /// Removes every record and sets the counter to 0.
  case truncate
}
