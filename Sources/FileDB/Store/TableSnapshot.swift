/// The records of a table at one moment, in order. Reading a snapshot needs neither a lock nor the disk, and later
/// commits do not change it.
public struct TableSnapshot<Value: Codable & Sendable>: Sendable {
  let source: TableSource
  let state: TableState

  /// The table's name.
  public var table: String { source.table }

  /// Whether the table existed at that moment.
  public var exists: Bool { state.exists }

  /// The highest id that the table has ever given.
  public var counter: Int64 { state.counter }

  /// The ids in order.
  /// - Complexity: O(*n*).
  public var ids: [RecordID<Value>] { state.records.ids.map { RecordID($0) } }

  /// The record with this id; `nil` if there is no such record.
  /// - Complexity: nearly the same for any *n*, see <doc:Performance>; O(*n*) for the first search after the table was
  ///   read.
  public subscript(id id: RecordID<Value>) -> StoredRecord<Value>? {
    index(of: id).map { self[$0] }
  }

  /// Whether there is a record with this id.
  /// - Complexity: as ``index(of:)``.
  public func contains(_ id: RecordID<Value>) -> Bool { state.records.contains(id.plain) }

  /// The index of the record with this id, from 0; `nil` if there is no such record.
  /// - Complexity: nearly the same for any *n*, see <doc:Performance>; O(*n*) for the first search after the table was
  ///   read.
  public func index(of id: RecordID<Value>) -> Int? { state.records.index(of: id.plain) }

  /// The record with this id.
  /// - Throws: ``StoreError/Code/recordNotFound``.
  /// - Complexity: as ``index(of:)``.
  public func record(with id: RecordID<Value>) throws -> StoredRecord<Value> {
    do {
      return self[try state.index(of: id.plain)]
    } catch {
      throw error.adding(table: table)
    }
  }

  /// The value of the record with this id.
  /// - Throws: ``StoreError/Code/recordNotFound``, and as ``StoredRecord/value``.
  /// - Complexity: as ``index(of:)``, and of decoding the record.
  public func value(of id: RecordID<Value>) throws -> Value { try record(with: id).value }

  /// The values of these records, up to the first that does not fit the type. If there are many, several threads decode
  /// parts at the same time.
  func decoded(_ range: Range<Int>) -> (values: [Value], failure: StoreError?) {
    decodedInParts(Parts(of: range.count, leastLength: 2_048), count: range.count) { part, values in
      decode(from: range.lowerBound + part.lowerBound, into: values)
    }
  }

  /// Decodes records in order until the buffer is full, or a record does not fit the type.
  private func decode(
    from index: Int, into values: UnsafeMutableBufferPointer<Value>
  ) -> (count: Int, failure: StoreError?) {
    var reader = ValueReader<Value>()
    var records = state.records.makeIterator(from: index)
    var count = 0
    while count < values.count {
      guard let run = records.nextRun() else { preconditionFailure("a record is missing") }
      let (decoded, failure) = run.withUnsafeBufferPointer {
        decodeInOrder($0, into: UnsafeMutableBufferPointer(rebasing: values[count...]), reader: &reader)
      }
      count += decoded
      if let failure { return (count, failure) }
    }
    return (count, nil)
  }

  /// Decodes records until the end of one of the buffers, or to the first record that does not fit the type.
  private func decodeInOrder(
    _ records: UnsafeBufferPointer<EncodedRecord>, into values: UnsafeMutableBufferPointer<Value>,
    reader: inout ValueReader<Value>
  ) -> (count: Int, failure: StoreError?) {
    guard let start = values.baseAddress else { return (0, nil) }
    let count = Swift.min(records.count, values.count)
    for offset in 0..<count {
      do {
        try reader.putValue(of: records[offset], at: start + offset)
      } catch {
        return (offset, StoreError.fault(error, in: records[offset], of: source))
      }
    }
    return (count, nil)
  }
}

/// Decodes the parts of a list at the same time, each into its own part of one array.
/// - Parameter decode: decodes a part in order, up to the first record that does not fit the type.
/// - Returns: the values up to the first record that does not fit the type, and its error.
func decodedInParts<Value>(
  _ parts: Parts, count: Int,
  _ decode: @Sendable (Range<Int>, UnsafeMutableBufferPointer<Value>) -> (count: Int, failure: StoreError?)
) -> (values: [Value], failure: StoreError?) {
  var failure: StoreError?
  let values = [Value](unsafeUninitializedCapacity: count) { buffer, count in
    // Safe: each thread writes only the values of its own part, and this thread waits for all of them.
    nonisolated(unsafe) let buffer = buffer
    let ends = concurrentMap(parts.count) { part in
      decode(parts[part], UnsafeMutableBufferPointer(rebasing: buffer[parts[part]]))
    }
    let last = ends.firstIndex { $0.failure != nil } ?? ends.count - 1
    for part in parts.indices.dropFirst(last + 1) {
      buffer[parts[part]].prefix(ends[part].count).deinitialize()
    }
    failure = ends[last].failure
    count = parts[last].lowerBound + ends[last].count
  }
  return (values, failure)
}

extension TableSnapshot: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { state.records.count }

  /// The record at this index.
  /// - Complexity: nearly the same for any *n*; see <doc:Performance>.
  public subscript(index: Int) -> StoredRecord<Value> {
    StoredRecord(encoded: state.records[index], source: source)
  }

  public struct Iterator: IteratorProtocol {
    fileprivate var records: OrderedRecords.Iterator
    fileprivate let source: TableSource

    public mutating func next() -> StoredRecord<Value>? {
      records.next().map { StoredRecord(encoded: $0, source: source) }
    }

    /// Skips some records.
    mutating func skip(_ count: Int) { records.skip(count) }
  }

  /// Begins at `index` instead of the first record.
  func makeIterator(from index: Int) -> Iterator {
    Iterator(records: state.records.makeIterator(from: index), source: source)
  }

  public func makeIterator() -> Iterator { Iterator(records: state.records.makeIterator(), source: source) }
}

/// Snapshots are equal if they have the same records in the same order. This says nothing about the counter.
extension TableSnapshot: Equatable {
  public static func == (left: TableSnapshot, right: TableSnapshot) -> Bool {
    left.exists == right.exists
      && RecordsDifference(from: left.state.records, to: right.state.records).isEmpty
  }
}

extension TableSnapshot: CustomStringConvertible {
  /// The table's name, the number of records, and the first of them.
  public var description: String {
    let first = prefix(10).map { "\n  \($0)" }.joined()
    return "\(table): \(count.counted("record"))" + first + (count > 10 ? "\n  …" : "")
  }
}
