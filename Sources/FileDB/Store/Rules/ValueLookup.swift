import FileDBEssentials
import FileDBPlist
import FileDBTables
import Synchronization

/// The lookups that the rules of a store's tables need. They are kept in memory as long as the store exists.
final class ValueLookups: Sendable {
  private struct Name: Hashable {
    let table: TableKey
    let fields: [FieldName]
  }

  private let lookups = Mutex<[Name: ValueLookup]>([:])

  func lookup(by names: [String], of table: TableKey) -> ValueLookup {
    let name = Name(table: table, fields: names.map(FieldName.init))
    return lookups.withLock { lookups in
      if let lookup = lookups[name] { return lookup }
      let lookup = ValueLookup(by: names)
      lookups[name] = lookup
      return lookup
    }
  }
}

/// Finds the ids of a table's records by the values of some fields. It holds one version of the table, and is brought
/// to another by the differences between the two. Records that lack one of the fields are left out.
final class ValueLookup: Sendable {
  private struct State {
    var records = OrderedRecords()
    /// Each list is in ascending order.
    var ids: [[PlistValue]: [AnyRecordID]] = [:]
    /// The records that stay in their file and are found there. They are not in ``ids``.
    var unread: (any UnreadRecords)?
    /// The records of the file that are gone, or are now in ``ids``.
    var formerIDs: Set<AnyRecordID> = []
  }

  private let names: [String]
  private let state = Mutex(State())

  init(by names: [String]) { self.names = names }

  /// - Parameter limit: how many ids are enough.
  /// - Complexity: O(*m*) in the records that differ from those of the last call; O(*n*) the first time. For records
  ///   that are read in pieces, if a lookup is kept beside the file, also the first time O(*m*) in the records that
  ///   differ from the file.
  func ids(
    where values: [PlistValue], in records: OrderedRecords, atMost limit: Int
  ) -> [AnyRecordID] {
    state.withLock { state in
      if let unread = records.unread, unread !== state.unread {
        state = State(records: OrderedRecords(unread, shape: records.shape), unread: unread)
      }
      if !state.records.isIdentical(to: records) { follow(records, &state) }
      let ids = state.ids[values] ?? []
      guard let unread = state.unread else { return ids }
      // Some of the ids from the file may be outdated.
      let (most, isAll) = limit.addingReportingOverflow(state.formerIDs.count)
      let others = unread.ids(where: names, are: values, atMost: isAll ? .max : most)
        .filter { !state.formerIDs.contains($0) }
      return (others + ids).sorted()
    }
  }

  private func follow(_ records: OrderedRecords, _ state: inout State) {
    let difference = RecordsDifference(from: state.records, to: records)
    for removal in difference.removed { remove(removal.record, &state) }
    for update in difference.updated {
      remove(update.old, &state)
      add(update.new, &state)
    }
    for insertion in difference.inserted { add(insertion.record, &state) }
    state.records = records
  }

  private func values(of record: EncodedRecord) -> [PlistValue]? {
    let fields = record.fields(names)
    guard fields.count == names.count else { return nil }
    return names.compactMap { fields[$0] }
  }

  private func add(_ record: EncodedRecord, _ state: inout State) {
    guard let values = values(of: record) else { return }
    var ids = state.ids.removeValue(forKey: values) ?? []
    ids.insert(record.id, at: ids.partitioningIndex { $0 >= record.id })
    state.ids[values] = ids
  }

  private func remove(_ record: EncodedRecord, _ state: inout State) {
    guard let values = values(of: record) else { return }
    var ids = state.ids.removeValue(forKey: values) ?? []
    let place = ids.partitioningIndex { $0 >= record.id }
    if place < ids.count, ids[place] == record.id {
      ids.remove(at: place)
    } else if state.unread != nil {
      state.formerIDs.insert(record.id)
    }
    if !ids.isEmpty { state.ids[values] = ids }
  }
}
