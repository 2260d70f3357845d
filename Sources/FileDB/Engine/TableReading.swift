import FileDBPlist
import FileDBStorage
import FileDBTables

/// How a store reads its tables' files.
package enum TableReading: Sendable {
  /// As a whole. A snapshot then stays the same, whatever happens to the file.
  case whole
  /// In pieces, when somebody looks at records. This is for a program that does one thing and ends.
  ///
  /// If another program writes into the file during this, reading cannot continue, and `giveUp` is called. It may start
  /// the program again with ``whole``. The store never contains anything half done. FileDB itself never writes into a
  /// table's file. It replaces the file, and the former one can still be read to its end.
  case pieces(giveUp: @Sendable (StoreError) -> Never)
}

/// A table's file as it was read.
struct ReadFile {
  let path: String
  let content: FileContent
  /// `nil` if there is no file.
  let stamp: FileStamp?
  let table: Result<TableState, StoreError>
}

extension FileLog {
  /// Reads a table's file, or gets ready to read it in pieces.
  func readFile(of table: TableKey) throws(StoreError) -> ReadFile {
    if case .pieces(let giveUp) = options.reading, let file = try unreadFile(of: table, giveUp) {
      return file
    }
    let (path, content) = try folder.readFile(of: table, limits: options.limits)
    guard let content else {
      let counter = try folder.keptCounters()[table] ?? 0
      return ReadFile(
        path: path, content: FileContent(.absent), stamp: nil,
        table: .success(TableState(counter: counter, shape: options.shape)))
    }
    let fileContent = FileContent(content.bytes)
    let decoded = Result { () throws(StoreError) in
      try TableFile.decodeWithOffsets(
        content.bytes, file: path, table: table.text, limits: options.limits, shape: options.shape)
    }
    if case .pieces = options.reading, case .success((let state, let offsets?)) = decoded,
      mayStayUnread(content.stamp)
    {
      var lookups = state.emptyLookups
      if !lookups.isEmpty { for record in state.records { lookups.add(record) } }
      folder.writeOffsets(
        KnownOffsets(stamp: content.stamp, version: fileContent.version, offsets: offsets), lookups, of: table
      )
    }
    return ReadFile(path: path, content: fileContent, stamp: content.stamp, table: decoded.map(\.0))
  }

  /// - Returns: `nil` if it is unknown where the file's records are.
  private func unreadFile(
    of table: TableKey, _ giveUp: @escaping @Sendable (StoreError) -> Never
  ) throws(StoreError) -> ReadFile? {
    let (path, status) = try folder.file(of: table.text)
    guard let status, status.kind == .file, mayStayUnread(status.stamp),
      let known = folder.offsets(of: table, for: status.stamp),
      known.offsets.chunkLength <= options.shape.chunk,
      let file = try? disk.open(path), let stamp = try? file.status().stamp,
      stamp.provesUnchanged(since: known.stamp),
      let records = UnreadTable(
        file, known, of: table, in: folder, limits: options.limits, path: path, giveUp: giveUp)
    else { return nil }
    let state = TableState(
      records, counter: records.rest.counter, foreignKeys: records.rest.foreignKeys, shape: options.shape)
    let isNamed = self.state.withLock { $0.names(known.version, of: table) }
    return ReadFile(
      path: path, content: isNamed ? FileContent(known.version) : FileContent(records), stamp: known.stamp,
      table: .success(state))
  }

  /// Whether a file is long enough for reading in pieces to pay.
  func mayStayUnread(_ stamp: FileStamp) -> Bool {
    stamp.size >= options.leastUnread && stamp.size <= options.limits.fileBytes
  }
}

extension FileLog.State {
  /// Whether the journal names this version of a table's file.
  fileprivate func names(_ version: FileVersion, of table: TableKey) -> Bool {
    pending[table]?.lastCommit(in: version) != nil || written[table]?.known.version == version
  }
}
