import FileDBEssentials
import FileDBPlist

extension StoreDisk {
  /// The bytes of a table's file.
  /// - Throws: ``StoreError/Code/damagedTable`` for a file that is too large, and the disk's errors.
  func readTable(_ table: String, in file: String, limits: PlistLimits) throws(StoreError) -> [UInt8] {
    let size = try status(file)?.stamp.size ?? 0
    guard size <= limits.fileBytes else {  // Checked before reading it into memory.
      throw StoreError(PlistError(.fileTooLarge(limit: limits.fileBytes)), file: file, table: table)
    }
    return try read(file).bytes
  }
}

extension TableSnapshot {
  /// Reads a table's file outside of a store. The file may have any name and be in any folder. Commits that wait in the
  /// journal of a store are not included. The snapshot's ``table`` is the file's name without `.plist`.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable``, ``StoreError/Code/conflictMarkers``
  ///   with file and line, and the disk's errors.
  /// - Complexity: O(*n*) in the size of the file.
  public init(contentsOf url: URL, limits: PlistLimits = PlistLimits()) throws {
    let file = url.standardizedFileURL
    let disk = StoreDisk.system
    let folder = StoreFolder(path: file.deletingLastPathComponent().path, disk: disk)
    let isPlist = file.lastPathComponent.hasSuffix(StoreFolder.suffix)
    let name = isPlist ? file.deletingPathExtension().lastPathComponent : file.lastPathComponent
    let bytes = try disk.readTable(name, in: file.path, limits: limits)
    self.init(
      source: TableSource(table: name, in: .init(folder: folder, limits: limits)),
      state: try TableFile.decode(bytes, file: file.path, table: name, limits: limits))
  }

  /// Reads a table from the bytes of its file.
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - name: the snapshot's ``table``, and the name of the file in errors.
  ///   - limits: how large and how deeply nested the file may be.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable``, ``StoreError/Code/conflictMarkers``
  ///   with the line.
  /// - Complexity: O(*n*) in the bytes.
  public init(bytes: [UInt8], name: String, limits: PlistLimits = PlistLimits()) throws {
    self.init(
      source: TableSource(table: name, in: .init(folder: nil, limits: limits)),
      state: try TableFile.decode(bytes, file: name, table: name, limits: limits))
  }

  /// Writes the records to a table's file outside of a store, in canonical form. If the program or the system crashes,
  /// the file is either the old one or the new one. Do not use this in the folder of a store that is in use; call
  /// `RecordStore.write(_:)` instead. A pipe, a device, or a file that this process has open, such as `/dev/stdout`, is
  /// written to.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*n* log *n*) in the records.
  public func write(to url: URL) throws { try write(to: url.standardizedFileURL.path, on: .system) }

  package func write(to path: String, on disk: StoreDisk) throws {
    try disk.writeFile(path) { append in try append(TableFile.encode(state)) }
  }
}
