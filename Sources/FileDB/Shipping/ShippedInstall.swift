import FileDBStorage
import Foundation

/// An installation from beginning to end: this says in which order things happen.
///
/// The versions of the shipped tables that a later merge needs are kept first, the user's tables change in one commit, and
/// the record of it comes last. A crash before the record leaves the version uninstalled, whether the commit was made or not:
/// the same is then done again, and what is there already stays as it is.
package struct ShippedInstall {
  private let shipped: RecordStore
  private let store: RecordStore
  private let version: ShippedVersion
  private let policy: InstallPolicy

  package init(
    from shipped: RecordStore, to store: RecordStore, version: ShippedVersion, policy: InstallPolicy
  ) {
    (self.shipped, self.store, self.version, self.policy) = (shipped, store, version, policy)
  }

  init(from shipped: URL, to folder: URL, version: ShippedVersion, policy: InstallPolicy) throws {
    self.init(
      from: try RecordStore(at: shipped), to: try RecordStore(at: folder), version: version, policy: policy)
  }

  package func run() throws -> InstallReport {
    if let report = try report(of: InstalledVersion.read(in: store)) { return report }
    let tables = try shippedTables()
    let lock = try store.folder.lockShipped(timeout: store.options.lockTimeout)
    defer { withExtendedLifetime(lock) {} }
    let former = try InstalledVersion.read(in: store)
    // Another process may have been quicker.
    if let report = try report(of: former) { return report }
    let upgrade = try ShippedUpgrade(of: former, in: store, to: tables, policy: policy)
    var installed = InstalledVersion(version: version, generation: (former?.generation ?? 0) + 1)
    try installed.keep(tables, in: store.folder)
    let outcomes = try store.write { transaction in try upgrade.carryOut(in: &transaction) }
    for outcome in outcomes { installed.note(outcome, former: former?.tables[outcome.key]) }
    try installed.write(in: store)
    return report(outcomes, former: former)
  }

  package func rehearse() throws -> InstallReport {
    let former = try InstalledVersion.read(in: store)
    if let report = try report(of: former) { return report }
    let upgrade = try ShippedUpgrade(of: former, in: store, to: shippedTables(), policy: policy)
    return report(
      try store.rehearse { transaction in try upgrade.carryOut(in: &transaction) }, former: former)
  }

  /// What there is to say where nothing is to be done.
  private func report(of installed: InstalledVersion?) throws(StoreError) -> InstallReport? {
    guard let installed, installed.version >= version else { return nil }
    guard installed.version == version else {
      throw StoreError(
        StoreError.olderThanInstalled,
        "version \(installed.version) is installed, and \(version) is an older one", file: store.folder.path)
    }
    return InstallReport(version: version, formerVersion: version, tables: [])
  }

  private func report(_ outcomes: [ShippedUpgrade.Outcome], former: InstalledVersion?) -> InstallReport {
    InstallReport(
      version: version, formerVersion: former?.version,
      tables: outcomes.map(\.report).filter {
        $0.isChanged || !$0.conflicts.isEmpty || !$0.renumbered.isEmpty
      })
  }

  private func shippedTables() throws -> [TableKey: TableState] {
    guard try onDisk({ () throws(DiskError) in try shipped.disk.status(shipped.folder.path) }) != nil else {
      throw StoreError(StoreError.fileNotFound, "there is no such folder", file: shipped.folder.path)
    }
    let keys = try shipped.tableNames.map(TableKey.init)
    return Dictionary(uniqueKeysWithValues: try keys.map { ($0, try shipped.refreshed($0).state) })
  }
}
