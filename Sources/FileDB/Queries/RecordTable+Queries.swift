import FileDBEssentials
import FileDBTables

/// Questions to the newest records. Each is asked of a ``RecordTable/snapshot()`` of its own. To ask several questions
/// about the same records, take one snapshot.
extension RecordTable {
  /// The records of ``snapshot()``, to filter, search or count by their values.
  ///
  ///     let open = try notes.records.filter { !$0.isDone }
  ///
  /// - Throws: as ``snapshot()``.
  public var records: TableSnapshot<Value>.Records { get throws { try snapshot().records } }

  /// The records that match `predicate`; see ``TableSnapshot/records(where:)-(RecordPredicate)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func records(where predicate: RecordPredicate) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: predicate)
  }

  /// The records that match `predicate`; see ``TableSnapshot/records(where:)-(Predicate<Value>)``.
  ///
  ///     let open = try notes.records(where: #Predicate { !$0.isDone })
  ///
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func records(where predicate: Predicate<Value>) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: predicate)
  }

  /// The values of the records that match `predicate`; see ``TableSnapshot/values(where:)-(RecordPredicate)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func values(where predicate: RecordPredicate) throws -> DecodedValues<Value> {
    try snapshot().values(where: predicate)
  }

  /// The values of the records that match `predicate`; see ``TableSnapshot/values(where:)-(Predicate<Value>)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func values(where predicate: Predicate<Value>) throws -> DecodedValues<Value> {
    try snapshot().values(where: predicate)
  }

  /// The first record that matches `predicate`; see ``TableSnapshot/first(where:)-(RecordPredicate)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func first(where predicate: RecordPredicate) throws -> StoredRecord<Value>? {
    try snapshot().first(where: predicate)
  }

  /// The first record that matches `predicate`; see ``TableSnapshot/first(where:)-(Predicate<Value>)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func first(where predicate: Predicate<Value>) throws -> StoredRecord<Value>? {
    try snapshot().first(where: predicate)
  }

  /// The number of records that match `predicate`; see ``TableSnapshot/count(where:)-(RecordPredicate)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func count(where predicate: RecordPredicate) throws -> Int {
    try snapshot().count(where: predicate)
  }

  /// The number of records that match `predicate`; see ``TableSnapshot/count(where:)-(Predicate<Value>)``.
  /// - Throws: as that, and as ``snapshot()``.
  /// - Complexity: as that.
  public func count(where predicate: Predicate<Value>) throws -> Int {
    try snapshot().count(where: predicate)
  }
}

extension TableSnapshot {
  /// The values of the records that match `predicate`, in their order, and an error for each that does not fit the
  /// type.
  ///
  ///     let light = try foods.snapshot().values(where: RecordPredicate("kcal < 100")).get()
  ///
  /// - Throws: as ``records(where:)-(RecordPredicate)``.
  /// - Complexity: as ``records(where:)-(RecordPredicate)``, and of decoding the records that match.
  public func values(where predicate: RecordPredicate) throws -> DecodedValues<Value> {
    try records(where: predicate).values()
  }

  /// The values of the records that match `predicate`, in their order, and an error for each that does not fit the
  /// type.
  /// - Throws: as ``records(where:)-(Predicate<Value>)``.
  /// - Complexity: as ``records(where:)-(Predicate<Value>)``, and of decoding the records that match.
  public func values(where predicate: Predicate<Value>) throws -> DecodedValues<Value> {
    try records(where: predicate).values()
  }
}
