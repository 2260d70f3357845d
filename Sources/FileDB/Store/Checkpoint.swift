import FileDBStorage

/// Writes the journal's commits into the tables' files.
///
/// A crash at any point leaves each file as it was or as it is to be, and the journal says of both which commits they
/// include: so it does not matter how far this came.
enum Checkpoint {
  /// For who holds the store's lock.
  static func run(in store: RecordStore) throws(StoreError) {
    try store.log.catchUp()
    let pending = store.log.pendingTables
    guard !pending.isEmpty else { return }
    try store.log.prepare()
    let drafts = try pending.map { key throws(StoreError) in
      // A file that another program changed stops this here.
      TableDraft(key: key, table: try store.refreshed(key))
    }
    let written = try write(drafts, in: store)
    let journal = try onDisk { () throws(DiskError) in
      try Journal.stage(store.folder.journalFile, on: store.folder.disk, after: store.log.sequence)
    }
    // All is in the files, and what comes next has a journal of its own.
    try sync(onDisk { () throws(DiskError) in try store.folder.disk.install([journal]) }, in: store)
    try store.log.restart(with: written)
  }

  /// Writes the files of some tables. The journal stays, and knows them.
  /// - Returns: the tables with their new files.
  static func write(
    _ drafts: [TableDraft], in store: RecordStore
  ) throws(StoreError) -> [TableKey: CachedTable] {
    let disk = store.folder.disk
    try store.sweep()
    let staged = try stage(drafts, on: disk)  // A full disk leaves all files as they were.
    do throws(StoreError) {
      try store.log.append(LoggedCheckpoint(staged))
    } catch {
      disk.discard(staged.compactMap(\.file))
      throw error
    }
    try store.closingAfterFailure { () throws(StoreError) in try store.log.syncAll() }
    // From here on the journal knows both versions of each file.
    let folders = try install(staged, in: store.folder)
    try sync(folders, in: store)  // Before the journal forgets what is in the files.
    return written(staged, on: disk)
  }

  /// Writes every draft before the first one takes its file's name.
  private static func stage(_ drafts: [TableDraft], on disk: any Disk) throws(StoreError) -> [StagedTable] {
    try onDisk { () throws(DiskError) in
      var staged: [StagedTable] = []
      do throws(DiskError) {
        for draft in drafts { staged.append(try StagedTable(draft, on: disk)) }
        return staged
      } catch {
        disk.discard(staged.compactMap(\.file))
        throw error
      }
    }
  }

  /// Gives the drafts their files' names, and removes what was dropped.
  /// - Returns: the folders to sync.
  private static func install(
    _ staged: [StagedTable], in folder: StoreFolder
  ) throws(StoreError) -> Set<String> {
    let disk = folder.disk
    return try onDisk { () throws(DiskError) in
      var folders = try disk.install(staged.compactMap(\.file))
      for dropped in staged where dropped.file == nil {
        let file = dropped.draft.table.file
        if try disk.status(file) != nil { try disk.remove(file) }
        // Even where it is gone: who removed it may have died before it synced that.
        folders.insert(folder.path)
      }
      return folders
    }
  }

  private static func sync(_ folders: Set<String>, in store: RecordStore) throws(StoreError) {
    try store.closingAfterFailure { () throws(StoreError) in
      for folder in folders.sorted() {
        try onDisk { () throws(DiskError) in try store.folder.disk.syncFolder(folder) }
      }
    }
  }

  /// The tables as they are in memory once their files are written.
  private static func written(_ staged: [StagedTable], on disk: any Disk) -> [TableKey: CachedTable] {
    // It is done; a file whose stamp cannot be had is read again next time.
    var stamps = (try? disk.stamps(of: staged.compactMap(\.file)))?[...]
    var tables: [TableKey: CachedTable] = [:]
    for written in staged {
      var table = written.draft.table
      table.content = FileContent(written.version)
      table.stamp = written.file == nil ? nil : stamps?.popFirst()
      tables[written.draft.key] = table
    }
    return tables
  }
}

/// A table that is to be written to its file, or whose file is to go.
struct TableDraft {
  let key: TableKey
  let table: CachedTable
}

/// A table whose next file is written and synced, but has not its name yet.
private struct StagedTable {
  let draft: TableDraft
  /// `nil` for one that is to go.
  let file: StagedFile?
  let version: FileVersion

  init(_ draft: TableDraft, on disk: any Disk) throws(DiskError) {
    self.draft = draft
    guard draft.table.state.exists else {
      (file, version) = (nil, .absent)
      return
    }
    var checksum = Checksum()
    var size = 0
    file = try disk.stage(draft.table.file) { file throws(DiskError) in
      try TableFile.encode(draft.table.state) { piece throws(DiskError) in
        piece.withUnsafeBytes { checksum.update($0) }
        size += piece.count
        try file.append(piece)
      }
    }
    version = .file(size: size, checksum: checksum.value)
  }
}

extension LoggedCheckpoint {
  fileprivate init(_ staged: [StagedTable]) {
    tables = Dictionary(uniqueKeysWithValues: staged.map { ($0.draft.key, $0.version) })
  }
}
