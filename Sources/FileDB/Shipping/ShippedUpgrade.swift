import FileDBEssentials

/// The effect of a version on each table of the user's store.
struct ShippedUpgrade {
  /// The version that was installed before.
  let former: InstalledVersion?
  /// The shipped tables of that version, for merging.
  let bases: [TableKey: TableState]
  let shipped: [TableKey: TableState]
  let policy: InstallPolicy
  /// The user's tables that cannot be read.
  let damaged: Set<TableKey>
  /// The backups of those that could not be read.
  let backups: [TableKey: [URL]]

  /// Changes the user's tables, and records in `next` where each of them comes from.
  func carryOut(
    in transaction: TransactionState, to next: inout InstalledVersion
  ) throws(StoreError) -> [InstallReport.Table] {
    let keys = Set(shipped.keys).union(former?.tables.keys.map(\.self) ?? [])
    return try keys.sorted().map { key throws(StoreError) in try carryOut(key, in: transaction, &next) }
  }

  private func carryOut(
    _ key: TableKey, in transaction: TransactionState, _ next: inout InstalledVersion
  ) throws(StoreError) -> InstallReport.Table {
    let theirs = shipped[key] ?? TableState()
    var report = InstallReport.Table(name: key.text, backups: backups[key] ?? [])
    let installed = former?.tables[key]
    next.tables[key] = theirs.exists ? .init(generation: next.generation) : nil
    if damaged.contains(key) {
      // The table is copied as it is. In a dry run it may also be replaced, because a dry run does not repair it first.
      report.isChanged = policy == .replace
      if policy == .copyIfMissing { next.tables[key] = installed }
      return report
    }
    let ours = try transaction.table(key.text)
    let changes: [Change]
    switch policy {
    case .copyIfMissing:
      changes = ours.exists ? [] : ours.steps(to: theirs)
      // If the tables are identical, an app has copied the shipped one by itself.
      let isCopy =
        installed == nil && ours.exists && theirs.exists
        && RecordsDifference(from: ours.records, to: theirs.records).isEmpty
      if changes.isEmpty, !isCopy { next.tables[key] = installed }
    case .replace: changes = ours.steps(to: theirs)
    case .merge: changes = try merge(theirs, into: ours, of: key, &next, &report)
    }
    for change in changes { try transaction.apply(change, to: key.text) }
    report.isChanged = !changes.isEmpty
    return report
  }

  private func merge(
    _ theirs: TableState, into ours: TableState, of key: TableKey, _ next: inout InstalledVersion,
    _ report: inout InstallReport.Table
  ) throws(StoreError) -> [Change] {
    let shippedBase = bases[key] ?? TableState()
    if shippedBase.exists, !ours.exists { return [] }
    var ids = former?.tables[key]?.ids ?? ShippedIDs()
    let base = ids.applied(to: shippedBase)
    let added = try ids.admit(theirs, base: base, lastShipped: shippedBase.counter, ours: ours)
    let merge = try RecordsMerge(base: base, ours: ours, theirs: ids.applied(to: theirs))
    ids.add(merge.renumbered)
    next.tables[key]?.ids = ids
    // Other root keys are not installed, so the user's are not in conflict.
    report.conflicts = merge.conflicts.filter { $0.record != nil }
    // What the user deleted and the new version changed stays deleted. Otherwise, a version that changes every record
    // would bring them all back.
    let deleted = Set(
      merge.conflicts.compactMap { conflict in
        if case .deletedByOurs = conflict.kind { conflict.record } else { nil }
      })
    report.renumbered = (added + merge.renumbered).filter { !deleted.contains($0.newID) }
    var merged = merge.merged
    if !deleted.isEmpty { try merged.apply(.remove(deleted.sorted())) }
    let isDropped = !theirs.exists && merged.records.isEmpty
    return ours.steps(to: isDropped ? TableState() : merged)
  }
}

extension TableState {
  /// The changes that lead from this table to another. Either may not exist.
  fileprivate func steps(to other: TableState) -> [Change] {
    guard other.exists else { return exists ? [.drop] : [] }
    guard !exists else { return changes(to: other) }
    return [.create] + TableState(counter: 0, records: [], foreignKeys: foreignKeys).changes(to: other)
  }
}
