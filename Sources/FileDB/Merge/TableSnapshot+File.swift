import FileDBPlist
import Foundation

extension TableSnapshot {
  /// Reads the file of a table by itself, whatever it is called and wherever it is: commits that wait in the journal of
  /// a store are not in it. Its name, without `.plist`, is the ``table``.
  /// - Throws: ``StoreError/notATable``, ``StoreError/damagedTable``, ``StoreError/conflictMarkers`` with file and line, and
  ///   the disk's errors.
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

  /// Reads the bytes of a table's file, from wherever they came.
  /// - Parameter name: what ``table`` is to be, and what errors call the file.
  /// - Throws: ``StoreError/notATable``, ``StoreError/damagedTable``, ``StoreError/conflictMarkers`` with the line.
  /// - Complexity: O(*n*) in the bytes.
  public init(bytes: [UInt8], name: String, limits: PlistLimits = PlistLimits()) throws {
    self.init(
      source: TableSource(table: name, in: .init(folder: nil, limits: limits)),
      state: try TableFile.decode(bytes, file: name, table: name, limits: limits))
  }

  /// Writes the table's file by itself, in canonical bytes: after a crash at any point there is either the old file or the
  /// new. Not for a store that is in use, whose tables are written by ``RecordStore/write(_:)``.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*n* log *n*) in the records.
  public func write(to url: URL) throws { try write(to: url.standardizedFileURL.path, on: .system) }

  package func write(to path: String, on disk: StoreDisk) throws(StoreError) {
    try disk.replace(path, with: TableFile.encode(state), as: .unlocked)
  }
}
