import FileDB
import FileDBEssentials
import FileDBStorage

/// Which shared log a folder follows: the line of `.filedb/shared`. It does not say where that log is; ``JoinedStores``
/// does.
package struct ReplicaLink: Equatable, Sendable {
  /// The identity of the log.
  package let identity: String

  private static func file(_ folder: StoreFolder) -> String { folder.own(.shared) }

  /// - Returns: `nil` for a folder that does not follow a log.
  package static func read(_ folder: StoreFolder) throws(StoreError) -> ReplicaLink? {
    guard try folder.disk.status(file(folder)) != nil else { return nil }
    let text = String(decoding: try folder.disk.read(file(folder)).bytes, as: UTF8.self)
    return ReplicaLink(identity: text.cut(at: "\n")?.before ?? text)
  }

  /// What a folder follows. If it does not follow a log yet, it follows `log` from here on.
  static func read(
    _ folder: StoreFolder, following log: any SharedCommitLog, timeout: Duration
  ) throws -> ReplicaLink {
    if let link = try read(folder) { return link }
    try checkIsEmpty(folder)
    let link = ReplicaLink(identity: try log.identity())
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    // Another process may have used the folder meanwhile.
    if let link = try read(folder) { return link }
    try checkIsEmpty(folder)
    try folder.disk.createFolder(folder.own(.replica))
    try folder.disk.replace(file(folder), with: Array("\(link.identity)\n".utf8))
    // So that 'filedb' finds the log, too. It is no error if this user has no place for such files.
    if let address = try? log.address() { try? JoinedStores().add(address, of: link.identity) }
    return link
  }

  private static func checkIsEmpty(_ folder: StoreFolder) throws(StoreError) {
    guard let table = try folder.tableNames().first else { return }
    throw StoreError(
      .tableExists, "this folder has tables of its own; take an empty one for the copy of a shared store",
      file: folder.path, table: table)
  }

  /// - Throws: ``StoreError/Code/conflict`` if a folder follows another log than `log`.
  package static func check(_ folder: StoreFolder, follows log: any SharedCommitLog) throws(StoreError) {
    guard let link = try read(folder), try log.identity() != link.identity else { return }
    throw StoreError(.conflict, "this folder belongs to another shared log", file: folder.path)
  }
}
