import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables

/// What was replaced or merged is kept in the own folder.
extension StoreFolder {
  /// Backs up the journal, and the files of records that it refers to.
  /// - Returns: the backups, the journal's first.
  package func keepBackupOfJournal() throws(StoreError) -> [String] {
    var files = [journalFile]
    for name in try disk.list(ownFolder) where Self.isRecordsName(name) {
      files.append("\(ownFolder)/\(name)")
    }
    return try files.map { file throws(StoreError) in try keepBackup(of: file, disk.read(file).bytes) }
  }

  /// Backs up a file's bytes, under its name and the time.
  package func keepBackup(of file: String, _ bytes: [UInt8]) throws(StoreError) -> String {
    let time = PlistDate.text(Date()).replacing(":", with: "-")
    try disk.createFolder(backupFolder)
    var path = "\(backupFolder)/\(fileName(of: file)).\(time)"
    var count = 1
    while try disk.status(path) != nil {
      count += 1
      path = "\(backupFolder)/\(fileName(of: file)).\(time).\(count)"
    }
    try disk.replace(path, with: bytes)
    return path
  }

  /// Moves a file of the folder into the backups, if it still has this content.
  /// - Returns: the backup; `nil` if another program has changed the file.
  func moveToBackups(_ file: String, if version: FileVersion) throws(StoreError) -> String? {
    let bytes = try disk.read(file).bytes
    guard FileVersion(bytes) == version else { return nil }
    let backup = try keepBackup(of: file, bytes)
    let isRemoved = try disk.remove(file) { [disk] path throws(DiskError) in
      guard let path, try disk.disk.status(path) != nil else { return true }
      return try FileVersion(disk.disk.read(path).bytes) == version
    }
    guard isRemoved else { return nil }
    try disk.syncFolder(parentFolder(of: file))
    return backup
  }
}
