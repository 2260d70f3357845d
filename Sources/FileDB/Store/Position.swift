/// A place in the order of a table's records.
public enum Position<Value>: Hashable, Sendable {
  /// Above all other records.
  case top
  /// Below all other records.
  case bottom
  /// The index that the record has afterwards. `.index(count)` is the bottom when a record is added.
  case index(Int)
  /// Directly above this record.
  case before(RecordID<Value>)
  /// Directly below this record.
  case after(RecordID<Value>)
}
