import FileDBEssentials
import FileDBPlist
import FileDBTables

/// The steps of ``RecordStore/merge(_:)``.
package struct ConflictCopiesMerge {
  private struct Version {
    let copy: ConflictCopy
    let state: TableState
    /// The copy's file.
    let file: FileVersion
  }

  private let store: RecordStore
  private let versions: [Version]

  /// Reads the copies.
  /// - Parameter skip: called with the error of a copy that cannot be merged. If it does not throw, the others are
  ///   merged without it.
  /// - Throws: what `skip` throws; ``StoreError/Code/insideWrite``.
  package init(
    _ copies: [ConflictCopy], in store: RecordStore, skipping skip: (StoreError) throws -> Void = { throw $0 }
  ) throws {
    guard store.writers.currentTransaction == nil else {
      throw StoreError(
        .insideWrite, "copies cannot be merged in a transaction, because their files are moved")
    }
    self.store = store
    versions = try copies.compactMap { copy in
      do { return try Self.read(copy, in: store) } catch let error as StoreError {
        try skip(error)
        return nil
      }
    }
  }

  private static func read(_ copy: ConflictCopy, in store: RecordStore) throws -> Version {
    let disk = store.visibleFolder?.disk ?? .system
    if store.isInFolder(copy), !copy.isRecognized { try checkIsNoTable(copy, of: store) }
    let table = try store.table(copy.table).snapshot().state
    guard table.exists || copy.journal != nil else {
      throw StoreError(
        .tableNotFound, "there is no such table; to make one of the copy, give it the name of the table",
        file: copy.path, table: copy.table)
    }
    guard table.beneath == nil else {
      throw StoreError(
        .readOnly, "a table over an attached one cannot be merged; open the store without the attached one",
        table: copy.table)
    }
    if let journal = copy.journal {
      // Before its commits: if more arrive meanwhile, the copy is not moved.
      let file = FileVersion(try disk.read(copy.path).bytes)
      let state = try journal.state(of: copy.table)
      guard state.exists else {
        throw StoreError(
          .conflict,
          "with the commits in this copy of the journal, there is no such table; if that is right, remove the copy",
          file: copy.path, table: copy.table)
      }
      return Version(copy: copy, state: state, file: file)
    }
    let limits = store.options.limits
    let bytes = try disk.readTable(copy.table, in: copy.path, limits: limits)
    return Version(
      copy: copy, state: try TableFile.decode(bytes, file: copy.path, table: copy.table, limits: limits),
      file: FileVersion(bytes))
  }

  private static func checkIsNoTable(_ copy: ConflictCopy, of store: RecordStore) throws {
    guard try copy.name == TableKey(copy.table) || store.table(copy.name.text).commitsBehind > 0 else {
      return
    }
    throw StoreError(
      .tableExists, "the file is no copy, but a table into which commits go", file: copy.path,
      table: copy.name.text)
  }

  /// Whether there is nothing to merge.
  package var isEmpty: Bool { versions.isEmpty }

  /// A name for the undo step.
  package var name: String {
    let tables = Set(versions.map { TableKey($0.copy.table) }).sorted().map(\.text).joined(separator: ", ")
    return "merge of \(tables) with \(versions.count == 1 ? "a copy" : "\(versions.count) copies")"
  }

  /// Changes the tables. It may run more than once.
  package func carryOut(in transaction: inout StoreTransaction) throws -> [ConflictCopyMerge] {
    var merges: [ConflictCopyMerge] = []
    for version in versions {
      let name = version.copy.table
      let table = try transaction[name]
      // Commits in a copy of the journal may have made the table.
      let isNew = try !table.exists
      if isNew { try table.create() }
      let ours = try table.snapshot().state
      let merge = try RecordsMerge(base: version.copy.base?.state, ours: ours, copy: version.state)
      let changes = ours.changes(to: isNew ? version.state : merge.merged).filter { change in
        if case .declare = change { isNew } else { true }  // The schema of a table that is there stays.
      }
      for change in changes { try transaction.state.apply(change, to: name) }
      merges.append(
        ConflictCopyMerge(
          version.copy, version.state, into: ours, merge, isChanged: !changes.isEmpty,
          after: try table.snapshot().state))
    }
    try merges.followRenumberedRecords(in: &transaction)
    for index in merges.indices {
      let table = merges[index].copy.table
      merges[index].fileBefore = try store.visibleFile(of: table)
      merges[index].fileAfter = FileVersion(TableFile.encode(try transaction[table].snapshot().state))
    }
    return merges
  }

  /// Keeps the conflicts, and moves the copies into the backups. If the program ends before, the copies are still
  /// there.
  package func finish(_ merges: [ConflictCopyMerge]) throws -> [ConflictCopyMerge] {
    for merge in merges where !merge.conflicts.isEmpty {
      try store.keepAlso(merge.conflicts, of: merge.copy.table)
    }
    guard let folder = store.visibleFolder else { return merges }
    var failure: StoreError?
    do { try store.checkpoint() } catch let error as StoreError { failure = error }
    return try store.exclusively(timeout: store.options.lockTimeout) {
      var merges = merges
      // A copy of the journal may have been merged into several tables.
      for merged in Dictionary(grouping: merges.indices, by: { versions[$0].copy.path }).values {
        var (backup, problem) = (URL?.none, failure)
        do { backup = try moveToBackups(merged, merges, in: folder) } catch {
          problem = error as? StoreError ?? failure
        }
        for index in merged {
          merges[index].backup = backup
          if backup == nil { merges[index].failure = problem }
        }
      }
      return merges
    }
  }

  /// - Parameter merged: the numbers of the merges with this copy.
  /// - Returns: `nil` if the copy stays.
  private func moveToBackups(
    _ merged: [Int], _ merges: [ConflictCopyMerge], in folder: StoreFolder
  ) throws -> URL? {
    let (copy, file) = (versions[merged[0]].copy, versions[merged[0]].file)
    if let journal = copy.journal {
      let names = Set(merged.map { versions[$0].copy.table })
      let place = copy.url.deletingLastPathComponent().standardizedFileURL.path
      guard place == folder.ownFolder, try names.isSuperset(of: journal.tables) else { return nil }
    }
    // The journal may have nothing new for some of its tables.
    let written = copy.journal == nil ? merged : merged.filter { merges[$0].hasBroughtChanges }
    guard copy.journal != nil || store.isInFolder(copy), !written.isEmpty,
      try written.allSatisfy({ try isWritten(versions[$0], merges[$0]) }), try isNoTable(copy)
    else { return nil }
    return try folder.moveToBackups(copy.path, if: file).map { URL(fileURLWithPath: $0) }
  }

  /// Whether the table's file has become another one by the merge. If it has not, the service may be about to replace
  /// it, and would not keep what the copy has.
  private func isWritten(_ version: Version, _ merge: ConflictCopyMerge) throws -> Bool {
    guard let after = merge.fileAfter, after != merge.fileBefore, after != version.file else { return false }
    return try store.visibleFile(of: version.copy.table) == after
  }

  /// Whether nobody has begun to use the copy as a table.
  private func isNoTable(_ copy: ConflictCopy) throws -> Bool {
    let log = try store.fileLog
    try log.readOn()
    return (copy.isRecognized || store.shownFiles == nil) && log.pendingTable(copy.name) == nil
  }
}

extension ConflictCopy {
  fileprivate var path: String { url.standardizedFileURL.path }

  /// The name that the copy would have as a table.
  fileprivate var name: TableKey {
    let file = url.lastPathComponent
    return TableKey(
      file.hasSuffix(StoreFolder.suffix) ? String(file.dropLast(StoreFolder.suffix.count)) : file)
  }
}

extension RecordStore {
  fileprivate func isInFolder(_ copy: ConflictCopy) -> Bool {
    visibleFolder?.path == copy.url.deletingLastPathComponent().standardizedFileURL.path
  }

  /// The version of the file that people see; `nil` if there is none.
  fileprivate func visibleFile(of table: String) throws -> FileVersion? {
    try visibleFolder?.readFile(of: TableKey(table), limits: options.limits).content
      .map { FileVersion($0.bytes) }
  }
}

extension ConflictCopyMerge {
  fileprivate init(
    _ copy: ConflictCopy, _ state: TableState, into ours: TableState, _ merge: RecordsMerge, isChanged: Bool,
    after: TableState
  ) {
    (self.copy, before, self.after, hasBroughtChanges) = (copy, ours, after, isChanged)
    let difference = RecordsDifference(from: ours.records, to: merge.merged.records)
    added = difference.inserted.map(\.record.id)
    changed = difference.updated.map(\.new.id)
    removed = copy.base == nil ? [] : difference.removed.map(\.record.id)
    conflicts = merge.conflicts.filter { conflict in
      if case .rule = conflict.kind { return false }  // The transaction throws it.
      return true
    }
    renumbered = merge.renumbered
    let keys =
      after.foreignKeys.map(\.key) + state.foreignKeys.map(\.key).filter { after.foreignKeys[$0] == nil }
    otherKeys = keys.filter { after.foreignKeys[$0] != state.foreignKeys[$0] }
  }
}
