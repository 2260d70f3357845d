import FileDBTables

/// A place in the order of a table's records.
public enum Position<Value>: Hashable, Sendable {
  /// Above all other records.
  case top
  /// Below all other records.
  case bottom
  /// At this index, counted after the change. When you add a record, `.index(count)` is the bottom.
  case index(Int)
  /// Directly above this record.
  case before(RecordID<Value>)
  /// Directly below this record.
  case after(RecordID<Value>)
}
