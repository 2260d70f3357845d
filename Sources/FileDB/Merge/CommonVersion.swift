import FileDBPlist
import FileDBTables

extension RecordsMerge {
  /// Merges a copy of a table that a sync service kept. The other keys in the root of the file stay as ours has them.
  /// - Parameter base: the version that both began with. If it is `nil`, what the two have in common stands in for it,
  ///   so nothing counts as deleted: a record that only one of them has is in the merged table.
  package init(base: TableState?, ours: TableState, copy: TableState) throws(StoreError) {
    let base = base.map { base in
      TableState(counter: base.counter, records: Array(base.records), foreignKeys: copy.foreignKeys)
    }
    try self.init(base: base ?? .common(to: ours, and: copy), ours: ours, theirs: copy)
  }
}

extension TableState {
  /// The records that two versions of a table have in common, each with the fields that are equal in both. Wherever the
  /// two differ, this differs from both, so that it is a conflict.
  fileprivate static func common(to ours: TableState, and theirs: TableState) -> TableState {
    let pairs = ours.shared(with: theirs)
    let edited = EditedRecords(pairs, in: ours, and: theirs)
    var root = theirs.foreignKeys
    root[ConflictPlaceholder.orderKey] = true
    return TableState(counter: 0, records: pairs.compactMap(edited.common), foreignKeys: root)
  }
}

/// Tells whether two records with the same id are one record that somebody has edited. Two machines may also have given
/// the id to different records. If in doubt, they count as different: it is better to have a record twice than not at
/// all.
private struct EditedRecords {
  /// Ids up to this one were given before the two versions parted.
  private let lastCommon: AnyRecordID?
  /// The values that no other record of the table has in that field, as dictionaries of one field.
  private let onlyInOurs: Set<PlistDictionary>
  private let onlyInTheirs: Set<PlistDictionary>

  init(_ pairs: [(EncodedRecord, EncodedRecord)], in ours: TableState, and theirs: TableState) {
    lastCommon = pairs.lazy.filter { $0.hasSameBytes(as: $1) }.map(\.0.id).max()
    let different = pairs.filter { !$0.hasSameBytes(as: $1) }
    onlyInOurs = Self.distinctive(different.map(\.0), in: ours)
    onlyInTheirs = Self.distinctive(different.map(\.1), in: theirs)
  }

  /// The values of these records that no other record has.
  private static func distinctive(_ records: [EncodedRecord], in table: TableState) -> Set<PlistDictionary> {
    // A yes or no is no evidence.
    let fields = records.lazy.flatMap(\.fields.dictionary).filter { $0.value.bool == nil }
    let values = Set(fields.map(PlistDictionary.init(single:)))
    if values.isEmpty { return [] }
    var (once, again): (Set<PlistDictionary>, Set<PlistDictionary>) = ([], [])
    for record in table.records {
      for field in record.fields.dictionary {
        let value = PlistDictionary(single: field)
        if values.contains(value), !once.insert(value).inserted { again.insert(value) }
      }
    }
    return once.subtracting(again)
  }

  /// The fields that are equal in both; `nil` for different records.
  func common(_ record: EncodedRecord, _ other: EncodedRecord) -> EncodedRecord? {
    if record.hasSameBytes(as: other) { return record }
    guard OverlayMetadata(of: record).isEmpty, OverlayMetadata(of: other).isEmpty else { return nil }
    let (fields, others) = (record.fields.dictionary, other.fields.dictionary)
    guard isOne(record.id, fields, others) else { return nil }
    return EncodedRecord(id: record.id, fields: Fields(fields.common(with: others)))
  }

  private func isOne(_ id: AnyRecordID, _ fields: PlistDictionary, _ others: PlistDictionary) -> Bool {
    var (equal, different) = (0, 0)
    for field in fields where onlyInOurs.contains(PlistDictionary(single: field)) {
      guard let other = others[field.key] else { continue }
      let isDistinctive = onlyInTheirs.contains(PlistDictionary(single: .init(key: field.key, value: other)))
      if isDistinctive { if other == field.value { equal += 1 } else { different += 1 } }
    }
    if equal > 0, let lastCommon, id <= lastCommon { return true }
    let sameCount = fields.count { others[$0.key] == $0.value }
    return equal > different && sameCount * 2 >= max(fields.count, others.count)
  }
}
