/// The ids that shipped records have in the user's table, if they differ: a record of the user's own may have had an id
/// first. They are kept with the installed version. So shipped records are recognized however the user edits them.
struct ShippedIDs {
  private(set) var ids: [AnyRecordID: AnyRecordID] = [:]

  /// A shipped table with the user's ids.
  func applied(to table: TableState) -> TableState {
    guard !ids.isEmpty, table.exists else { return table }
    return TableState(
      counter: table.counter, records: table.records.map { $0.renumbered(ids[$0.id] ?? $0.id) },
      foreignKeys: table.foreignKeys)
  }

  /// Chooses ids for the new records of a shipped table whose ids are in use or were once used.
  /// - Parameters:
  ///   - base: the previous version, with the user's ids.
  ///   - lastShipped: the highest id that the previous version gave. The user's table gave those above it.
  /// - Returns: the ids that were chosen now.
  /// - Throws: ``StoreError/Code/counterExhausted``.
  mutating func admit(
    _ theirs: TableState, base: TableState, lastShipped: Int64, ours: TableState
  ) throws(StoreError) -> [MergeRenumbering] {
    ids = ids.filter { theirs.records.contains($0.key) }
    let taken = Set(ids.values)
    let colliding = theirs.records.filter { record in
      if ids[record.id] != nil { return false }
      if taken.contains(record.id) { return true }
      guard !base.records.contains(record.id) else { return false }
      if let index = ours.records.index(of: record.id) {
        return !ours.records[index].hasSameFields(as: record)
      }
      // The user may have deleted the record with this id. No id is given twice.
      return base.exists && record.id.rawValue > lastShipped && record.id.rawValue <= ours.counter
    }
    var last = max(base.counter, ours.counter, theirs.counter, taken.map(\.rawValue).max() ?? 0)
    return try colliding.map { record throws(StoreError) in
      guard last < .max else { throw StoreError(.counterExhausted, "there are no more ids") }
      last += 1
      ids[record.id] = AnyRecordID(counted: last)
      return MergeRenumbering(side: .theirs, oldID: record.id, newID: AnyRecordID(counted: last))
    }
  }

  /// Takes over the new ids that a merge gave to shipped records.
  mutating func add(_ renumbered: [MergeRenumbering]) {
    let shipped = Dictionary(ids.map { ($1, $0) }) { first, _ in first }
    for renumbering in renumbered where renumbering.side == .theirs {
      ids[shipped[renumbering.oldID] ?? renumbering.oldID] = renumbering.newID
    }
  }
}
