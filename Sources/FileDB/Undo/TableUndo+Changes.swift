import FileDBPlist

extension TableUndo {
  /// The changes that take the write back in a table as it is now.
  /// - Throws: ``StoreError/undoConflict`` where what the write did was changed since.
  func changes(in table: TableState) throws(StoreError) -> [Change] {
    var undo = Undoing(table: table)
    if existed, !exists, !table.exists { try undo.apply(.create) }
    try undo.remove(added)
    try undo.raiseCounter(to: counter)
    try undo.putBack(entries.filter { $0.place != nil })
    for entry in entries {
      if let before = entry.before, let after = entry.after { try undo.restore(before, over: after) }
    }
    if !existed, exists, undo.table.records.count == 0 { try undo.apply(.drop) }
    return undo.changes
  }

  private var added: [EncodedRecord] { entries.compactMap { $0.before == nil ? $0.after : nil } }
}

/// A table on its way back, and the changes that lead there.
private struct Undoing {
  private var recorded: ChangeRecorder

  init(table: TableState) { recorded = ChangeRecorder(of: table) }

  var table: TableState { recorded.table }
  var changes: [Change] { recorded.changes.map(\.change) }

  mutating func apply(_ change: Change) throws(StoreError) { try recorded.apply(change) }

  private func record(_ id: RecordID) -> EncodedRecord? {
    table.records.index(of: id).map { table.records[$0] }
  }

  /// Removes records that the write added, as far as they are still there.
  mutating func remove(_ added: [EncodedRecord]) throws(StoreError) {
    var present: [RecordID] = []
    for record in added {
      guard let now = self.record(record.id) else { continue }
      guard now.hasSameBytes(as: record) else { throw conflict(record.id, "it was changed since") }
      present.append(record.id)
    }
    if !present.isEmpty { try apply(.remove(present)) }
  }

  /// After a truncate or a drop.
  mutating func raiseCounter(to counter: Int64) throws(StoreError) { try recorded.raiseCounter(to: counter) }

  /// Puts back what the write removed or moved. An order with many changes is given whole.
  mutating func putBack(_ entries: [TableUndo.Entry]) throws(StoreError) {
    let start = recorded
    var missing: [EncodedRecord] = []
    var moveCount = 0
    for entry in entries {
      guard let before = entry.before, let place = entry.place else { continue }
      if entry.after == nil {
        guard try isMissing(before) else { continue }
        try recorded.insert(before, at: index(of: place))
        missing.append(before)
      } else if let index = table.records.index(of: entry.id) {
        try move(entry.id, from: index, to: place)
        moveCount += 1
      }
    }
    guard moveCount > 64, moveCount > table.records.count / 8 else { return }
    let order = table.records.ids
    recorded = start
    if !missing.isEmpty { try apply(.insert(missing, index: table.records.count)) }
    try apply(.reorder(order))
  }

  private func isMissing(_ record: EncodedRecord) throws(StoreError) -> Bool {
    guard let now = self.record(record.id) else { return true }
    guard now.hasSameBytes(as: record) else { throw conflict(record.id, "its id was given anew") }
    return false
  }

  private mutating func move(
    _ id: RecordID, from index: Int, to place: TableUndo.Place
  ) throws(StoreError) {
    let newIndex = self.index(of: place)
    // The records below its own move up as it leaves.
    try apply(.move(id, index: newIndex > index ? newIndex - 1 : newIndex))
  }

  /// The index for what is to go to `place`; the former one where the neighbour is gone.
  private func index(of place: TableUndo.Place) -> Int {
    guard let predecessor = place.predecessor else { return 0 }
    return table.records.index(of: predecessor).map { $0 + 1 } ?? min(place.index, table.records.count)
  }

  /// Gives the fields that the write changed their former values, and leaves the others alone.
  mutating func restore(_ before: EncodedRecord, over after: EncodedRecord) throws(StoreError) {
    if before.hasSameBytes(as: after) { return }
    guard let now = record(before.id) else { throw conflict(before.id, "it was deleted since") }
    if now.hasSameBytes(as: before) { return }
    if now.hasSameBytes(as: after) { return try apply(.replace(before)) }
    let (old, new, present) = (before.fields.dictionary, after.fields.dictionary, now.fields.dictionary)
    for field in old.map(\.key) + new.map(\.key) where old[field] != new[field] {
      guard present[field] == new[field] else {
        throw conflict(before.id, "its field '\(field)' was changed since")
      }
    }
    let fields = present.patched(from: new, to: old)
    try apply(.replace(EncodedRecord(id: before.id, fields: Fields(fields))))
  }

  private func conflict(_ id: RecordID, _ reason: String) -> StoreError {
    StoreError(StoreError.undoConflict, "this cannot be undone: \(reason)", record: id)
  }
}
