import FileDBPlist

/// One of the few ways to change a table. Every verb becomes a list of changes, and only ``TableState/apply(_:)``
/// carries them out.
package enum Change: Sendable {
  case create
  case drop
  /// Inserts new records in this order, the first at `index`.
  case insert([EncodedRecord], index: Int)
  case replace(EncodedRecord)
  case remove([AnyRecordID])
  /// `index` is the record's index after the move.
  case move(AnyRecordID, index: Int)
  /// All the ids, in their new order.
  case reorder([AnyRecordID])
  /// Removes every record and keeps the counter.
  case removeAll
  /// Removes every record and sets the counter to 0.
  case truncate
  /// Sets the highest id ever given to this number, if it is higher.
  case raiseCounter(to: Int64)
  /// Sets the root key `schema` of the file to this value; `nil` removes the key.
  case declare(PlistValue?)
}

extension Change {
  /// The records that this change contains, in order.
  package var records: [EncodedRecord] {
    switch self {
    case .insert(let records, _): records
    case .replace(let record): [record]
    case .create, .drop, .remove, .move, .reorder, .removeAll, .truncate, .raiseCounter, .declare: []
    }
  }
}

/// A change, and what it found in the table.
package struct AppliedChange: Sendable {
  package let change: Change
  package let found: Found

  /// What a change replaced, removed or moved, and where it put something.
  package enum Found: Sendable {
    case nothing
    /// The records that the change replaced or removed, each as it was.
    case records([FoundRecord])
    /// The record above the inserted ones; `nil` at the top.
    case insertion(above: AnyRecordID?)
    /// The record that the change moved, and the record above it after the move.
    case move(FoundRecord, above: AnyRecordID?)
    /// The whole table, which the change emptied.
    case table(OrderedRecords, counter: Int64)
    /// The former root key `schema`.
    case schema(PlistValue?)
  }

  /// A record and the record above it; `nil` for the first record.
  package struct FoundRecord: Sendable {
    package let record: EncodedRecord
    package let above: AnyRecordID?
  }

  package init(_ change: Change, found: Found) { (self.change, self.found) = (change, found) }
}
