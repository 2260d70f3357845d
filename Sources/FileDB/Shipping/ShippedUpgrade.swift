import FileDBEssentials

/// The effect of a version on each table of the user's store.
struct ShippedUpgrade {
  /// The result for a table.
  struct Outcome {
    /// The shipped table that the next merge uses as its base.
    enum Base { case former, new, none }

    let key: TableKey
    var base: Base
    var ids = ShippedIDs()
    var report: InstallReport.Table
  }

  /// The tables that were installed before.
  let former: [TableKey: InstalledVersion.Table]
  /// The shipped tables of that version, for merging.
  let bases: [TableKey: TableState]
  let shipped: [TableKey: TableState]
  let policy: InstallPolicy
  /// The user's tables that cannot be read.
  let damaged: Set<TableKey>
  /// The backups of those that could not be read.
  let backups: [TableKey: [URL]]

  /// The tables that this may change.
  var keys: [TableKey] { Set(shipped.keys).union(former.keys).sorted() }

  func carryOut(in transaction: TransactionState) throws(StoreError) -> [Outcome] {
    try keys.map { key throws(StoreError) in try carryOut(key, in: transaction) }
  }

  private func carryOut(_ key: TableKey, in transaction: TransactionState) throws(StoreError) -> Outcome {
    let theirs = shipped[key] ?? TableState()
    var outcome = Outcome(
      key: key, base: theirs.exists ? .new : .none,
      report: InstallReport.Table(name: key.text, backups: backups[key] ?? []))
    if damaged.contains(key) {
      // The table is copied as it is. In a dry run it may also be replaced, because a dry run does not repair it first.
      outcome.report.isChanged = policy == .replace
      if policy == .copyIfMissing { outcome.base = .former }
      return outcome
    }
    let ours = try transaction.table(key.text)
    let changes: [Change]
    switch policy {
    case .copyIfMissing:
      changes = ours.exists ? [] : ours.steps(to: theirs)
      // If the tables are identical, an app has copied the shipped one by itself.
      let isCopy = former[key] == nil && ours.hasSameRecords(as: theirs)
      if changes.isEmpty, !isCopy { outcome.base = .former }
    case .replace: changes = ours.steps(to: theirs)
    case .merge: changes = try merge(theirs, into: ours, &outcome)
    }
    for change in changes { try transaction.apply(change, to: key.text) }
    outcome.report.isChanged = !changes.isEmpty
    return outcome
  }

  private func merge(
    _ theirs: TableState, into ours: TableState, _ outcome: inout Outcome
  ) throws(StoreError) -> [Change] {
    let shippedBase = bases[outcome.key] ?? TableState()
    if shippedBase.exists, !ours.exists { return [] }
    var ids = former[outcome.key]?.ids ?? ShippedIDs()
    let base = ids.applied(to: shippedBase)
    let added = try ids.admit(theirs, base: base, lastShipped: shippedBase.counter, ours: ours)
    let merge = try RecordsMerge(base: base, ours: ours, theirs: ids.applied(to: theirs))
    ids.add(merge.renumbered)
    outcome.ids = ids
    // Other root keys are not installed, so the user's are not in conflict.
    outcome.report.conflicts = merge.conflicts.filter { $0.record != nil }
    let deleted = merge.recordsDeletedByOurs
    outcome.report.renumbered = (added + merge.renumbered).filter { !deleted.contains($0.newID) }
    var merged = merge.merged
    if !deleted.isEmpty { try merged.apply(.remove(deleted.sorted())) }
    let isDropped = !theirs.exists && merged.records.isEmpty
    return ours.steps(to: isDropped ? TableState() : merged)
  }
}

extension RecordsMerge {
  /// The merged records that the user deleted and the new version changed. They stay deleted. Otherwise, a version that
  /// changes every record would bring them all back.
  fileprivate var recordsDeletedByOurs: Set<AnyRecordID> {
    Set(
      conflicts.compactMap { conflict in
        if case .deletedByOurs = conflict.kind { conflict.record } else { nil }
      })
  }
}

extension TableState {
  /// The changes that lead from this table to another. Either may not exist.
  fileprivate func steps(to other: TableState) -> [Change] {
    guard other.exists else { return exists ? [.drop] : [] }
    guard !exists else { return changes(to: other) }
    return [.create] + TableState(counter: 0, records: [], foreignKeys: foreignKeys).changes(to: other)
  }

  fileprivate func hasSameRecords(as other: TableState) -> Bool {
    exists && other.exists && RecordsDifference(from: records, to: other.records).isEmpty
  }
}
