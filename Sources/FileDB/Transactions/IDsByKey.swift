import FileDBEssentials
import FileDBTables

/// The core of a lookup that is kept in memory: the ids of a table's records by a key that is read from each record. It
/// holds one version of the table, and is brought to another version, older or newer, by the differences between the
/// two. So it works for any snapshot, and is fast for those that are close to each other.
struct IDsByKey<Key: Hashable> {
  /// The records that the ids belong to.
  private(set) var records: OrderedRecords
  /// Each list is in ascending order.
  private var ids: [Key: [AnyRecordID]] = [:]
  /// Those of the first records that are gone, or have had another key since.
  private(set) var formerIDs: Set<AnyRecordID> = []

  /// - Parameter records: records that are found by other means as long as they keep their keys.
  init(beside records: OrderedRecords = OrderedRecords()) { self.records = records }

  subscript(key: Key) -> [AnyRecordID] { ids[key] ?? [] }

  var keys: Dictionary<Key, [AnyRecordID]>.Keys { ids.keys }

  /// - Parameter key: the key of a record; `nil` if nobody asks for such a record.
  /// - Returns: the keys that no record had before.
  @discardableResult
  mutating func follow(_ new: OrderedRecords, key: (EncodedRecord) -> Key?) -> [Key] {
    if records.isIdentical(to: new) { return [] }
    let difference = RecordsDifference(from: records, to: new)
    var newKeys: [Key] = []
    for removal in difference.removed { remove(removal.record.id, key(removal.record)) }
    for update in difference.updated {
      let (oldKey, newKey) = (key(update.old), key(update.new))
      if oldKey == newKey { continue }
      remove(update.old.id, oldKey)
      add(update.new.id, newKey, &newKeys)
    }
    for insertion in difference.inserted { add(insertion.record.id, key(insertion.record), &newKeys) }
    records = new
    return newKeys
  }

  private mutating func add(_ id: AnyRecordID, _ key: Key?, _ newKeys: inout [Key]) {
    guard let key else { return }
    if ids[key] == nil { newKeys.append(key) }
    ids[key, default: []].insertAscending(id)
  }

  private mutating func remove(_ id: AnyRecordID, _ key: Key?) {
    guard let key else { return }
    if ids[key]?.removeAscending(id) != true { formerIDs.insert(id) }
    if ids[key]?.isEmpty == true { ids[key] = nil }
  }
}

extension [AnyRecordID] {
  fileprivate mutating func insertAscending(_ id: AnyRecordID) {
    guard let last, id < last else { return append(id) }
    insert(id, at: partitioningIndex { $0 >= id })
  }

  /// - Returns: whether it was there.
  fileprivate mutating func removeAscending(_ id: AnyRecordID) -> Bool {
    let place = partitioningIndex { $0 >= id }
    guard place < count, self[place] == id else { return false }
    remove(at: place)
    return true
  }
}
