import FileDBPlist
import Foundation

/// Brings a store that an app ships into the user's folder, and up to date when the app comes with a newer one.
///
///     let report = try ShippedStore.install(from: bundled, to: userFolder, version: 3, policy: .merge)
///     let store = try RecordStore(at: userFolder)
///
/// Made to be called at every start: where the version is installed already, next to nothing is read. See <doc:Shipping>.
public enum ShippedStore {
  /// Installs a version where it is not installed yet.
  ///
  /// All tables change in one commit, and with them the record of what is installed: after a crash at any point the user's
  /// store is as it was or as it is to be, and the next call does what is still to do. Several processes may call this at
  /// once; one installs, the others wait for it. The shipped folder is only read.
  /// - Parameter version: what this version of the app ships. A change of the data needs a new one to reach the user.
  /// - Returns: what was done.
  /// - Throws: ``StoreError/olderThanInstalled`` where a later version is installed; then nothing happened.
  ///   ``StoreError/fileNotFound`` where there is no shipped folder; ``StoreError/locked``, also where this is called within a
  ///   write to the user's store; what ``RecordStore/table(_:)-(TableName<_>)`` throws for a shipped table and, in a merge,
  ///   for the user's; what ``RecordStore/write(_:)`` throws.
  /// - Complexity: where the version is installed, it reads the user's journal and one small file; else O(*n* log *n*) in the
  ///   records of the shipped tables and of the user's tables of those names.
  @discardableResult
  public static func install(
    from shippedFolder: URL, to userFolder: URL, version: ShippedVersion, policy: InstallPolicy
  ) throws -> InstallReport {
    try ShippedInstall(from: shippedFolder, to: userFolder, version: version, policy: policy).run()
  }

  /// Says what ``install(from:to:version:policy:)`` would do, with its errors, and writes nothing.
  public static func rehearse(
    from shippedFolder: URL, to userFolder: URL, version: ShippedVersion, policy: InstallPolicy
  ) throws -> InstallReport {
    try ShippedInstall(from: shippedFolder, to: userFolder, version: version, policy: policy).rehearse()
  }
}

/// What becomes of the user's tables where another version is shipped. A table that is the user's own, and was never
/// installed, stays as it is with each of these unless one of its name is shipped.
public enum InstallPolicy: String, Sendable, CaseIterable {
  /// Tables that the user's store does not have are copied. The others stay as they are.
  case copyIfMissing
  /// The shipped tables take the place of those installed before. Changes of the user in them are lost, and a table that is
  /// not shipped any more goes. A damaged file that is in the way is kept in `.filedb/backups`.
  case replace
  /// What changed between the shipped versions is done to the user's tables, record by record and field by field as
  /// ``TableMerge`` does it, but for records that the user deleted: these stay deleted, though the new version changed
  /// them. The user's records and changes stay; where both changed the same, the user's counts and there is a conflict
  /// in the report. A table that the user dropped stays dropped.
  case merge
}

/// What ``ShippedStore/install(from:to:version:policy:)`` did.
public struct InstallReport: Sendable {
  public struct Table: Sendable {
    public let name: String
    /// Whether the user's table was changed, made or dropped.
    public let isChanged: Bool
    /// Where the user and the new version changed the same. The table is as the user has it.
    public let conflicts: [MergeConflict]
    /// Shipped records that have another id in the user's store, which had given theirs to a record of its own. Later
    /// versions know them by it.
    public let renumbered: [MergeRenumbering]
    /// What was kept of a damaged table that was replaced: its file, and the journal where that had commits for it. A rehearsal
    /// has none.
    public let backups: [URL]
  }

  public let version: ShippedVersion
  /// What was installed before; `nil` for the first time. The same as ``version`` where there was nothing to do.
  public let formerVersion: ShippedVersion?
  /// The tables that were changed, or have something to tell, in the order of their names.
  public let tables: [Table]
}
