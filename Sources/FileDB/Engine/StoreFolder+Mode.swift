import FileDBStorage
import FileDBTables

/// Who may read and write the store's own folder. The journal and the backups contain records of all tables. So a user
/// who may not read one of the tables may not read this folder either. If all tables are shared with a group, so is
/// this folder.
extension StoreFolder {
  /// Gives the store's own folder and the files in it the mode that all tables have in common. Without any table, it
  /// has the mode of a new folder.
  /// - Throws: ``StoreError/Code/permissionDenied`` if another user owns the folder and it is open to more users than
  ///   the tables are.
  /// - Complexity: O(*n*) in the number of tables.
  func adjustMode() throws(StoreError) {
    guard let own = try disk.status(ownFolder), let mode = try commonMode(of: own.group) else { return }
    let present = own.mode & 0o777
    if present == mode.ofFolders { return }
    let folderMode = own.mode & 0o7000 | mode.ofFolders
    let isOpening = present & ~mode.ofFolders == 0
    // A closed folder protects its files. So close the folder first, and open it last.
    if !isOpening { try disk.setMode(ownFolder, folderMode) }
    for name in try disk.list(ownFolder) { try adjust("\(ownFolder)/\(name)", mode) }
    if isOpening { try adjustingOwn { () throws(StoreError) in try disk.setMode(ownFolder, folderMode) } }
  }

  private func adjust(_ path: String, _ mode: (ofFiles: UInt32, ofFolders: UInt32)) throws(StoreError) {
    guard let status = try disk.status(path), !status.isLink else { return }
    try adjustingOwn { () throws(StoreError) in
      switch status.kind {
      case .file: try disk.setMode(path, mode.ofFiles)
      case .folder: try disk.setMode(path, status.mode & 0o7000 | mode.ofFolders)
      case .other: break
      }
    }
  }

  /// A file of another user is adjusted by that user's next write. A file that is gone was the draft of another
  /// process.
  private func adjustingOwn(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try body()
    } catch  where [StoreError.Code.permissionDenied, StoreError.Code.fileNotFound].contains(error.code) {}
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
    guard !strict.isEmpty else { return error }
    var explained = error
    let files = strict.map { "'\($0)'" }.joined(separator: " ")
    explained.message +=
      "; the journal holds records of all tables, so only users who can read and write every table can open it; "
      + "to let the group in, the owner of these files runs chmod g+rw \(files), and then writes once"
    return explained
  }

  private func commonMode(of group: UInt32) throws(StoreError) -> (ofFiles: UInt32, ofFolders: UInt32)? {
    guard let folder = try disk.status(path) else { return nil }
    let tables = try tableStatuses()
    if tables.isEmpty { return nil }
    let common = tables.reduce(folder.mode(for: group) & 0o066) { $0 & $1.status.mode(for: group) } | 0o600
    return (common, common | (common & 0o444) >> 2)  // Whoever may read a folder may enter it.
  }

  private func tableStatuses() throws(StoreError) -> [(file: String, status: FileStatus)] {
    var statuses: [(file: String, status: FileStatus)] = []
    for table in try tableNames() {
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
