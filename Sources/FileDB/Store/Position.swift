/// A place in the order of a table's records.
public enum Position: Hashable, Sendable {
  case top
  case bottom
  /// The index that the record has afterwards. `.index(count)` is the bottom when a record is added.
  case index(Int)
  case before(RecordID)
  case after(RecordID)
}
