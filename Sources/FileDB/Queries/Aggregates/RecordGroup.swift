import FileDBPlist
import FileDBTables

/// Records that have the same values in some fields.
///
///     for group in try foods.snapshot().grouped(by: \.group) {
///       print(group.key, group.count, try group.average(of: \.kcal) ?? 0)
///     }
public struct RecordGroup<Value: Codable & Sendable, Key: Sendable>: Sendable {
  /// The values that these records have in the fields, in the order in which you named the fields.
  public let key: Key
  let all: GroupedRecords<Value>
  /// Its number among all groups.
  let number: Int

  /// The number of records.
  /// - Complexity: O(1).
  public var count: Int { all.counts[number] }

  /// The records, in the order of the table.
  /// - Complexity: O(*m*) in the number of these records. The first group that you ask also costs O(*n*) in the number
  ///   of the table's records.
  public var records: [StoredRecord<Value>] { all.indices(of: number).map { all.snapshot[$0] } }
}

extension RecordGroup: AggregatedRecords {
  public var asGroup: RecordGroup<Value, Void> { RecordGroup<Value, Void>(key: (), all: all, number: number) }
}

extension TableSnapshot: AggregatedRecords {
  public var asGroup: RecordGroup<Value, Void> {
    RecordGroup(key: (), all: GroupedRecords(self), number: 0)
  }
}

extension RecordMatches: AggregatedRecords {
  /// - Complexity: O(*n*) in the number of records of the table.
  public var asGroup: RecordGroup<Value, Void> {
    RecordGroup(key: (), all: GroupedRecords(snapshot, matches: parts.joined()), number: 0)
  }
}

extension AggregatedRecords {
  /// Groups the records by the values of some fields. The groups come in the order of their first records. In each
  /// group, the records keep their order.
  ///
  ///     let byGroup = try foods.snapshot().grouped(by: \.group)
  ///     let byYear = try media.snapshot().grouped(by: \.kind, \.year)   // key: (Kind, Int?)
  ///
  /// Two records are in the same group if their fields are equal by the `==` of the fields' types. The groups share
  /// what FileDB has read, so the sums of all groups together cost one pass over the records.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: O(*n*). Only these fields are read, and each combination of values is decoded once. If FileDB cannot
  ///   find out a field's name, it decodes all records; see ``SortKey/init(_:_:text:)``.
  public func grouped<each Key: Decodable & Hashable & Sendable>(
    by path: repeat KeyPath<Value, each Key>
  ) throws -> [RecordGroup<Value, (repeat each Key)>] {
    let own = asGroup
    let fields = (repeat PropertyField(each path, in: own.all.snapshot.state.records))
    var references: [FieldReference?] = []
    for field in repeat each fields { references.append(field?.reference) }
    return try own.numbered(by: references) { numbered in
      try numbered.groups { group in (repeat try numbered.property(each fields, at: each path, of: group)) }
    }
  }

  /// Groups the records by the values of some fields, given by name. If a record lacks a field, its key has `nil`
  /// there. The groups come in the order of their first records. In each group, the records keep their order.
  ///
  /// Numbers of equal value are in one group, even if one is an integer and the other a real; the key has the value of
  /// the group's first record. Strings are compared by their UTF-8 bytes.
  /// - Throws: for a ``VersionedValue``, ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  /// - Complexity: O(*n*). Only these fields are read.
  public func grouped(by fields: [String]) throws -> [RecordGroup<Value, [PlistValue?]>] {
    try grouped(by: fields.map(FieldReference.init(field:)))
  }

  package func grouped(
    by references: [FieldReference]
  ) throws(StoreError) -> [RecordGroup<Value, [PlistValue?]>] {
    let own = asGroup
    let (groups, keys) = try own.all.grouped(own.number, by: references)
    return keys.indices.map { RecordGroup(key: keys[$0], all: groups, number: $0) }
  }
}

/// Groups of records with equal values in some fields, compared in their stored form. Several may be equal in Swift.
struct NumberedGroups<Value: Codable & Sendable> {
  let groups: GroupedRecords<Value>
  /// The fields by which they are grouped; `nil` if each record is a group of its own.
  fileprivate let references: [FieldReference]?
  /// The values of these fields for each group.
  fileprivate let keys: [[PlistValue?]]
  /// The first record of each group.
  let firsts: [StoredRecord<Value>]

  fileprivate init(_ groups: GroupedRecords<Value>, _ references: [FieldReference]?, _ keys: [[PlistValue?]])
  {
    (self.groups, self.references, self.keys) = (groups, references, keys)
    firsts = groups.firstIndices.map { groups.snapshot[$0] }
  }

  /// The property of all records of a group.
  /// - Throws: ``Undecided`` if the field is not enough.
  func property<Field>(
    _ field: PropertyField<Field>?, at path: KeyPath<Value, Field>, of group: Int
  ) throws -> Field {
    guard let references else { return try firsts[group].value[keyPath: path] }
    guard let field, let place = references.firstIndex(of: field.reference),
      let property = field.property(of: keys[group][place])
    else { throw Undecided() }
    return property
  }

  /// One group for each key.
  /// - Parameter key: the key of a group.
  fileprivate func groups<each Key: Hashable & Sendable>(
    _ key: (Int) throws -> (repeat each Key)
  ) throws -> [RecordGroup<Value, (repeat each Key)>] {
    var keys: [(repeat each Key)] = []
    var numbers: [Int] = []
    var known: [[AnyHashable]: Int] = [:]
    for group in firsts.indices {
      let key = try key(group)
      var parts: [AnyHashable] = []
      for part in repeat each key { parts.append(AnyHashable(part)) }
      let number = known[parts] ?? keys.count
      if number == keys.count {
        known[parts] = number
        keys.append(key)
      }
      numbers.append(number)
    }
    // Two stored forms of a value may be equal in Swift.
    let all = keys.count == numbers.count ? groups : groups.renumbered(numbers, count: keys.count)
    return keys.indices.map { RecordGroup(key: keys[$0], all: all, number: $0) }
  }
}

extension RecordGroup {
  /// Calls `body` with the records grouped by these fields. If a field is not known, or is not enough for `body`, calls
  /// it with each record as a group of its own.
  func numbered<Output>(
    by references: [FieldReference?], _ body: (NumberedGroups<Value>) throws -> Output
  ) throws -> Output {
    let known = references.compactMap(\.self)
    if known.count == references.count {
      let (groups, keys) = try all.grouped(number, by: known)
      do { return try body(NumberedGroups(groups, known, keys)) } catch is Undecided {}
    }
    return try body(NumberedGroups(all.grouped(number, by: [.id]).groups, nil, []))
  }
}
