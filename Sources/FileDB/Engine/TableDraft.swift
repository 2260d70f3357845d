import FileDBStorage
import FileDBTables

/// Which tables a checkpoint writes.
package enum CheckpointScope: Sendable {
  /// All tables that have commits in the journal.
  case all
  /// The tables for which it pays: adding one record must not rewrite a large file. A file of at least this size waits
  /// until its commits have 1/8 of its size.
  case due(largeFile: Int)

  func contains(_ table: PendingTable) -> Bool {
    switch self {
    case .all: true
    case .due(let largeFile):
      table.exists == false || table.fileSize < largeFile || table.waitingBytes >= table.fileSize / 8
    }
  }
}

/// The files that a checkpoint has written.
package struct WrittenTables {
  /// The ``TableBase/number`` of each file that was written.
  package internal(set) var numbers: [TableKey: Int] = [:]
  /// The tables that are in conflict with what another program saved. Their commits stay in the journal.
  package internal(set) var conflicts: [TableKey: StoreError] = [:]

  /// The conflict of the first of them.
  package var conflict: StoreError? { conflicts.min { $0.key < $1.key }?.value }
}

/// A table with all its commits.
package struct NewestTable {
  package let state: TableState
  /// The ``TableBase/number`` of the base that it was made from.
  package let base: Int

  package init(state: TableState, base: Int) { (self.state, self.base) = (state, base) }
}

/// A table that is to be written to its file, or whose file is to be removed.
struct TableDraft {
  let key: TableKey
  let state: TableState
  /// The file that it was made from. Another program may have saved it.
  var base: FileVersion?
  /// The version that a repair has read and may replace. `nil` if it is one that the journal knows.
  var repaired: FileVersion?
}

/// A table whose new file is written and synced, but does not have its name yet.
struct StagedTable {
  let draft: TableDraft
  let path: String
  /// `nil` if the file is to be removed.
  let file: StagedFile?
  let version: FileVersion
  /// `nil` if the file is to be removed.
  let offsets: TableOffsets?
  /// Complete with all records.
  let lookups: [LookupDraft]

  init(_ draft: TableDraft, in folder: StoreFolder) throws(StoreError) {
    self.draft = draft
    path = try folder.file(of: draft.key.text).path
    guard draft.state.exists else {
      (file, version, offsets, lookups) = (nil, .absent, nil, [])
      return
    }
    var checksum = Checksum()
    var size = 0
    var offsets: TableOffsets?
    var lookups = draft.state.emptyLookups
    let visit = { (record: EncodedRecord) in lookups.add(record) }
    file = try folder.disk.stage(path, mostOpen: folder.modeOfNewTables()) { file throws(DiskError) in
      offsets = try TableFile.encode(draft.state, visiting: visit) { piece throws(DiskError) in
        piece.withUnsafeBytes { checksum.update($0) }
        size += piece.count
        try file.append(piece)
      }
    }
    version = .file(size: size, checksum: checksum.value)
    (self.offsets, self.lookups) = (offsets, lookups)
  }
}
