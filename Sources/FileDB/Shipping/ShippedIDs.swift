/// The ids that shipped records have in the user's table, as far as they are other ones: the user's own records may
/// have had them first. Kept with the installed version, so that its records are known again however the user edits
/// them.
struct ShippedIDs {
  private(set) var ids: [AnyRecordID: AnyRecordID]

  init(ids: [AnyRecordID: AnyRecordID] = [:]) { self.ids = ids }

  /// A shipped table with the user's ids.
  func applied(to table: TableState) -> TableState {
    guard !ids.isEmpty, table.exists else { return table }
    return TableState(
      counter: table.counter, records: table.records.map { $0.renumbered(ids[$0.id] ?? $0.id) },
      foreignKeys: table.foreignKeys)
  }

  /// Finds ids for the new records of a shipped table whose own are taken, or were once.
  /// - Parameters:
  ///   - base: the version before, with the user's ids.
  ///   - lastShipped: the highest id that version gave itself; what is above, the user's table gave.
  /// - Returns: those that were found now.
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
      // Of a record that the user deleted, perhaps, and an id is never given twice.
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

  /// Takes over the ids that a merge gave to shipped records.
  mutating func note(_ renumbered: [MergeRenumbering]) {
    let shipped = Dictionary(ids.map { ($1, $0) }) { first, _ in first }
    for renumbering in renumbered where renumbering.side == .theirs {
      ids[shipped[renumbering.oldID] ?? renumbering.oldID] = renumbering.newID
    }
  }
}
