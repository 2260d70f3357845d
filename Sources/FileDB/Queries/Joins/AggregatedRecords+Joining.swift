import FileDBPlist
import FileDBTables

/// Each of these reads every record of both tables once. None searches for pairs.
extension AggregatedRecords {
  /// Pairs these records with those of `others` whose field is equal, by the `==` of the fields' type. `nil` and `nan`
  /// equal nothing.
  ///
  ///     let all = try store.snapshot()  // both tables at the same moment
  ///     for (food, group) in try all[.foods].joined(to: all[.groups], on: \.group, \.code) { … }
  ///
  /// If a field holds the id of the other record, use `joined(to:by:)`.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit its type.
  /// - Complexity: O(*n* + *m*) in the numbers of records, and O(1) for each pair. Only the two fields are read, and
  ///   each of their values is decoded once. If FileDB cannot find out a field's name, it decodes the records; see
  ///   ``SortKey/init(_:_:text:)``.
  public func joined<Other, Key: Decodable & Hashable>(
    to others: some AggregatedRecords<Other>, on path: KeyPath<Value, Key>, _ otherPath: KeyPath<Other, Key>
  ) throws -> JoinedRecords<Value, Other> {
    let own = try keyed(by: path, Optional.some)
    return JoinedRecords(own, try others.keyed(by: otherPath, Optional.some))
  }

  /// Pairs these records with those of `others` whose field is equal, for fields that may be `nil`.
  /// - Throws: as for a field that is not optional.
  /// - Complexity: as for a field that is not optional.
  public func joined<Other, Key: Decodable & Hashable>(
    to others: some AggregatedRecords<Other>, on path: KeyPath<Value, Key?>, _ otherPath: KeyPath<Other, Key>
  ) throws -> JoinedRecords<Value, Other> {
    let own = try keyed(by: path, \.self)
    return JoinedRecords(own, try others.keyed(by: otherPath, Optional.some))
  }

  /// Pairs these records with those of `others` whose field is equal, with the fields given by name. Numbers are
  /// compared by their value, even if one is an integer and the other a real. Strings are compared by their UTF-8
  /// bytes. A field that is missing or `nan` equals nothing.
  /// - Throws: for a ``VersionedValue``, ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  /// - Complexity: O(*n* + *m*), and O(1) for each pair.
  public func joined<Other>(
    to others: some AggregatedRecords<Other>, on field: String, _ otherField: String
  ) throws -> JoinedRecords<Value, Other> {
    JoinedRecords(try keyed(by: field), try others.keyed(by: otherField))
  }

  /// Pairs each of these records with the record of `others` whose id its field holds.
  ///
  ///     for (note, folder) in try all[.notes].joined(to: all[.folders], by: \.folder) { … }
  ///
  /// - Throws: ``StoreError/Code/invalidValue`` if one of these records does not fit its type.
  /// - Complexity: O(*n* + *m*), and O(1) for each pair.
  public func joined<Other>(
    to others: TableSnapshot<Other>, by path: KeyPath<Value, RecordID<Other>>
  ) throws -> JoinedRecords<Value, Other> {
    JoinedRecords(try keyed(by: path, Optional.some), to: others)
  }

  /// Pairs each of these records with the record of `others` whose id its field holds, for a field that may be `nil`.
  /// - Throws: as for a field that is not optional.
  /// - Complexity: as for a field that is not optional.
  public func joined<Other>(
    to others: TableSnapshot<Other>, by path: KeyPath<Value, RecordID<Other>?>
  ) throws -> JoinedRecords<Value, Other> {
    JoinedRecords(try keyed(by: path, \.self), to: others)
  }
}

/// Groups of records, with the key of each group; `nil` for a key that equals nothing. Several groups may have the same
/// key.
private struct KeyedRecords<Value: Codable & Sendable, Key: Hashable> {
  let groups: GroupedRecords<Value>
  let keys: [Key?]
}

extension AggregatedRecords {
  fileprivate func keyed<Field: Decodable & Equatable, Key: Hashable>(
    by path: KeyPath<Value, Field>, _ key: (Field) -> Key?
  ) throws -> KeyedRecords<Value, Key> {
    let own = asGroup
    let field = PropertyField(path, in: own.all.snapshot.state.records)
    return try own.numbered(by: [field?.reference]) { numbered in
      let keys: [Key?] = try numbered.firsts.indices.map { group in
        let property = try numbered.property(field, at: path, of: group)
        return (property as? any OptionalField)?.isNil == true ? nil : key(property)
      }
      return KeyedRecords(groups: numbered.groups, keys: keys)
    }
  }

  fileprivate func keyed(by field: String) throws -> KeyedRecords<Value, PlistValue> {
    let own = asGroup
    let (groups, keys) = try own.all.grouped(own.number, by: [FieldReference(field: field)])
    return KeyedRecords(
      groups: groups,
      keys: keys.map { $0[0].flatMap { $0.real?.isNaN == true ? nil : GroupTree.normalized($0) } })
  }
}

extension JoinedRecords {
  fileprivate init<Key>(_ left: KeyedRecords<Left, Key>, _ right: KeyedRecords<Right, Key>) {
    var indices: [Key: [Int]] = [:]
    for (group, key) in right.keys.enumerated() {
      guard let key else { continue }
      let others = right.groups.indices(of: group)
      // A key that is stored in two forms may be in two groups.
      indices[key] = indices[key].map { ($0 + others).sorted() } ?? others
    }
    self.init(
      left.groups, right.groups.snapshot, partners: left.keys.map { key in key.flatMap { indices[$0] } ?? [] }
    )
  }

  fileprivate init(_ left: KeyedRecords<Left, RecordID<Right>>, to right: TableSnapshot<Right>) {
    self.init(
      left.groups, right,
      partners: left.keys.map { id in id.flatMap(right.index(of:)).map { [$0] } ?? [] })
  }
}
