import FileDBPlist

/// One of the few ways in which a table changes. Every verb becomes a list of these, and ``TableState/apply(_:)`` alone
/// carries them out.
package enum Change: Sendable {
  case create
  case drop
  /// New records, in this order, the first at `index`.
  case insert([EncodedRecord], index: Int)
  case replace(EncodedRecord)
  case remove([AnyRecordID])
  /// `index` is where the record is in the end.
  case move(AnyRecordID, index: Int)
  /// All the ids, in their new order.
  case reorder([AnyRecordID])
  /// Removes every record and keeps the counter.
  case removeAll
  /// Removes every record and sets the counter to 0.
  case truncate
  /// Makes this the highest id ever given, if it is higher.
  case raiseCounter(to: Int64)
  /// Makes this the root key `schema` of the file; `nil` removes it.
  case declare(PlistValue?)
}

extension Change {
  /// The records that come with this change, in order.
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
    /// The record that is above what the change inserted; `nil` at the top.
    case insertion(above: AnyRecordID?)
    /// The record that the change moved, and the record that is above it afterwards.
    case move(FoundRecord, above: AnyRecordID?)
    /// All of the table, which the change emptied.
    case table(OrderedRecords, counter: Int64)
    /// The former root key `schema`.
    case schema(PlistValue?)
  }

  /// A record and the one above it; `nil` for the first.
  package struct FoundRecord: Sendable {
    package let record: EncodedRecord
    package let above: AnyRecordID?
  }

  package init(_ change: Change, found: Found) { (self.change, self.found) = (change, found) }
}
