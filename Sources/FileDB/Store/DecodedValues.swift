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

/// The values of a snapshot's records, and an error for each record that does not fit the type.
///
///     let notes = try table.snapshot().values()
///     show(notes.decoded)
///     for fault in notes.faults { warn(fault) }
public struct DecodedValues<Value: Codable & Sendable>: Sendable {
  /// The values of the records that fit the type, in order.
  public let decoded: [Value]
  /// An error for each record that could not be decoded, in order, with the record's id. The code is
  /// ``StoreError/Code/invalidValue``; for a ``VersionedValue`` also ``StoreError/Code/newerVersion`` or
  /// ``StoreError/Code/migrationFailed``.
  public let faults: [StoreError]
  private let all: OrderedRecords

  fileprivate init(_ decoded: [Value], faults: [StoreError], of all: OrderedRecords) {
    (self.decoded, self.faults, self.all) = (decoded, faults, all)
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

  /// The values of all records.
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
    var (values, failure) = decoded(0..<count)
    guard let failure else { return DecodedValues(values, faults: [], of: state.records) }
    var faults = [failure]
    var reader = ValueReader<Value>()
    var rest = state.records.makeIterator(from: values.count + 1)
    while let record = rest.next() {
      do throws(StoreError) {
        values.append(try StoreError.naming(record, of: source) { try reader.value(of: record) })
      } catch {
        faults.append(error)
      }
    }
    return DecodedValues(values, faults: faults, of: state.records)
  }
}
