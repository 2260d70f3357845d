import FileDBEssentials
import FileDBPlist

/// A field to sort records by.
///
///     try notes.sort(by: [SortKey(\Note.isDone), SortKey(\Note.title, text: .localized)])
///     try food.sort(by: [.ascending("group"), .descending("kcal")])  // by the fields' names
///
/// Values of different types are ordered by type:
///
/// 1. bools, `false` first
/// 2. numbers: integers and reals by their value, `nan` last
/// 3. dates
/// 4. strings
/// 5. data, byte by byte; data that is the beginning of other data comes before it
/// 6. arrays and dictionaries, which are all equal
///
/// A record without the field comes last, in descending order too. Records that are equal in every key keep their
/// order.
public struct SortKey: Hashable, Sendable {
  /// The field; empty for a property, whose field is found when records are sorted.
  package let reference: FieldReference
  private var property: SortProperty?
  /// Whether the smallest value comes first or last.
  public let order: SortOrder
  /// How strings are compared.
  public let text: TextOrder

  package init(_ reference: FieldReference, order: SortOrder, text: TextOrder) {
    (self.reference, self.order, self.text) = (reference, order, text)
  }

  /// A key for a property, in the order of its type: a `Decimal` by its value, strings as `text` says, and any other
  /// `Comparable` type by its `<`. A type without an order, such as an enum with raw values, has the order of what it
  /// stores. A record that lacks the property, or does not fit the type, comes last.
  ///
  /// If the field that stores the property is known, sorting reads only this field. FileDB finds its name: it lets
  /// `Value` decode made-up fields, or those of some records, and watches which encoded field changes with the
  /// property. Otherwise, as for a computed property, it decodes the records.
  ///
  /// Sorting throws ``StoreError/Code/invalidValue`` if the property is an array or a dictionary without an order.
  /// - Complexity: at the first use, O(*f*²) in the number of fields of `Value`.
  public init<Value: Codable & Sendable, Field: Codable & Equatable>(
    _ path: KeyPath<Value, Field>, _ order: SortOrder = .forward, text: TextOrder = .bytes
  ) {
    self.init(.path([]), order: order, text: text)
    property = SortProperty(path)
  }

  /// A key for the field with this name, smallest value first.
  public static func ascending(_ field: String, text: TextOrder = .bytes) -> SortKey {
    SortKey(FieldReference(field: field), order: .forward, text: text)
  }

  /// A key for the field with this name, largest value first.
  public static func descending(_ field: String, text: TextOrder = .bytes) -> SortKey {
    SortKey(FieldReference(field: field), order: .reverse, text: text)
  }
}

extension SortKey {
  /// What to sort records by.
  enum Source {
    case field(FieldReference)
    /// A value for each record.
    case values([PlistValue?])
  }

  /// - Throws: ``StoreError/Code/invalidValue`` if the property has no order.
  func source(of table: TableSource, _ state: TableState) throws(StoreError) -> Source {
    guard let property else { return .field(reference) }
    return try property.source(table, state)
  }

  func with(_ reference: FieldReference) -> SortKey { SortKey(reference, order: order, text: text) }

  /// -1, 0 or 1: the order of two records with these values in the field.
  package func compare(_ left: PlistValue?, _ right: PlistValue?) -> Int {
    switch (left, right) {
    case (nil, nil): return 0
    case (nil, _): return 1
    case (_, nil): return -1
    case (let left?, let right?):
      let result = ValueOrder.compare(left, right, text: text)
      return order == .forward ? result : -result
    }
  }
}

extension TableSnapshot {
  /// The records in the order of `keys`. The table itself does not change. If a record cannot be brought to the newest
  /// version of its type, its stored fields are used.
  /// - Throws: ``StoreError/Code/invalidValue`` if a property has no order; see ``SortKey/init(_:_:text:)``.
  /// - Complexity: O(*n* log *n*).
  public func sorted(by keys: [SortKey]) throws(StoreError) -> [StoredRecord<Value>] {
    records(at: try sortedIndices(by: keys))
  }

  /// The records in the order of a field. The table itself does not change. A record whose field is `nil` or `nan`
  /// comes last, in reverse order too. Strings have the order of their UTF-8 bytes, as for a ``SortKey``.
  ///
  ///     for record in try notes.snapshot().sorted(by: \.title) { print(try record.value.title) }
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: O(*n* log *n*); each record is decoded once.
  public func sorted<Field: Comparable>(
    by field: (Value) -> Field?, order: SortOrder = .forward
  ) throws -> [StoredRecord<Value>] {
    records(at: try sortedIndices(by: field, order: order))
  }

  /// The records in another order.
  private func records(at indices: [Int]) -> [StoredRecord<Value>] {
    // An array finds each record immediately.
    let records = Array(state.records)
    var ordered: [StoredRecord<Value>] = []
    ordered.reserveCapacity(indices.count)
    for index in indices { ordered.append(StoredRecord(encoded: records[index], source: source)) }
    return ordered
  }

  func sortedIndices(by keys: [SortKey]) throws(StoreError) -> [Int] {
    var columns: [SortColumn?] = []
    var fields: [SortKey] = []
    do throws(StoreError) {
      for key in keys {
        switch try key.source(of: source, state) {
        case .values(let values): columns.append(SortColumn(key, values))
        case .field(let reference):
          columns.append(nil)
          fields.append(key.with(reference))
        }
      }
    } catch {
      throw error.adding(table: table)
    }
    let parts = try ofChunks(reading: fields.map(\.reference), newest: { $0.newestOrStored }) {
      [fields] _, records, values in
      zip(fields, values).map { SortColumn($0, records, $1) }
    }
    var rest = fields.indices.map { field in SortColumn(fields[field], joining: parts.map { $0[field] }) }
      .makeIterator()
    return columns.compactMap { $0 ?? rest.next() }.sortedIndices(count: count)
  }

  func sortedIndices<Field: Comparable>(by field: (Value) -> Field?, order: SortOrder) throws -> [Int] {
    var reader = ValueReader<Value>()
    let fields = try state.records.map { record in
      field(try StoreError.naming(record, of: source) { try reader.value(of: record) })
    }
    let key = SortKey(.path([]), order: order, text: .bytes)
    let values = (fields as? [String?])?.map { $0.map(PlistValue.string) } ?? ranks(of: fields)
    return [SortColumn(key, values)].sortedIndices(count: count)
  }
}

extension RecordTable {
  /// Sorts the table's records by `keys`, once. The new order is stored. Records that you add later go where you put
  /// them. Does nothing if there is no table.
  /// - Throws: as ``TableSnapshot/sorted(by:)`` and `RecordStore.write(_:)`.
  /// - Complexity: O(*n* log *n*).
  public func sort(by keys: [SortKey]) throws {
    try reorder { try $0.sortedIndices(by: keys) }
  }

  /// Sorts the table's records by a field, once. The new order is stored; see ``TableSnapshot/sorted(by:order:)``.
  /// - Throws: as `sort(by:)`, and what ``StoredRecord/value`` throws.
  /// - Complexity: O(*n* log *n*).
  public func sort<Field: Comparable>(
    by field: (Value) -> Field?, order: SortOrder = .forward
  ) throws {
    try reorder { try $0.sortedIndices(by: field, order: order) }
  }

  /// Sorts the table's records by `keys`; see the synchronous `sort`.
  public func sort(by keys: [SortKey]) async throws { try await writing { try $0.sort(by: keys) } }

  /// Sorts the table's records by a field; see the synchronous `sort`.
  public func sort<Field: Comparable & Sendable>(
    by field: @escaping @Sendable (Value) -> Field?, order: SortOrder = .forward
  ) async throws {
    try await writing { try $0.sort(by: field, order: order) }
  }

  /// - Parameter indices: the present indices of the records, in their new order.
  private func reorder(into indices: (TableSnapshot<Value>) throws -> [Int]) throws {
    try writing { transaction in
      let snapshot = try snapshot()
      let indices = try indices(snapshot)
      if indices.elementsEqual(snapshot.indices) { return }
      let ids = snapshot.state.records.ids
      try transaction.apply(.reorder(indices.map { ids[$0] }), to: name.text)
    }
  }
}

/// How strings are compared.
public enum TextOrder: Hashable, Sendable {
  /// By their UTF-8 bytes: capitals before small letters, `item 10` before `item 2`. This order is the same in every
  /// locale.
  case bytes
  /// As a person in the current locale expects, and as the Finder sorts: `item 2` before `item 10`. Case matters only
  /// if nothing else differs.
  case localized
}

extension ValueOrder {
  static func compare(_ left: PlistValue, _ right: PlistValue, text: TextOrder) -> Int {
    if text == .localized, case (.string(let left), .string(let right)) = (left, right) {
      // The code that sorts has already required the rules.
      return Language.rules?.compare(left, right) ?? compareUTF8(left, right).signum()
    }
    return compare(left, right)
  }
}
