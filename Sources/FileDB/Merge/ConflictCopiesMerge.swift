import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables

/// The steps of ``RecordStore/merge(_:)``.
package struct ConflictCopiesMerge {
  private struct Version {
    let copy: ConflictCopy
    let state: TableState
    let stamp: FileStamp?
  }

  private let store: RecordStore
  private let versions: [Version]

  /// Reads the copies.
  /// - Throws: as ``RecordStore/merge(_:)``.
  package init(_ copies: [ConflictCopy], in store: RecordStore) throws {
    guard store.writers.currentTransaction == nil else {
      throw StoreError(
        .insideWrite, "copies cannot be merged in a transaction, because their files are moved")
    }
    self.store = store
    let disk = store.visibleFolder?.disk ?? .system
    versions = try copies.map { copy in
      try Self.checkIsNoTable(copy, of: store)
      // The stamp first: what another program saves now is not lost.
      let stamp = try disk.status(copy.url.path)?.stamp
      let snapshot = try TableSnapshot<Fields>(contentsOf: copy.url, on: disk, limits: store.options.limits)
      return Version(copy: copy, state: snapshot.state, stamp: stamp)
    }
  }

  /// A name for the undo step.
  package var name: String {
    let tables = Set(versions.map { TableKey($0.copy.table) }).sorted().map(\.text).joined(separator: ", ")
    return "merge of \(tables) with \(versions.count == 1 ? "a copy" : "\(versions.count) copies")"
  }

  private static func checkIsNoTable(_ copy: ConflictCopy, of store: RecordStore) throws {
    guard let folder = store.visibleFolder,
      copy.url.deletingLastPathComponent().standardizedFileURL.path == folder.path
    else { return }
    let name = folder.table(of: copy.url.lastPathComponent)
    guard try TableKey(name) == TableKey(copy.table) || store.table(name).commitsBehind > 0 else { return }
    throw StoreError(
      .tableExists, "the file is no copy, but a table into which commits go", file: copy.url.path, table: name
    )
  }

  /// Changes the tables. It may run more than once.
  package func carryOut(in transaction: inout StoreTransaction) throws -> [ConflictCopyMerge] {
    var merges: [ConflictCopyMerge] = []
    for version in versions {
      let table = try transaction[version.copy.table]
      let ours = try table.snapshot().state
      guard ours.exists else { throw missing(version.copy) }
      let merge =
        try version.copy.base.map { try RecordsMerge(base: $0.state, ours: ours, copy: version.state) }
        ?? RecordsMerge(ours: ours, copy: version.state)
      for change in ours.changes(to: merge.merged) {
        try transaction.state.apply(change, to: version.copy.table)
      }
      merges.append(ConflictCopyMerge(of: version.copy, version.state, into: ours, merge))
    }
    let references = RenumberedReferences(merges)
    for index in merges.indices { try references.follow(&merges[index], in: &transaction) }
    return merges
  }

  private func missing(_ copy: ConflictCopy) -> StoreError {
    StoreError(
      .tableNotFound, "there is no such table; to make one of the copy, give it the name of the table",
      file: copy.url.path, table: copy.table)
  }

  /// Keeps the conflicts, and moves the copies into the backups. If the program ends before, the copies are merged
  /// again, with the same result.
  package func finish(_ merges: [ConflictCopyMerge]) throws -> [ConflictCopyMerge] {
    for merge in merges where !merge.conflicts.isEmpty {
      try store.keepAlso(merge.conflicts, of: merge.copy.table)
    }
    guard let folder = store.visibleFolder else { return merges }
    return try store.exclusively(timeout: store.options.lockTimeout) {
      try zip(merges, versions).map { merge, version in
        var merge = merge
        merge.backup = try Self.moveToBackups(version, of: folder)
        return merge
      }
    }
  }

  private static func moveToBackups(_ version: Version, of folder: StoreFolder) throws -> URL? {
    let path = version.copy.url.path
    let (bytes, stamp) = try folder.disk.read(path)
    guard stamp == version.stamp else { return nil }
    let backup = try folder.keepBackup(of: path, bytes)
    try folder.disk.remove(path)
    return URL(fileURLWithPath: backup)
  }
}

extension ConflictCopyMerge {
  fileprivate init(of copy: ConflictCopy, _ state: TableState, into ours: TableState, _ merge: RecordsMerge) {
    self.copy = copy
    before = ours
    for record in merge.merged.records {
      switch ours.record(record.id) {
      case nil: added.append(record.id)
      case let former?: if !former.hasSameBytes(as: record) { changed.append(record.id) }
      }
    }
    if copy.base != nil { removed = ours.records.ids.filter { merge.merged.record($0) == nil } }
    conflicts = merge.conflicts.filter { conflict in
      if case .rule = conflict.kind { return false }  // The transaction throws it.
      return true
    }
    renumbered = merge.renumbered
    let keys =
      ours.foreignKeys.map(\.key) + state.foreignKeys.map(\.key).filter { ours.foreignKeys[$0] == nil }
    otherKeys = keys.filter { ours.foreignKeys[$0] != state.foreignKeys[$0] }
  }
}

/// The records of copies that got new ids, and the fields of other records from the same machine that refer to them.
private struct RenumberedReferences {
  private struct Place: Hashable {
    let machine: String
    let table: TableKey
  }

  private var newIDs: [Place: [Int64: Int64]] = [:]

  init(_ merges: [ConflictCopyMerge]) {
    for merge in merges {
      for renumbering in merge.renumbered where renumbering.side == .theirs {
        let place = Place(machine: merge.copy.machine, table: TableKey(merge.copy.table))
        newIDs[place, default: [:]][renumbering.oldID.rawValue] = renumbering.newID.rawValue
      }
    }
  }

  /// Corrects what a copy has brought into its table, and the values of the copy in the conflicts.
  func follow(_ merge: inout ConflictCopyMerge, in transaction: inout StoreTransaction) throws {
    let table = try transaction[merge.copy.table]
    for field in try table.snapshot().state.schema.schema?.fields ?? [] {
      guard let rule = field.references, rule.isToID,
        let newIDs = newIDs[Place(machine: merge.copy.machine, table: rule.tableKey)]
      else { continue }
      func renumbered(_ value: PlistValue?) -> PlistValue? {
        value?.integer.flatMap { newIDs[$0] }.map(PlistValue.integer)
      }
      for id in merge.added + merge.changed {
        let record = RecordID<Fields>(id)
        let value = try table.snapshot()[id: record]?.fields[field.name]
        guard let new = renumbered(value), merge.before.record(id)?.fields[field.name] != value else {
          continue
        }
        try table.set(Fields([field.name: new]), of: record)
      }
      merge.conflicts = merge.conflicts.map { conflict in
        guard case .field(field.name, let base, let ours, let theirs) = conflict.kind,
          let new = renumbered(theirs)
        else { return conflict }
        return MergeConflict(
          record: conflict.record, kind: .field(field.name, base: base, ours: ours, theirs: new))
      }
    }
  }
}
