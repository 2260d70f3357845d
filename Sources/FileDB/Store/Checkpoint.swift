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
      try store.log.append(LoggedCheckpoint(drafts))
    } catch {
      disk.discard(staged)
      throw error
    }
    try store.closingAfterFailure { () throws(StoreError) in try store.log.syncAll() }
    // From here on the journal knows both versions of each file.
    let folders = try install(drafts, staged, in: store.folder)
    try sync(folders, in: store)  // Before the journal forgets what is in the files.
    return written(drafts, staged, on: disk)
  }

  /// Writes every draft before the first one takes its file's name.
  private static func stage(_ drafts: [TableDraft], on disk: any Disk) throws(StoreError) -> [StagedFile] {
    try onDisk { () throws(DiskError) in
      var staged: [StagedFile] = []
      do throws(DiskError) {
        for draft in drafts {
          if let bytes = draft.bytes { staged.append(try disk.stage(bytes, for: draft.table.file)) }
        }
        return staged
      } catch {
        disk.discard(staged)
        throw error
      }
    }
  }

  /// Gives the drafts their files' names, and removes what was dropped.
  /// - Returns: the folders to sync.
  private static func install(
    _ drafts: [TableDraft], _ staged: [StagedFile], in folder: StoreFolder
  ) throws(StoreError) -> Set<String> {
    let disk = folder.disk
    return try onDisk { () throws(DiskError) in
      var folders = try disk.install(staged)
      for draft in drafts where draft.bytes == nil {
        if try disk.status(draft.table.file) != nil { try disk.remove(draft.table.file) }
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
  private static func written(
    _ drafts: [TableDraft], _ staged: [StagedFile], on disk: any Disk
  ) -> [TableKey: CachedTable] {
    // It is done; a file whose stamp cannot be had is read again next time.
    var stamps = (try? disk.stamps(of: staged))?[...]
    var tables: [TableKey: CachedTable] = [:]
    for draft in drafts {
      var table = draft.table
      table.content = FileContent(draft.version)
      table.stamp = draft.bytes == nil ? nil : stamps?.popFirst()
      tables[draft.key] = table
    }
    return tables
  }
}

/// A table and what its file is to hold; no bytes for a file that is to go.
struct TableDraft {
  let key: TableKey
  let table: CachedTable
  let bytes: [UInt8]?
  let version: FileVersion

  init(key: TableKey, table: CachedTable) {
    self.key = key
    self.table = table
    bytes = table.state.exists ? TableFile.encode(table.state) : nil
    version = FileVersion(bytes)
  }
}

extension LoggedCheckpoint {
  init(_ drafts: [TableDraft]) {
    tables = Dictionary(uniqueKeysWithValues: drafts.map { ($0.key, $0.version) })
  }
}
