import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Records whose fields you can add up, compare and group: those of a table (``TableSnapshot``), those that match a
/// predicate (``RecordMatches``), or those of a group (``RecordGroup``).
///
///     let foods = try store.table(.foods).snapshot()
///     let kcal = try foods.average(of: \.kcal)
///     let light = try foods.matches(where: predicate).maximum(of: \.kcal)
///     for group in try foods.grouped(by: \.group) { print(group.key, try group.sum(of: \.kcal)) }
///
/// FileDB reads only the named field of each record, and remembers its values for the next query (<doc:Queries>).
public protocol AggregatedRecords<Value>: Sendable {
  /// The type of the records' values.
  associatedtype Value: Codable & Sendable

  /// These records as one group.
  var asGroup: RecordGroup<Value, Void> { get }
}

extension AggregatedRecords {
  /// The sum of the field at `path`; 0 if there are no records. Fields that are `nil` do not count.
  ///
  /// The sum is exact: integers never wrap around, and the sum of reals is rounded once, so it does not depend on their
  /// order.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type;
  ///   ``StoreError/Code/unrepresentableValue`` if the sum of integers is too large for its type.
  /// - Complexity: O(*n*). If FileDB cannot find out the field's name from `path`, it decodes the records; see
  ///   ``SortKey/init(_:_:text:)``.
  public func sum<Number: FieldNumber>(of path: KeyPath<Value, Number>) throws -> Number.Sum {
    let total = try summary(of: path).sum()
    guard let sum = Number._sum(total) else {
      throw StoreError(
        .unrepresentableValue, "the sum \(total) is too large for \(Number.Sum.self)",
        table: asGroup.all.snapshot.table)
    }
    return sum
  }

  /// The average of the field at `path`; `nil` if no record has a number there. Fields that are `nil` do not count. The
  /// sum of integers cannot overflow.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: as `sum(of:)`.
  public func average<Number: FieldNumber>(of path: KeyPath<Value, Number>) throws -> Double? {
    try summary(of: path).average
  }

  /// The least value of the field at `path`, by its type's `<`; `nil` if there is no value. `nan` does not count.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: as `sum(of:)` for numbers and dates; for other types, each record's field is decoded.
  public func minimum<Field: Comparable & Decodable>(
    of path: KeyPath<Value, Field>
  ) throws -> Field? {
    try best(of: path, \.minimum, { $0 }, isBetter: <)
  }

  /// The least value of the field at `path`, by its type's `<`; `nil` if there is no value. `nil` and `nan` do not
  /// count.
  /// - Throws: as for a field that is not optional.
  /// - Complexity: as for a field that is not optional.
  public func minimum<Field: Comparable & Decodable>(
    of path: KeyPath<Value, Field?>
  ) throws -> Field? {
    try best(of: path, \.minimum, { $0 }, isBetter: <)
  }

  /// The greatest value of the field at `path`, by its type's `<`; `nil` if there is no value. `nan` does not count.
  /// - Throws: as ``minimum(of:)-(KeyPath<Self.Value,Field>)``.
  /// - Complexity: as ``minimum(of:)-(KeyPath<Self.Value,Field>)``.
  public func maximum<Field: Comparable & Decodable>(
    of path: KeyPath<Value, Field>
  ) throws -> Field? {
    try best(of: path, \.maximum, { $0 }, isBetter: >)
  }

  /// The greatest value of the field at `path`, by its type's `<`; `nil` if there is no value. `nil` and `nan` do not
  /// count.
  /// - Throws: as for a field that is not optional.
  /// - Complexity: as for a field that is not optional.
  public func maximum<Field: Comparable & Decodable>(
    of path: KeyPath<Value, Field?>
  ) throws -> Field? {
    try best(of: path, \.maximum, { $0 }, isBetter: >)
  }

  /// Summarizes the values of the field with this name, of any type. For a type with defaults and migrations, these are
  /// the values that the type reads.
  /// - Throws: for a ``VersionedValue``, ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  /// - Complexity: O(*n*). Only this field is read.
  public func summary(of field: String) throws -> FieldSummary {
    try summary(of: FieldReference(field: field))
  }

  package func summary(of reference: FieldReference) throws(StoreError) -> FieldSummary {
    let own = asGroup
    return try own.all.summaries(of: reference)[own.number]
  }
}

extension AggregatedRecords {
  /// The summary of the property's values.
  private func summary<Number: FieldNumber>(
    of path: KeyPath<Value, Number>
  ) throws -> FieldSummary {
    if let summary = try knownSummary(of: path) { return summary }
    var summary = FieldSummary()
    for field in try properties(at: path) { summary.add(field._fieldValue) }
    return summary
  }

  /// The summary of the field, if it has a value of the property's type in each record, so that nothing need be decoded.
  private func knownSummary<Field>(of path: KeyPath<Value, Field>) throws(StoreError) -> FieldSummary? {
    let own = asGroup
    guard let type = Field.self as? any ColumnType.Type,
      let field = PropertyField(path, in: own.all.snapshot.state.records)
    else { return nil }
    let summary = try own.summary(of: field.reference)
    let isComplete = summary.count == own.count || field.property(of: nil) != nil
    return isComplete && type.fits(summary, count: own.count) ? summary : nil
  }

  /// The best value of the property that is neither `nil` nor `nan`.
  /// - Parameter known: the best of the stored values, for types whose order is that of property list values.
  private func best<Stored: Decodable & Equatable, Field: Comparable & Decodable>(
    of path: KeyPath<Value, Stored>, _ known: KeyPath<FieldSummary, PlistValue?>,
    _ field: (Stored) -> Field?, isBetter: (Field, Field) -> Bool
  ) throws -> Field? {
    if let summary = try knownSummary(of: path) {
      return try summary[keyPath: known].map {
        try ElementDecoder($0).decode(Field.self)
      }
    }
    var best: Field?
    for stored in try properties(at: path) {
      guard let field = field(stored), field == field else { continue }
      if best.map({ isBetter(field, $0) }) ?? true { best = field }
    }
    return best
  }

  /// The property of each of these records.
  /// - Throws: ``StoreError/Code/invalidValue`` for the first record whose property is not known.
  func properties<Field>(at path: KeyPath<Value, Field>) throws -> [Field] {
    let own = asGroup
    let snapshot = own.all.snapshot
    let fields = try snapshot.properties(at: path)
    return try own.all.indices(of: own.number).map { try fields[$0] ?? snapshot[$0].value[keyPath: path] }
  }
}
