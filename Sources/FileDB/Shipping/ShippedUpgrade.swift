import FileDBPlist

/// What a version does to each table of the user's store.
struct ShippedUpgrade {
  /// What became of a table.
  struct Outcome {
    /// Which shipped table the next merge begins with.
    enum Base { case former, new, none }

    let key: TableKey
    var base: Base
    var isChanged = false
    var conflicts: [MergeConflict] = []
    var renumbered: [MergeRenumbering] = []
    var ids = ShippedIDs()

    var report: InstallReport.Table {
      InstallReport.Table(
        name: key.text, isChanged: isChanged, conflicts: conflicts, renumbered: renumbered)
    }
  }

  private let former: [TableKey: InstalledVersion.Table]
  private let bases: [TableKey: TableState]
  private let shipped: [TableKey: TableState]
  private let policy: InstallPolicy
  private let store: RecordStore

  init(
    of former: InstalledVersion?, in store: RecordStore, to shipped: [TableKey: TableState],
    policy: InstallPolicy
  ) throws {
    self.former = former?.tables ?? [:]
    bases = policy == .merge ? try former?.bases(in: store) ?? [:] : [:]
    (self.shipped, self.policy, self.store) = (shipped, policy, store)
  }

  func carryOut(in transaction: inout StoreTransaction) throws -> [Outcome] {
    var keys = Set(shipped.keys).union(former.keys)
    if policy == .replace { keys.formUnion(try store.tableNames.map(TableKey.init)) }
    return try keys.sorted().map { try carryOut($0, in: transaction.state) }
  }

  private func carryOut(_ key: TableKey, in transaction: TransactionState) throws(StoreError) -> Outcome {
    let ours = try transaction.table(key.text)
    let theirs = shipped[key] ?? TableState()
    var outcome = Outcome(key: key, base: theirs.exists ? .new : .none)
    let changes: [Change]
    switch policy {
    case .copyIfMissing:
      changes = ours.exists ? [] : ours.steps(to: theirs)
      // One that is there already is from here if an installation that a crash cut short copied it.
      let isCopy = former[key] == nil && ours.hasSameRecords(as: theirs)
      if changes.isEmpty, !isCopy { outcome.base = .former }
    case .replace: changes = ours.steps(to: theirs)
    case .merge: changes = try merge(theirs, into: ours, &outcome)
    }
    for change in changes { try transaction.apply(change, to: key.text) }
    outcome.isChanged = !changes.isEmpty
    return outcome
  }

  private func merge(
    _ theirs: TableState, into ours: TableState, _ outcome: inout Outcome
  ) throws(StoreError) -> [Change] {
    let shippedBase = bases[outcome.key] ?? TableState()
    if shippedBase.exists, !ours.exists { return [] }
    var ids = former[outcome.key]?.ids ?? ShippedIDs()
    let base = ids.applied(to: shippedBase)
    let added = try ids.admit(theirs, base: base, ours: ours)
    let merge = try RecordsMerge(base: base, ours: ours, theirs: ids.applied(to: theirs))
    outcome.ids = ids
    outcome.conflicts = merge.conflicts
    outcome.renumbered = added + merge.renumbered
    let isDropped = !theirs.exists && merge.merged.records.isEmpty
    return ours.steps(to: isDropped ? TableState() : merge.merged)
  }
}

extension TableState {
  /// The changes that lead from this table to another, be it there or not.
  fileprivate func steps(to other: TableState) -> [Change] {
    guard other.exists else { return exists ? [.drop] : [] }
    guard !exists else { return changes(to: other) }
    return [.create] + TableState(counter: 0, records: [], foreignKeys: foreignKeys).changes(to: other)
  }

  fileprivate func hasSameRecords(as other: TableState) -> Bool {
    exists && other.exists && records.count == other.records.count
      && zip(records, other.records).allSatisfy { $0.id == $1.id && $0.hasSameFields(as: $1) }
  }
}
