import FileDBTables

/// A record with its decoded value, for lists.
public struct DecodedRecord<Value: Codable & Sendable>: Identifiable, Sendable {
  /// The record's id.
  public let id: RecordID<Value>
  /// The record's value.
  public let value: Value

  /// A record with this id and value, for previews and tests.
  public init(id: RecordID<Value>, value: Value) { (self.id, self.value) = (id, value) }
}

extension DecodedRecord: Equatable where Value: Equatable {}
extension DecodedRecord: Hashable where Value: Hashable {}

/// The values of records, and an error for each record that does not fit the type.
///
///     let notes = try table.snapshot().values()
///     show(notes.decoded)
///     for fault in notes.faults { warn(fault) }
///
/// You get it from ``TableSnapshot/values()``, or from some records by `values()`.
public struct DecodedValues<Value: Codable & Sendable>: Sendable {
  /// The values of the records that fit the type, in order.
  public let decoded: [Value]
  /// An error for each record that could not be decoded, in order, with the record's id. The code is
  /// ``StoreError/Code/invalidValue``; for a ``VersionedValue`` also ``StoreError/Code/newerVersion`` or
  /// ``StoreError/Code/migrationFailed``.
  public let faults: [StoreError]
  private let all: Records

  /// The records to decode. Their ids are collected when somebody asks for them.
  fileprivate enum Records {
    case table(OrderedRecords)
    case chosen([StoredRecord<Value>])

    var ids: [AnyRecordID] {
      switch self {
      case .table(let records): records.ids
      case .chosen(let records): records.map(\.encoded.id)
      }
    }
  }

  fileprivate init(_ records: [StoredRecord<Value>]) {
    let (values, failure) = decodedInParts(Parts(of: records.count, leastLength: 256), count: records.count) {
      decodeInOrder(records[$0], into: $1)
    }
    self.init(values, failure, rest: records.dropFirst(values.count + 1), of: .chosen(records))
  }

  /// - Parameters:
  ///   - values: the values of the records up to the first that does not fit the type.
  ///   - rest: the records after that one.
  fileprivate init<Rest: Sequence<StoredRecord<Value>>>(
    _ values: [Value], _ failure: StoreError?, rest: @autoclosure () -> Rest, of all: Records
  ) {
    self.all = all
    guard let failure else {
      (decoded, faults) = (values, [])
      return
    }
    let more = decodeEach(of: rest())
    (decoded, faults) = (values + more.values, [failure] + more.faults)
  }

  /// The ids of the records whose values are in ``decoded``, in the same order.
  /// - Complexity: O(*n*).
  public var ids: [RecordID<Value>] {
    guard !faults.isEmpty else { return all.ids.map { RecordID($0) } }
    let faulty = Set(faults.map(\.record))
    return all.ids.filter { !faulty.contains($0) }.map { RecordID($0) }
  }

  /// The values in ``decoded``, each with its record's id.
  /// - Complexity: O(*n*).
  public var records: [DecodedRecord<Value>] {
    zip(ids, decoded).map { DecodedRecord(id: $0, value: $1) }
  }

  /// The values of the records, if all of them fit the type.
  /// - Throws: the first of the ``faults``, if there is one.
  public func get() throws -> [Value] {
    if let fault = faults.first { throw fault }
    return decoded
  }
}

extension TableSnapshot {
  /// Decodes all records. The result has the values of the records that fit the type, in order, and an error for each
  /// of the others. In a large table, several threads decode parts at the same time.
  ///
  /// If your program needs every record, call `try values().get()`, which throws the first error.
  /// - Complexity: O(*n*).
  public func values() -> DecodedValues<Value> {
    let (values, failure) = decoded(0..<count)
    return DecodedValues(
      values, failure, rest: IteratorSequence(makeIterator(from: values.count + 1)), of: .table(state.records)
    )
  }
}

extension Sequence {
  /// The values of these records that fit the type, in order, and the faults of the others. Of many records, several
  /// threads decode parts at the same time, which is faster than asking each for its ``StoredRecord/value``.
  ///
  ///     let light = try foods.snapshot().records(where: RecordPredicate("kcal < 100")).values().get()
  ///
  /// - Complexity: O(*n*).
  public func values<Value>() -> DecodedValues<Value> where Element == StoredRecord<Value> {
    DecodedValues(Array(self))
  }
}

extension TableSnapshot {
  /// The records that fit the type, for queries that should not end at one that does not, and an error for each of the
  /// others.
  ///
  ///     let (notes, faults) = try table.snapshot().withoutFaults()
  ///     let open = try notes.records.filter { !$0.isDone }
  ///
  /// - Complexity: O(*n*); all records are decoded.
  public func withoutFaults() -> (records: TableSnapshot, faults: [StoreError]) {
    let faults = values().faults
    if faults.isEmpty { return (self, []) }
    let faulty = Set(faults.map(\.record))
    let state = state.with(state.records.filter { !faulty.contains($0.id) })
    return (TableSnapshot(source: source, state: state), faults)
  }
}

/// Decodes records in order, up to the first that does not fit the type.
private func decodeInOrder<Value>(
  _ records: ArraySlice<StoredRecord<Value>>, into values: UnsafeMutableBufferPointer<Value>
) -> (count: Int, failure: StoreError?) {
  guard let start = values.baseAddress else { return (0, nil) }
  var reader = ValueReader<Value>()
  for (offset, index) in records.indices.enumerated() {
    let record = records[index]
    do {
      try reader.putValue(of: record.encoded, at: start + offset)
    } catch {
      return (offset, StoreError.fault(error, in: record.encoded, of: record.source))
    }
  }
  return (records.count, nil)
}

private func decodeEach<Value>(of records: some Sequence<StoredRecord<Value>>) -> (
  values: [Value], faults: [StoreError]
) {
  var reader = ValueReader<Value>()
  var (values, faults): ([Value], [StoreError]) = ([], [])
  values.reserveCapacity(records.underestimatedCount)
  for record in records {
    do throws(StoreError) {
      values.append(
        try StoreError.naming(record.encoded, of: record.source) { try reader.value(of: record.encoded) })
    } catch {
      faults.append(error)
    }
  }
  return (values, faults)
}
