import FileDBPlist

/// The ids that shipped records have in the user's table, as far as they are other ones: the user's own records may have had
/// them first. Kept with the installed version, so that its records are known again however the user edits them.
struct ShippedIDs {
  private(set) var ids: [RecordID: RecordID]

  init(ids: [RecordID: RecordID] = [:]) { self.ids = ids }

  /// A shipped table with the user's ids.
  func applied(to table: TableState) -> TableState {
    guard !ids.isEmpty, table.exists else { return table }
    return TableState(
      counter: table.counter, records: table.records.map { $0.renumbered(ids[$0.id] ?? $0.id) },
      foreignKeys: table.foreignKeys)
  }

  /// Finds ids for the new records of a shipped table whose own are taken.
  /// - Parameter base: the version before, with the user's ids.
  /// - Returns: those that were found now.
  /// - Throws: ``StoreError/counterExhausted``.
  mutating func admit(
    _ theirs: TableState, base: TableState, ours: TableState
  ) throws(StoreError) -> [MergeRenumbering] {
    ids = ids.filter { theirs.records.contains($0.key) }
    let taken = Set(ids.values)
    let colliding = theirs.records.filter { record in
      if ids[record.id] != nil { return false }
      if taken.contains(record.id) { return true }
      guard !base.records.contains(record.id), let own = ours.record(with: record.id) else { return false }
      return !own.hasSameFields(as: record)
    }
    guard !colliding.isEmpty else { return [] }
    var twins = Self.strangers(in: ours, base: base, theirs: theirs, taken: taken)
    var last = max(base.counter, ours.counter, theirs.counter, taken.map(\.rawValue).max() ?? 0)
    return try colliding.map { record throws(StoreError) in
      let id: RecordID
      // An installation that a crash cut short may have added it.
      if let twin = twins[record.record.fields]?.popLast() {
        id = twin
      } else {
        guard last < .max else { throw StoreError(StoreError.counterExhausted, "there is no id left") }
        last += 1
        id = RecordID(counted: last)
      }
      ids[record.id] = id
      return MergeRenumbering(side: .theirs, oldID: record.id, newID: id)
    }
  }

  /// The user's records that are under no shipped id, by their fields, the first one last.
  private static func strangers(
    in ours: TableState, base: TableState, theirs: TableState, taken: Set<RecordID>
  ) -> [PlistDictionary: [RecordID]] {
    var strangers: [PlistDictionary: [RecordID]] = [:]
    for record in ours.records.reversed()
    where !base.records.contains(record.id) && !theirs.records.contains(record.id)
      && !taken.contains(record.id)
    {
      strangers[record.record.fields, default: []].append(record.id)
    }
    return strangers
  }
}

extension TableState {
  fileprivate func record(with id: RecordID) -> StoredRecord? { records.row(of: id).map { records[$0] } }
}
