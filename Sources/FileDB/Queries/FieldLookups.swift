import FileDBEssentials
import FileDBPlist
import Synchronization

/// The lookups of a store's tables.
final class FieldLookups: Sendable {
  private let lookups = Mutex<[LookupName: any Sendable]>([:])

  func add<Value, Field>(_ property: ValueProperty<Value, Field>, of table: TableKey) {
    let name = LookupName(property, of: table)
    let lookup = FieldLookup(property)
    lookups.withLock { if $0[name] == nil { $0[name] = lookup } }
  }

  func lookup<Value, Field>(
    by property: ValueProperty<Value, Field>, of table: TableKey
  ) -> FieldLookup<Value, Field>? {
    let name = LookupName(property, of: table)
    return lookups.withLock { $0[name] } as? FieldLookup<Value, Field>
  }
}

/// A property of a value. It may be optional.
struct ValueProperty<Value: Codable & Sendable, Field: Hashable & Sendable>: Sendable {
  let path: AnyKeyPath & Sendable
  fileprivate let field: @Sendable (Value) -> Field?
  /// Makes a function that reads the property of one record after another. It throws an error if a record does not fit
  /// the type. The property's field is looked for in the records of a table.
  let reader: @Sendable (OrderedRecords) -> (EncodedRecord) throws -> Field?
  /// The records of a table whose property passes a test.
  let filter:
    @Sendable (TableSnapshot<Value>, @Sendable (Field?) -> Bool) throws(StoreError) -> [StoredRecord<Value>]

  init(_ path: KeyPath<Value, Field> & Sendable) { self.init(path, Optional.some) }
  init(_ path: KeyPath<Value, Field?> & Sendable) { self.init(path, \.self) }

  private init<Stored>(
    _ path: KeyPath<Value, Stored> & Sendable, _ field: @escaping @Sendable (Stored) -> Field?
  ) {
    self.path = path
    self.field = { field($0[keyPath: path]) }
    reader = { records in
      let alone = PropertyField(path, in: records)
      let names = ValueForm(Value.self).isPlain ? alone?.reference.names : nil
      var reader = ValueReader<Value>()
      return { record in
        // Reading the field alone is faster.
        if let alone, let names, names.count == 1,
          let property = alone.property(of: record.field(names[0].text))
        {
          return field(property)
        }
        return field(try reader.value(of: record)[keyPath: path])
      }
    }
    filter = { snapshot, isIncluded throws(StoreError) in
      try snapshot.records(at: path) { isIncluded(field($0)) }
    }
  }
}

/// Unchecked: the path comes from a `ValueProperty`, whose path is `Sendable`. With a property of that type, this would
/// not be `Hashable`.
private struct LookupName: Hashable, @unchecked Sendable {
  let table: TableKey
  let path: AnyKeyPath
  /// A path to an optional can be used for the wrapped type, or for the optional type.
  let type: ObjectIdentifier

  init<Value, Field>(_ property: ValueProperty<Value, Field>, of table: TableKey) {
    self.table = table
    path = property.path
    type = ObjectIdentifier(ValueProperty<Value, Field>.self)
  }
}

extension RecordTable {
  /// Returns this table with a lookup by the field at `path`. With a lookup, queries by this field no longer look at
  /// every record.
  ///
  /// ```swift
  /// let foods = try store.table(.foods).withLookup(by: \.group).withLookup(by: \.kcal)
  /// let dairy = try foods.snapshot().records(where: \.group, equals: "Dairy")
  /// ```
  ///
  /// The store keeps the lookup in memory until the store is released. All users of the table share it. The lookup
  /// holds the id of each record, each distinct value of the field, and the records as of the last query. The first
  /// query decodes all records. Each later query decodes the records that have changed since then. The results are the
  /// same as without a lookup.
  @discardableResult
  public func withLookup<Field: Hashable & Sendable>(
    by path: KeyPath<Value, Field> & Sendable
  ) -> RecordTable {
    source.lookups.add(ValueProperty(path), of: TableKey(name.text))
    return self
  }

  /// Returns this table with a lookup by an optional field. A query for `nil` finds the records without the field.
  @discardableResult
  public func withLookup<Field: Hashable & Sendable>(
    by path: KeyPath<Value, Field?> & Sendable
  ) -> RecordTable {
    source.lookups.add(ValueProperty(path), of: TableKey(name.text))
    return self
  }
}

extension RecordTable {
  /// The records of ``snapshot()`` whose field at `path` equals `field`.
  /// - Throws: as ``snapshot()`` and ``TableSnapshot/records(where:equals:)-(_,Field)``.
  /// - Complexity: as both.
  public func records<Field: Hashable & Sendable>(
    where path: KeyPath<Value, Field> & Sendable, equals field: Field
  ) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: path, equals: field)
  }

  /// The records of ``snapshot()`` whose optional field at `path` equals `field`.
  /// - Throws: as ``snapshot()``, and ``StoreError/Code/invalidValue``.
  /// - Complexity: as for a field that is not optional.
  public func records<Field: Hashable & Sendable>(
    where path: KeyPath<Value, Field?> & Sendable, equals field: Field?
  ) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: path, equals: field)
  }

  /// The records of ``snapshot()`` whose field at `path` is in `range`.
  /// - Throws: as ``snapshot()`` and `TableSnapshot.records(where:in:)`.
  /// - Complexity: as both.
  public func records<Field: Comparable & Hashable & Sendable>(
    where path: KeyPath<Value, Field> & Sendable, in range: some RangeExpression<Field>
  ) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: path, in: range)
  }

  /// The records of ``snapshot()`` whose optional field at `path` is in `range`. A record with `nil` is in no range.
  /// - Throws: as ``snapshot()``, and ``StoreError/Code/invalidValue``.
  /// - Complexity: as for a field that is not optional.
  public func records<Field: Comparable & Hashable & Sendable>(
    where path: KeyPath<Value, Field?> & Sendable, in range: some RangeExpression<Field>
  ) throws -> [StoredRecord<Value>] {
    try snapshot().records(where: path, in: range)
  }
}

extension TableSnapshot {
  /// The records whose field at `path` equals `field`, in order.
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if a record of the table does not fit the type.
  /// - Complexity: O(*n*) without a lookup (`RecordTable.withLookup(by:)`). With one, it finds each result by its id,
  ///   and decodes each record that has changed since the last query.
  public func records<Field: Hashable & Sendable>(
    where path: KeyPath<Value, Field> & Sendable, equals field: Field
  ) throws -> [StoredRecord<Value>] {
    try records(where: ValueProperty(path), equals: field)
  }

  /// The records whose field at `path` equals `field`, in order. For `nil`, those without the field.
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if a record of the table does not fit the type.
  /// - Complexity: as for a field that is not optional.
  public func records<Field: Hashable & Sendable>(
    where path: KeyPath<Value, Field?> & Sendable, equals field: Field?
  ) throws -> [StoredRecord<Value>] {
    try records(where: ValueProperty(path), equals: field)
  }

  /// The records whose field at `path` is in `range`, in order.
  ///
  ///     let light = try foods.snapshot().records(where: \.kcal, in: ..<100)
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if a record of the table does not fit the type.
  /// - Complexity: as for ``records(where:equals:)-(_,Field)``. With a lookup, a value that is new in the field since
  ///   the last query also moves all greater values in an array.
  public func records<Field: Comparable & Hashable & Sendable>(
    where path: KeyPath<Value, Field> & Sendable, in range: some RangeExpression<Field>
  ) throws -> [StoredRecord<Value>] {
    try records(where: ValueProperty(path), in: range)
  }

  /// The records whose field at `path` is in `range`, in order. A record with `nil` is in no range.
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if a record of the table does not fit the type.
  /// - Complexity: as for a field that is not optional.
  public func records<Field: Comparable & Hashable & Sendable>(
    where path: KeyPath<Value, Field?> & Sendable, in range: some RangeExpression<Field>
  ) throws -> [StoredRecord<Value>] {
    try records(where: ValueProperty(path), in: range)
  }

  private func records<Field: Hashable & Sendable>(
    where property: ValueProperty<Value, Field>, equals field: Field?
  ) throws -> [StoredRecord<Value>] {
    let field = field.map(asStored)
    guard let lookup = source.lookups.lookup(by: property, of: TableKey(table)) else {
      return try property.filter(self) { $0 == field }
    }
    return try records(with: lookup.ids(whereFieldIs: field, in: self))
  }

  private func records<Field: Comparable & Hashable & Sendable>(
    where property: ValueProperty<Value, Field>, in range: some RangeExpression<Field>
  ) throws -> [StoredRecord<Value>] {
    guard let bounds = ValueRange(range) else {
      return try records.filter { value in property.field(value).map(range.contains) ?? false }
    }
    guard let lookup = source.lookups.lookup(by: property, of: TableKey(table)) else {
      return try property.filter(self) { $0.map(bounds.contains) ?? false }
    }
    return try records(with: lookup.ids(whereFieldIsIn: bounds, in: self))
  }

  /// The records with these ids, in the table's order.
  private func records(with ids: [AnyRecordID]) -> [StoredRecord<Value>] {
    ids.compactMap(state.records.index(of:)).sorted().map { self[$0] }
  }
}

extension TableSource {
  fileprivate var lookups: FieldLookups { store.extensions.value(FieldLookups.self) { FieldLookups() } }
}

/// A value as it comes back from a record. A `Date` comes back without its fraction, so a query with a `Date` would not
/// find what was stored with it.
func asStored<Field>(_ value: Field) -> Field {
  (value as? Date).flatMap { PlistDate.wholeSecond($0) as? Field } ?? value
}
