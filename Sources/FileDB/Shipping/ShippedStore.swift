import FileDBPlist
import Foundation

/// Brings a store that an app ships into the user's folder, and up to date when the app comes with a newer one.
///
///     let report = try ShippedStore.install(from: bundled, to: userFolder, version: 3, policy: .merge)
///     let store = try RecordStore(at: userFolder)
///
/// Made to be called at every start: where the version is installed already, it reads one small file. See <doc:Shipping>.
public enum ShippedStore {
  /// Installs a version where it is not installed yet.
  ///
  /// All tables change in one commit: after a crash at any point the user's store is as it was or as it is to be, and the
  /// next call does what is still to do. Several processes may call this at once; one installs, the others wait for it. The
  /// shipped folder is only read.
  /// - Parameter version: what this version of the app ships. A change of the data needs a new one to reach the user.
  /// - Returns: what was done.
  /// - Throws: ``StoreError/olderThanInstalled`` where a later version is installed; then nothing happened.
  ///   ``StoreError/fileNotFound`` where there is no shipped folder; ``StoreError/locked``; what
  ///   ``RecordStore/table(_:)-(TableName<_>)`` throws for a table of either store; what ``RecordStore/write(_:)`` throws.
  /// - Complexity: O(1) where the version is installed; else O(*n* log *n*) in the records of both stores.
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

/// What becomes of the user's tables where another version is shipped.
public enum InstallPolicy: String, Sendable, CaseIterable {
  /// Tables that the user's store does not have are copied. The others stay as they are.
  case copyIfMissing
  /// The user's store gets the shipped tables and has no others. Changes of the user are lost.
  case replace
  /// What changed between the shipped versions is done to the user's tables, record by record and field by field as
  /// ``TableMerge`` does it. The user's rows and changes stay; where both changed the same, the user's counts and there
  /// is a conflict in the report. A table that the user dropped stays dropped.
  case merge
}

/// What ``ShippedStore/install(from:to:version:policy:)`` did.
public struct InstallReport: Sendable {
  public struct Table: Sendable {
    public let name: String
    /// Whether the user's table was changed, made or dropped.
    public let isChanged: Bool
    /// Where the user and the new version changed the same. A field is as the user has it.
    public let conflicts: [MergeConflict]
    /// Shipped records that have another id in the user's store, which had given theirs to a record of its own. Later
    /// versions know them by it.
    public let renumbered: [MergeRenumbering]
  }

  public let version: ShippedVersion
  /// What was installed before; `nil` for the first time. The same as ``version`` where there was nothing to do.
  public let formerVersion: ShippedVersion?
  /// The tables that were changed, or have something to tell, in the order of their names.
  public let tables: [Table]
}
