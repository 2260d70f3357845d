import FileDBPlist

/// What a write did, as far as taking it back needs that: see ``RecordStore/undoableWrite(_:)``.
///
/// Taking it back is a write like any other, and knows what was committed since: other records, and other fields of the
/// same records, stay as they are.
public struct UndoStep: Sendable {
  var tables: [TableKey: TableUndo]

  /// The names of the tables that the write changed, in order.
  public var tableNames: [String] { tables.keys.sorted().map(\.text) }

  /// Whether the write changed nothing.
  public var isEmpty: Bool { tables.isEmpty }
}

/// What a write did to one table.
struct TableUndo: Sendable {
  /// A record that the write added, changed, moved or removed.
  struct Entry: Sendable {
    let id: RecordID
    /// `nil` where the write added it.
    var before: EncodedRecord?
    /// `nil` where the write removed it.
    var after: EncodedRecord?
    /// Where it was, if it has to go back there.
    var place: Place?
  }

  /// A place, by the neighbour above, which still tells it when other records have come or gone.
  struct Place: Sendable {
    let index: Int
    /// `nil` for the first record.
    let predecessor: RecordID?
  }

  /// Whether there was a table.
  let existed: Bool
  let exists: Bool
  /// The highest id that was given before.
  let counter: Int64
  /// By their former indices; those that were added come first.
  let entries: [Entry]

  init(existed: Bool, exists: Bool, counter: Int64, entries: [Entry]) {
    (self.existed, self.exists, self.counter, self.entries) = (existed, exists, counter, entries)
  }

  /// - Complexity: as ``RecordsDifference/init(from:to:)``.
  init(from old: TableState, to new: TableState, moving movedIDs: Set<RecordID>) {
    let difference = RecordsDifference(from: old.records, to: new.records, moving: movedIDs)
    var entries: [RecordID: Entry] = [:]
    for added in difference.inserted {
      entries[added.record.id] = Entry(id: added.record.id, after: added.record)
    }
    for removal in difference.removed {
      let place = Self.place(removal.oldIndex, in: old)
      entries[removal.record.id] = Entry(id: removal.record.id, before: removal.record, place: place)
    }
    for move in difference.moved {
      entries[move.id] = Entry(
        id: move.id, before: old.records[move.oldIndex], after: new.records[move.newIndex],
        place: Self.place(move.oldIndex, in: old))
    }
    for update in difference.updated where entries[update.old.id] == nil {
      entries[update.old.id] = Entry(id: update.old.id, before: update.old, after: update.new)
    }
    self.init(
      existed: old.exists, exists: new.exists, counter: old.counter,
      entries: entries.values.sorted { ($0.place?.index ?? -1, $0.id) < ($1.place?.index ?? -1, $1.id) })
  }

  private static func place(_ index: Int, in table: TableState) -> Place {
    Place(index: index, predecessor: index == 0 ? nil : table.records[index - 1].id)
  }
}

extension TransactionState {
  /// What takes back all that was done since the tables were as in `earlier`.
  func undoStep(since earlier: [TableKey: TableState]) throws(StoreError) -> UndoStep {
    var step = UndoStep(tables: [:])
    for (key, before, now) in try ownTables(since: earlier) {
      let table = TableUndo(from: before, to: now, moving: movedIDs(in: key))
      if !table.isEmpty { step.tables[key] = table }
    }
    return step
  }

  /// Whether ``undoStep(since:)`` would surely have more bytes of records than `limit`.
  func isUndoStepLonger(
    than limit: Int, since earlier: [TableKey: TableState]
  ) throws(StoreError) -> Bool {
    try ownTables(since: earlier).contains { _, before, now in
      RecordsDifference.isLonger(than: limit, from: before.records, to: now.records)
    }
  }

  /// The changed tables without the attached ones beneath: these may be others when the step is undone, and then nothing
  /// of them should come back.
  private func ownTables(
    since earlier: [TableKey: TableState]
  ) throws(StoreError) -> [(TableKey, before: TableState, now: TableState)] {
    var tables: [(TableKey, before: TableState, now: TableState)] = []
    for (key, table) in changed {
      let before = try ownTable(key, seenAs: earlier[key] ?? table.first)
      tables.append((key, before, try ownTable(key, seenAs: table.now)))
    }
    return tables
  }

  func undo(_ undo: TableUndo, in key: TableKey) throws(StoreError) {
    let seen = try table(key.text)
    var own = try ownTable(key, seenAs: seen)
    let changes = try undo.changes(in: own)
    guard seen.beneath != nil else {
      for change in changes { try apply(change, to: key.text) }
      return
    }
    for change in changes { try own.apply(change) }
    let former = try self.seen(key, own: own)
    for change in seen.changes(to: former, moving: Set(undo.entries.map(\.id))) {
      try apply(change, to: key.text)
    }
  }
}

extension TableUndo {
  fileprivate var isEmpty: Bool { existed == exists && entries.isEmpty }
}
