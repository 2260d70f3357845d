import FileDBStorage
import FileDBTables

/// Who may read and write the store's own folder. The journal, the backups and the undo log contain records of all
/// tables, also of tables that are gone. So a user who may not read one of the tables may not read this folder either.
/// FileDB only ever takes rights away; to give them back is up to the user.
extension StoreFolder {
  /// Takes from the store's own folder, and from the files in it, the rights that a table does not give.
  /// - Throws: ``StoreError/Code/permissionDenied`` if another user owns the folder and it is open to more users than
  ///   the tables are.
  /// - Complexity: O(*n*) in the number of tables.
  func adjustMode() throws(StoreError) {
    guard let own = try disk.status(ownFolder), let common = try commonMode(of: own.group) else { return }
    try restrict(own, to: common)
    // The user may have opened the folder, but not the files in it.
    let mode = own.mode & common & 0o777
    guard let journal = try disk.status(journalFile), journal.mode & 0o777 != mode & 0o666 else { return }
    for name in try disk.list(ownFolder) { try adjust("\(ownFolder)/\(name)", mode) }
  }

  /// Lets everybody into the store's own folder who may use all tables. Nothing is in it yet.
  func openNewFolder() throws(StoreError) {
    guard let own = try disk.status(ownFolder), let common = try commonMode(of: own.group) else { return }
    if own.mode & 0o777 != common { try disk.setMode(ownFolder, own.mode & 0o7000 | common) }
  }

  /// The folder first, because a closed folder protects its files.
  private func restrict(_ own: FileStatus, to mode: UInt32) throws(StoreError) {
    guard own.mode & 0o777 & ~mode != 0 else { return }
    try disk.setMode(ownFolder, own.mode & (0o7000 | mode))
  }

  /// The mode that the file of a new table has at most. Its records may come from any table of the store.
  package func modeOfNewTables() throws(StoreError) -> UInt32 {
    (try disk.status(ownFolder)?.mode ?? 0o777) & 0o666
  }

  /// Takes from this folder the rights that another store does not give, because records of that store come here.
  func restrictAccess(asIn other: StoreFolder) throws(StoreError) {
    guard let folder = try other.disk.status(other.path) else { return }
    let mode = try other.commonMode(of: folder.group) ?? 0o777
    let own = try other.disk.status(other.ownFolder)?.mode ?? 0o777
    guard mode & own & 0o055 != 0o055 else { return }
    let isNew = try disk.status(ownFolder) == nil
    try disk.createFolder(ownFolder)
    if isNew { try openNewFolder() }
    guard let status = try disk.status(ownFolder) else { return }
    try restrict(status, to: mode & own)
  }

  private func adjust(_ path: String, _ mode: UInt32) throws(StoreError) {
    guard let status = try disk.status(path), !status.isLink else { return }
    do throws(StoreError) {
      switch status.kind {
      case .file: try disk.setMode(path, mode & 0o666)
      case .folder: try disk.setMode(path, status.mode & 0o7000 | mode)
      case .other: break
      }
    } catch  where [StoreError.Code.permissionDenied, StoreError.Code.fileNotFound].contains(error.code) {
      // A file of another user is adjusted by that user's next write. A file that is gone was the draft of another
      // process.
    }
  }

  /// Whether the store's own folder is open to more users than a table is.
  func isOpenToMore(than table: FileStatus) throws(StoreError) -> Bool {
    guard let own = try disk.status(ownFolder) else { return false }
    return own.mode & ~table.mode(for: own.group) & 0o066 != 0
  }

  /// Adds to an error which tables keep out a user who may enter the folder.
  func explaining(_ error: StoreError) -> StoreError {
    guard error.code == .permissionDenied, error.file?.hasPrefix("\(ownFolder)/") == true,
      let folder = try? disk.status(path), let tables = try? tableStatuses()
    else { return error }
    let strict = tables.filter { folder.mode & 0o066 & ~$0.status.mode(for: folder.group) != 0 }.map(\.file)
    let own = (try? disk.status(ownFolder))?.mode ?? 0o777
    let closed = strict + (folder.mode & 0o066 & ~own != 0 ? [ownFolder] : [])
    guard !closed.isEmpty else { return error }
    var explained = error
    let files = closed.map { "'\($0)'" }.joined(separator: " ")
    explained.message +=
      "; the journal holds records of all tables, so only users who can read and write every table can open it; "
      + "to let the group in, their owner runs chmod g+rwX \(files), and then writes once"
    return explained
  }

  /// The mode, as of a folder, that all tables and the store's folder have in common.
  private func commonMode(of group: UInt32) throws(StoreError) -> UInt32? {
    guard let folder = try disk.status(path) else { return nil }
    let tables = try tableStatuses()
    if tables.isEmpty { return nil }
    let common = tables.reduce(folder.mode(for: group) & 0o066) { $0 & $1.status.mode(for: group) } | 0o600
    return common | (common & 0o444) >> 2  // Whoever may read a folder may enter it.
  }

  private func tableStatuses() throws(StoreError) -> [(file: String, status: FileStatus)] {
    var statuses: [(file: String, status: FileStatus)] = []
    // A stray file can be written by its path.
    for table in try tableNames() + strayFiles().map({ table(of: $0.file) }) {
      // If two files have the same table name, opening the table reports that.
      guard let (file, status) = try? file(of: table), let status else { continue }
      statuses.append((file, status))
    }
    return statuses
  }
}

extension FileStatus {
  /// The mode for a group. If the file belongs to another group, this group has the rights of all others.
  fileprivate func mode(for group: UInt32) -> UInt32 {
    self.group == group ? mode : mode & ~0o060 | (mode & 0o006) << 3
  }
}
