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

/// Finds the ids of a table's records by the values of some fields. Records that lack one of the fields are left out.
final class ValueLookup: Sendable {
  private let names: [String]
  /// The ids of the records in memory. Those that stay in their file are found there.
  private let ids = Mutex(IDsByKey<[PlistValue]>())

  init(by names: [String]) { self.names = names }

  /// - Parameter limit: how many ids are enough.
  /// - Complexity: O(*m*) in the records that differ from those of the last call; O(*n*) the first time. For records
  ///   that are read in pieces, if a lookup is kept beside the file, also the first time O(*m*) in the records that
  ///   differ from the file.
  func ids(
    where values: [PlistValue], in records: OrderedRecords, atMost limit: Int
  ) -> [AnyRecordID] {
    ids.withLock { ids in
      let unread = records.unread
      if unread !== ids.records.unread {
        ids = IDsByKey(beside: unread.map { OrderedRecords($0, shape: records.shape) } ?? OrderedRecords())
      }
      ids.follow(records, key: self.values)
      guard let unread else { return ids[values] }
      // Some of the ids from the file may be outdated.
      let (most, isAll) = limit.addingReportingOverflow(ids.formerIDs.count)
      let others = unread.ids(where: names, are: values, atMost: isAll ? .max : most)
        .filter { !ids.formerIDs.contains($0) }
      return (others + ids[values]).sorted()
    }
  }

  private func values(of record: EncodedRecord) -> [PlistValue]? {
    let fields = record.fields(names)
    guard fields.count == names.count else { return nil }
    return names.compactMap { fields[$0] }
  }
}
