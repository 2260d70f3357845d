import FileDBEssentials
import FileDBPlist

/// Installs a store that an app ships in the user's folder, and upgrades it when the app ships a newer version.
///
///     let report = try ShippedStore.install(from: bundled, to: userFolder, version: 3, policy: .merge)
///     let store = try RecordStore(at: userFolder)
///
/// Call this each time your program starts. If the version is already installed, it reads almost nothing. See
/// <doc:Shipping>.
///
/// Take this if you want to tell the user what an upgrade did, or if the user's folder must be complete without the app.
/// Otherwise ``RecordStore/init(at:attaching:as:options:)`` asks less of you.
public enum ShippedStore {
  /// Installs a version, unless it is already installed.
  ///
  /// All tables change in one commit, together with the record of the installed version. If the program crashes, the
  /// user's store has either the old version or the new one, and the next call does the rest. Several processes may
  /// call this at once: one installs, and the others wait for it. FileDB only reads the shipped folder.
  /// - Parameters:
  ///   - shippedFolder: the store that the app ships.
  ///   - userFolder: the user's store. It is created if it does not exist.
  ///   - version: the version of the shipped data. When you change the data, raise the version; otherwise the change
  ///     does not reach the user.
  ///   - policy: what happens to the user's tables.
  /// - Returns: what was done.
  /// - Throws: ``StoreError/Code/olderThanInstalled`` if a later version is installed; then nothing changes.
  ///   ``StoreError/Code/fileNotFound`` if there is no shipped folder; ``StoreError/Code/locked``, also inside a write
  ///   to the user's store; what `RecordStore.table(_:)` throws for a shipped table and, in a merge, for the user's;
  ///   what `RecordStore.write(_:)` throws.
  /// - Complexity: if the version is already installed, this reads the user's journal and one small file. Otherwise
  ///   O(*n* log *n*) in the records of the shipped tables and of the user's tables with the same names.
  @discardableResult
  public static func install(
    from shippedFolder: URL, to userFolder: URL, version: ShippedVersion, policy: InstallPolicy
  ) throws -> InstallReport {
    try ShippedInstall(from: shippedFolder, to: userFolder, version: version, policy: policy).run()
  }

  /// Returns what ``install(from:to:version:policy:)`` would do, but writes nothing.
  /// - Throws: as ``install(from:to:version:policy:)``.
  /// - Complexity: as ``install(from:to:version:policy:)``.
  public static func dryRun(
    from shippedFolder: URL, to userFolder: URL, version: ShippedVersion, policy: InstallPolicy
  ) throws -> InstallReport {
    try ShippedInstall(from: shippedFolder, to: userFolder, version: version, policy: policy).dryRun()
  }
}

/// What happens to the user's tables when another version is installed. With every policy, a table that was never
/// installed stays as it is, unless the new version ships a table of the same name.
public enum InstallPolicy: String, Sendable, CaseIterable {
  /// Tables that the user's store does not have are copied. The others stay as they are.
  case copyIfMissing
  /// The shipped tables replace those that were installed before. The user's changes in them are lost, and tables that
  /// are no longer shipped are dropped. A damaged file that is replaced is kept in `.filedb/backups`.
  case replace
  /// FileDB merges the changes between the two shipped versions into the user's tables, record by record and field by
  /// field, as ``TableMerge`` does. The user's records and changes stay. If the user and the new version changed the
  /// same data, the user's version wins, and the report has a conflict. Records that the user deleted stay deleted,
  /// even if the new version changed them. A table that the user dropped stays dropped.
  case merge
}

/// What ``ShippedStore/install(from:to:version:policy:)`` did.
public struct InstallReport: Sendable {
  /// What happened to one table.
  public struct Table: Sendable {
    /// The table's name.
    public let name: String
    /// Whether the user's table was changed, created or dropped.
    public internal(set) var isChanged = false
    /// The conflicts: data that both the user and the new version changed. The table has the user's version.
    public internal(set) var conflicts: [MergeConflict] = []
    /// Shipped records that got another id in the user's store, because one of the user's records already had their id.
    /// Later versions recognize them by the new id.
    public internal(set) var renumbered: [MergeRenumbering] = []
    /// The backups of a damaged table that was replaced: its file, and the journal if it had commits for the table.
    /// Empty in a dry run.
    public let backups: [URL]
  }

  /// The version that is installed now.
  public let version: ShippedVersion
  /// The version that was installed before; `nil` if there was no such version. If there was nothing to do, it equals
  /// ``version``.
  public let formerVersion: ShippedVersion?
  /// The tables that were changed, or that have conflicts, new ids or backups, in the order of their names.
  public let tables: [Table]
}
