import FileDBStorage
import FileDBTables

/// Who may read and write what is the store's own: nobody whom a single table keeps out, for the journal and the backups have
/// the records of all of them. Where all tables are shared with a group, so is this.
extension StoreFolder {
  /// Gives the store's own folder, and the files in it, the mode that the tables have in common. As long as there is no table,
  /// that of any new folder.
  /// - Throws: ``StoreError/permissionDenied`` where the folder is somebody else's and open to more than the tables are.
  /// - Complexity: O(*n*) in the number of tables.
  func adjustMode() throws(StoreError) {
    guard let own = try disk.status(ownFolder), let mode = try commonMode() else { return }
    let present = own.mode & 0o777
    if present == mode.ofFolders { return }
    do throws(StoreError) {
      try disk.setMode(ownFolder, own.mode & 0o7000 | mode.ofFolders)
      for name in try disk.list(ownFolder) {
        let path = "\(ownFolder)/\(name)"
        guard let status = try disk.status(path) else { continue }
        switch status.kind {
        case .file: try disk.setMode(path, mode.ofFiles)
        case .folder: try disk.setMode(path, status.mode & 0o7000 | mode.ofFolders)
        case .other: break
        }
      }
    } catch {
      // Only its owner can open it to more people, which the next write of the owner does.
      if error.code == StoreError.permissionDenied, present & ~mode.ofFolders == 0 { return }
      throw error
    }
  }

  /// Whether what is the store's own is open to more people than a table with this mode.
  func isOpenToMore(than mode: UInt32) throws(StoreError) -> Bool {
    guard let own = try disk.status(ownFolder) else { return false }
    return own.mode & ~mode & 0o066 != 0
  }

  /// Says which tables keep somebody out of the store who may enter its folder.
  func explaining(_ error: StoreError) -> StoreError {
    guard error.code == StoreError.permissionDenied, error.file?.hasPrefix("\(ownFolder)/") == true,
      let folder = try? disk.status(path), let modes = try? tableModes()
    else { return error }
    let strict = modes.filter { folder.mode & 0o066 & ~$0.mode != 0 }.map(\.file)
    guard !strict.isEmpty else { return error }
    var explained = error
    let files = strict.map { "'\($0)'" }.joined(separator: " ")
    explained.message +=
      "; the journal has the records of all tables, so only who may read and write each of them can open it; "
      + "the owner of these can let the group in by chmod g+rw \(files), and then write once"
    return explained
  }

  private func commonMode() throws(StoreError) -> (ofFiles: UInt32, ofFolders: UInt32)? {
    guard let folder = try disk.status(path) else { return nil }
    let modes = try tableModes()
    if modes.isEmpty { return nil }
    let common = modes.reduce(folder.mode & 0o066) { $0 & $1.mode } | 0o600
    return (common, common | (common & 0o444) >> 2)  // Who may read a folder may enter it.
  }

  private func tableModes() throws(StoreError) -> [(file: String, mode: UInt32)] {
    var modes: [(file: String, mode: UInt32)] = []
    for table in try tableNames() {
      // A name that two files have is told when the table is opened.
      guard let (file, status) = try? file(of: table), let status else { continue }
      modes.append((file, status.mode))
    }
    return modes
  }
}
