import FileDB
import FileDBEssentials

/// Which shared log a folder follows, and its address: the two lines of `.filedb/shared`. The second line is missing if
/// the program reaches the log without an address.
package struct ReplicaLink: Equatable, Sendable {
  /// The identity of the log.
  package let identity: String
  /// A ``SharedAddress`` without passwords.
  package let address: String?

  package init(identity: String, address: String?) { (self.identity, self.address) = (identity, address) }

  private static func file(_ folder: StoreFolder) -> String { "\(folder.ownFolder)/shared" }

  /// - Returns: `nil` for a folder that does not follow a log.
  package static func read(_ folder: StoreFolder) throws(StoreError) -> ReplicaLink? {
    guard try folder.disk.status(file(folder)) != nil else { return nil }
    let lines = String(decoding: try folder.disk.read(file(folder)).bytes, as: UTF8.self).split(
      separator: "\n")
    return ReplicaLink(
      identity: lines.first.map(String.init) ?? "", address: lines.dropFirst().first.map(String.init))
  }

  private func write(_ folder: StoreFolder) throws(StoreError) {
    let lines = [identity, address].compactMap(\.self).map { $0 + "\n" }
    try folder.disk.replace(Self.file(folder), with: Array(lines.joined().utf8))
  }

  /// What a folder follows. If it does not follow a log yet, it follows `log` from here on.
  static func read(
    _ folder: StoreFolder, following log: any SharedCommitLog, timeout: Duration
  ) throws -> ReplicaLink {
    if let link = try read(folder) { return link }
    try checkIsEmpty(folder)
    let link = ReplicaLink(identity: try log.identity(), address: try log.address())
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    // Another process may have used the folder meanwhile.
    if let link = try read(folder) { return link }
    try checkIsEmpty(folder)
    try folder.disk.createFolder("\(folder.ownFolder)/replica")
    try link.write(folder)
    return link
  }

  private static func checkIsEmpty(_ folder: StoreFolder) throws(StoreError) {
    guard let table = try folder.tableNames().first else { return }
    throw StoreError(
      .tableExists, "this folder has tables of its own; take an empty one for the copy of a shared store",
      file: folder.path, table: table)
  }

  /// Makes a folder reach its log in the same way as `log` does, from here on.
  /// - Throws: ``StoreError/Code/conflict`` if `log` is another log.
  package static func renew(
    _ folder: StoreFolder, with log: any SharedCommitLog, timeout: Duration
  ) throws {
    guard let former = try read(folder) else { return }
    guard try log.identity() == former.identity else {
      throw StoreError(.conflict, "this folder belongs to another shared log", file: folder.path)
    }
    let link = ReplicaLink(identity: former.identity, address: try log.address())
    guard link != former else { return }
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    try link.write(folder)
  }
}
