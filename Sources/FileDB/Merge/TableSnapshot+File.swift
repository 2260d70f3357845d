import FileDBEssentials
import FileDBPlist

extension TableSnapshot {
  /// Reads a table's file by itself. The file may have any name and be anywhere. The snapshot does not include commits
  /// that wait in the journal of a store. Its ``table`` is the file's name without `.plist`.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable``, ``StoreError/Code/conflictMarkers``
  ///   with file and line, and the disk's errors.
  /// - Complexity: O(*n*) in the size of the file.
  public init(contentsOf url: URL, limits: PlistLimits = PlistLimits()) throws {
    let file = url.standardizedFileURL
    let disk = StoreDisk.system
    let folder = StoreFolder(path: file.deletingLastPathComponent().path, disk: disk)
    let isPlist = file.lastPathComponent.hasSuffix(StoreFolder.suffix)
    let name = isPlist ? file.deletingPathExtension().lastPathComponent : file.lastPathComponent
    let size = try disk.status(file.path)?.stamp.size ?? 0
    guard size <= limits.fileBytes else {  // Before it is in memory.
      throw StoreError(PlistError(.fileTooLarge(limit: limits.fileBytes)), file: file.path, table: name)
    }
    let bytes = try disk.read(file.path).bytes
    self.init(
      source: TableSource(table: name, in: .init(folder: folder, limits: limits)),
      state: try TableFile.decode(bytes, file: file.path, table: name, limits: limits))
  }

  /// Reads the bytes of a table's file, from any source.
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - name: the snapshot's ``table``, and the name of the file in errors.
  ///   - limits: what the file may hold.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable``, ``StoreError/Code/conflictMarkers``
  ///   with the line.
  /// - Complexity: O(*n*) in the bytes.
  public init(bytes: [UInt8], name: String, limits: PlistLimits = PlistLimits()) throws {
    self.init(
      source: TableSource(table: name, in: .init(folder: nil, limits: limits)),
      state: try TableFile.decode(bytes, file: name, table: name, limits: limits))
  }

  /// Writes the table's file by itself, in canonical bytes. After a crash at any point, there is either the old file or
  /// the new one. Do not use this for a store that is in use; use `RecordStore.write(_:)`.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*n* log *n*) in the records.
  public func write(to url: URL) throws { try write(to: url.standardizedFileURL.path, on: .system) }

  package func write(to path: String, on disk: StoreDisk) throws(StoreError) {
    try disk.replace(path, with: TableFile.encode(state), as: .unlocked)
  }
}
