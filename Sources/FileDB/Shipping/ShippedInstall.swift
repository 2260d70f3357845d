import FileDBEssentials

/// A complete installation, with its steps in order.
///
/// First, it keeps the shipped tables for later merges. Then one commit changes the user's tables and the record of the
/// installed version. So that record is right at every moment.
package struct ShippedInstall {
  private let shipped: RecordStore
  package let store: RecordStore
  private let version: ShippedVersion
  private let policy: InstallPolicy

  package init(
    from shipped: RecordStore, to store: RecordStore, version: ShippedVersion, policy: InstallPolicy
  ) {
    (self.shipped, self.store, self.version, self.policy) = (shipped, store, version, policy)
  }

  package init(from shipped: URL, to folder: URL, version: ShippedVersion, policy: InstallPolicy) throws {
    self.init(
      from: try RecordStore(at: shipped), to: try RecordStore(at: folder), version: version, policy: policy)
  }

  /// - Parameter write: runs a transaction in the user's store.
  package func run(
    _ write: (_ body: (inout StoreTransaction) throws -> InstallReport) throws -> InstallReport
  ) throws -> InstallReport {
    let known = try InstalledVersion.read(in: store)
    if let report = try reportIfDone(known) { return report }
    let tables = try shippedTables()
    var damaged = try damagedTables(among: tables, known)
    var backups: [TableKey: [URL]] = [:]
    if policy == .replace {
      for key in damaged.sorted() { backups[key] = try store.repairForReplacement(key.text) }
      damaged = []
    }
    try store.restrictAccess(asIn: shipped)
    let report = try write { transaction in
      let former = try InstalledVersion.read(in: transaction.state, of: store.folder)
      // Another process may have installed it in the meantime.
      if let report = try reportIfDone(former) { return report }
      let next = InstalledVersion(version, after: former)
      try next.keep(tables, in: store.folder)
      return try upgrade(former, tables, damaged, backups, in: transaction.state, to: next)
    }
    InstalledVersion.clearAway(in: store)
    return report
  }

  package func run() throws -> InstallReport {
    try run { body in try store.write(body) }
  }

  package func dryRun() throws -> InstallReport {
    try dryRun { body in try store.dryRun(body) }
  }

  /// - Parameter attempt: runs a transaction in the user's store and discards its changes.
  package func dryRun(
    _ attempt: (_ body: (inout StoreTransaction) throws -> InstallReport) throws -> InstallReport
  ) throws -> InstallReport {
    let known = try InstalledVersion.read(in: store)
    if let report = try reportIfDone(known) { return report }
    let tables = try shippedTables()
    let damaged = try damagedTables(among: tables, known)
    return try attempt { transaction in
      let next = InstalledVersion(version, after: known)
      return try upgrade(known, tables, damaged, [:], in: transaction.state, to: next)
    }
  }

  /// The report if nothing needs to be done.
  private func reportIfDone(_ installed: InstalledVersion?) throws(StoreError) -> InstallReport? {
    guard let installed, installed.version >= version else { return nil }
    guard installed.version == version else {
      throw StoreError(
        .olderThanInstalled,
        "version \(installed.version) is installed, and \(version) is older", file: store.url.path)
    }
    return InstallReport(version: version, formerVersion: installed.version, tables: [])
  }

  private func shippedTables() throws -> [TableKey: TableState] {
    let folder = try shipped.folder
    guard try folder.disk.status(folder.path) != nil else {
      throw StoreError(.fileNotFound, "there is no such folder", file: folder.path)
    }
    let keys = try shipped.tableNames.map(TableKey.init)
    return Dictionary(uniqueKeysWithValues: try keys.map { ($0, try shipped.tables.newest($0).state) })
  }

  /// The user's tables that cannot be read, and that will be replaced.
  private func damagedTables(
    among tables: [TableKey: TableState], _ former: InstalledVersion?
  ) throws(StoreError) -> Set<TableKey> {
    if policy == .merge { return [] }
    var damaged: Set<TableKey> = []
    for key in Set(tables.keys).union(former?.tables.keys.map(\.self) ?? []) {
      do throws(StoreError) { _ = try store.tables.newest(key) } catch {
        guard RecordStore.tableDamage.contains(error.code) else { throw error }
        damaged.insert(key)
      }
    }
    return damaged
  }

  private func upgrade(
    _ former: InstalledVersion?, _ tables: [TableKey: TableState], _ damaged: Set<TableKey>,
    _ backups: [TableKey: [URL]], in transaction: TransactionState, to next: consuming InstalledVersion
  ) throws(StoreError) -> InstallReport {
    let upgrade = ShippedUpgrade(
      former: former, bases: policy == .merge ? try former?.bases(in: store) ?? [:] : [:], shipped: tables,
      policy: policy, damaged: damaged, backups: backups)
    let reports = try upgrade.carryOut(in: transaction, to: &next)
    try next.write(in: transaction)
    return InstallReport(
      version: version, formerVersion: former?.version, tables: reports.filter(\.isNews))
  }
}

extension InstallReport.Table {
  fileprivate var isNews: Bool { isChanged || !conflicts.isEmpty || !renumbered.isEmpty || !backups.isEmpty }
}
