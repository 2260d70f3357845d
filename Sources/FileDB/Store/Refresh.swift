import FileDBStorage

extension RecordStore {
  /// Reads in what other processes and programs have written since. A write does so by itself, for its tables.
  ///
  /// Afterwards all tables that were read are as of the same commit.
  /// - Throws: as ``table(_:)-(TableName<_>)``, for the first table that cannot be read, once all others have been; it
  ///   stays as it was.
  /// - Complexity: O(1) for an unchanged table; the size of the commits for one that other processes of this library
  ///   changed; O(*n*) for one whose file was replaced.
  public func refresh() throws {
    // Inside a write, whose tables must not change beneath it, there is nothing to read in.
    if writers.currentTransaction != nil { return }
    try writers.enter {
      var (failure, journals): (StoreError?, Int)
      repeat {
        failure = nil
        try log.catchUp()
        journals = log.journalCount
        for table in log.knownTables {
          do throws(StoreError) { _ = try refreshed(table) } catch { failure = failure ?? error }
        }
        try refreshAttached()
        // Where a checkpoint came in between, the tables read before it may be older than those read after.
      } while log.journalCount != journals
      if let failure { throw failure }
    }
  }

  /// The newest committed state of a table, read from the disk the first time.
  func state(of table: TableKey) throws(StoreError) -> TableState {
    let own = if let known = log.published(table) { known } else { try log.load(table) }
    try readAttached(table)
    return try visible.view(of: table, own: own.state)
  }

  /// Reads the attached table of this name, or beneath the one of this name, the first time.
  func readAttached(_ table: TableKey) throws(StoreError) {
    guard let attached = visible.attached else { return }
    _ = try attached.read(attached.table(named: table) ?? table)
  }

  private func refreshAttached() throws {
    guard let attached = visible.attached?.store else { return }
    try attached.refresh()
    log.signals.tell(of: Set(log.knownTables))
  }

  /// A table as the disk has it, read again where its file is not the one that was read. The journal must have been
  /// caught up with.
  func refreshed(_ table: TableKey) throws(StoreError) -> CachedTable {
    guard let known = log.newest(table), !known.isStale else { return try log.load(table) }
    let (file, status) = try folder.file(of: table.text)
    let isSame =
      switch (known.stamp, status?.stamp) {
      case (nil, nil): true
      case (let old?, let new?): file == known.file && new.provesUnchanged(since: old)
      default: false
      }
    return isSame ? known : try log.load(table)
  }
}
