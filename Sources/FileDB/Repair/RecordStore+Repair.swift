import FileDBPlist
import FileDBStorage
import Foundation

/// What ``RecordStore/repair(_:)`` does to a table, or would do.
public struct RepairPlan: Sendable {
  public let table: String
  /// What is mended, a sentence each, with the line in the file where one is to blame; empty for a sound table.
  public let notes: [String]
  /// How many pieces of a damaged file cannot be read as records, and stay in the backup alone.
  public let lostCount: Int

  let file: String
  let original: [UInt8]
  let repaired: TableState
}

extension RecordStore {
  /// Says how ``repair(_:)`` would mend a table. Writes nothing.
  ///
  /// A stale index, a low or missing counter and comments only need a new file. A record without an id gets a new one, and
  /// so does the second of two with the same. What lies among the records and is none becomes one with the field `value`.
  /// Of a file that cannot be read as a whole, cut off or damaged inside, every record that can be read by itself is kept.
  /// - Throws: ``StoreError/tableNotFound``; ``StoreError/notATable`` where nothing in the file looks like a table;
  ///   ``StoreError/ambiguousTable``; the disk's errors.
  /// - Complexity: O(*n*) in the size of the file.
  public func repairPlan(for table: String) throws -> RepairPlan {
    let (file, content) = try readFile(of: TableKey(table))
    guard let content else {
      throw StoreError(StoreError.tableNotFound, "there is no such table", table: table)
    }
    let warnings = (try? check(table))?.filter { $0.severity == .warning } ?? []
    let mended = try TableRepair.mend(content.bytes, file: file, table: table, limits: options.limits)
    let notes =
      warnings.map { Self.note($0.error.message, line: $0.error.line) } + mended.repair.notes.map(Self.note)
    return RepairPlan(
      table: table, notes: notes, lostCount: mended.repair.lostCount, file: file, original: content.bytes,
      repaired: mended.state)
  }

  /// Mends a table as ``repairPlan(for:)`` says. The file as it was is kept in `.filedb/backups`; a sound table is left
  /// alone.
  /// - Returns: what was done, and the file that keeps the original; no backup where nothing was done.
  /// - Throws: as ``repairPlan(for:)`` and ``write(_:)``; ``StoreError/insideWrite`` within a write.
  @discardableResult
  public func repair(_ table: String) throws -> (plan: RepairPlan, backup: URL?) {
    guard writers.currentTransaction == nil else {
      throw StoreError(StoreError.insideWrite, "a repair is no part of a transaction", table: table)
    }
    return try Commit.locked(self) {
      let plan = try repairPlan(for: table)
      if plan.notes.isEmpty { return (plan, nil) }
      let backup = try folder.keepBackup(of: plan.file, plan.original)
      let stamp = try onDisk { () throws(DiskError) in
        try folder.disk.replace(plan.file, with: TableFile.encode(plan.repaired))
      }
      var state = plan.repaired
      state.index()
      let published = PublishedTable(state: state, file: plan.file, stamp: stamp)
      self.published.withLock { $0[TableKey(table)] = published }
      return (plan, URL(fileURLWithPath: backup))
    }
  }

  private static func note(_ text: String, line: Int?) -> String {
    line.map { "line \($0): \(text)" } ?? text
  }
}

extension StoreFolder {
  /// Keeps a file's bytes among the backups, under its name and the time.
  func keepBackup(of file: String, _ bytes: [UInt8]) throws(StoreError) -> String {
    let time = PlistDate.text(Date()).replacing(":", with: "-")
    return try onDisk { () throws(DiskError) in
      try disk.createFolder(backupFolder)
      var path = "\(backupFolder)/\(fileName(of: file)).\(time)"
      var count = 1
      while try disk.status(path) != nil {
        count += 1
        path = "\(backupFolder)/\(fileName(of: file)).\(time).\(count)"
      }
      _ = try disk.replace(path, with: bytes)
      return path
    }
  }
}
