import FileDBPlist
import FileDBTables

/// The conflicts of a table's last merge. `.filedb/conflicts` keeps them until they are settled.
package struct OpenConflicts: Sendable {
  /// Identifies the versions of the file that git had in conflict; `nil` if it had none. If git has other versions,
  /// these are no longer the conflicts of the table.
  package let gitVersions: String?
  package var conflicts: [MergeConflict]

  package init(gitVersions: String?, conflicts: [MergeConflict]) {
    (self.gitVersions, self.conflicts) = (gitVersions, conflicts)
  }
}

extension RecordStore {
  /// The conflicts that are kept for a table; `nil` if there are none.
  /// - Throws: ``StoreError/Code/damagedTable`` if they cannot be read, and the disk's errors.
  package func openConflicts(of table: String) throws -> OpenConflicts? {
    let file = try folder.conflictFile(of: table)
    let bytes: [UInt8]
    do { bytes = try folder.disk.read(file).bytes } catch StoreError.Code.fileNotFound { return nil }
    // The fields of a record are one level deeper than in a table.
    let limits = PlistLimits(depth: options.limits.depth + 1, valueBytes: .max, fileBytes: .max)
    guard let conflicts = (try? PlistParser.parse(bytes, limits: limits)).flatMap(OpenConflicts.init(plist:))
    else {
      throw StoreError(
        .damagedTable, "the conflicts of the last merge cannot be read; remove this file to forget them",
        file: file, table: table)
    }
    return conflicts
  }

  /// Keeps the conflicts of a table. If none are left, and git has no conflict either, nothing is kept.
  /// - Throws: the disk's errors, ``StoreError/Code/locked``.
  package func keep(_ conflicts: OpenConflicts, of table: String) throws {
    try exclusively(timeout: options.lockTimeout) { try folder.write(conflicts, of: table) }
  }

  /// Keeps these conflicts besides those that nobody has settled yet, but for those of a merge by git.
  /// - Throws: as ``openConflicts(of:)`` and ``keep(_:of:)``.
  package func keepAlso(_ conflicts: [MergeConflict], of table: String) throws {
    let newest = try self.table(table).snapshot()
    try exclusively(timeout: options.lockTimeout) {
      let kept = try openConflicts(of: table)
      let former = kept?.gitVersions == nil ? kept?.conflicts.filter { $0.isOpen(in: newest) } ?? [] : []
      let known = Set(former.compactMap(\.plist))
      let new = conflicts.filter { conflict in conflict.plist.map { !known.contains($0) } ?? false }
      try folder.write(OpenConflicts(gitVersions: nil, conflicts: former + new), of: table)
    }
  }
}

extension MergeConflict {
  /// Whether a table still has the result of the merge. If not, somebody has settled the conflict.
  package func isOpen(in snapshot: TableSnapshot<Fields>) -> Bool {
    guard let record else {
      if case .order(let ours, _) = kind {
        let ids = snapshot.state.records.ids
        return ids.ordered(as: ours) == ids
      }
      guard case .field(let name, _, let ours, _) = kind else { return false }
      // A part of the schema is not a root key of its own.
      return name.hasPrefix("\(TableFile.schemaKey).") || snapshot.state.foreignKeys[name] == ours
    }
    let fields = snapshot[id: RecordID(record)]?.fields
    return switch kind {
    case .field(let name, _, let ours, _): fields.map { $0[name] == ours } ?? false
    case .deletedByOurs(_, let theirs): fields == theirs
    case .deletedByTheirs(_, let ours): fields == ours
    case .rule, .order: false  // A check reports a broken rule. An order is none of a single record.
    }
  }
}

// MARK: - The file

extension StoreFolder {
  /// Needs the lock.
  func write(_ conflicts: OpenConflicts, of table: String) throws(StoreError) {
    let file = try conflictFile(of: table)
    if conflicts.conflicts.isEmpty, conflicts.gitVersions == nil {
      if try disk.status(file) != nil { try disk.remove(file) }
      return
    }
    try disk.createFolder(conflictFolder)
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append(conflicts.plist, indentation: 0)
    writer.append(PlistWriter.footer)
    try disk.replace(file, with: writer.bytes)
  }
}

extension OpenConflicts {
  fileprivate var plist: PlistValue {
    var plist = PlistDictionary()
    plist["gitVersions"] = gitVersions.map(PlistValue.string)
    plist["conflicts"] = .array(conflicts.compactMap(\.plist).map(PlistValue.dict))
    return .dict(plist)
  }

  /// - Returns: `nil` if this is something else.
  fileprivate init?(plist: PlistValue) {
    guard let all = plist.dict?["conflicts"]?.array else { return nil }
    gitVersions = plist.dict?["gitVersions"]?.string
    var lists = RecordIDList.Reader()
    let read = all.compactMap { conflict in conflict.dict.flatMap { MergeConflict(plist: $0, &lists) } }
    guard read.count == all.count else { return nil }
    conflicts = read
  }
}

extension MergeConflict {
  /// `nil` for a conflict that is not kept.
  fileprivate var plist: PlistDictionary? {
    var plist = PlistDictionary()
    plist["record"] = record.map { .string($0.description) }
    switch kind {
    case .field(let name, let base, let ours, let theirs):
      plist["kind"] = "field"
      plist["field"] = .string(name)
      (plist["base"], plist["ours"], plist["theirs"]) = (base, ours, theirs)
    case .deletedByOurs(let base, let theirs):
      plist["kind"] = "deletedByOurs"
      (plist["base"], plist["theirs"]) = (.dict(base.dictionary), .dict(theirs.dictionary))
    case .deletedByTheirs(let base, let ours):
      plist["kind"] = "deletedByTheirs"
      (plist["base"], plist["ours"]) = (.dict(base.dictionary), .dict(ours.dictionary))
    case .order(let ours, let theirs):
      plist["kind"] = "order"
      plist["ours"] = .string(RecordIDList.text(ours))
      plist["theirs"] = .string(RecordIDList.text(theirs))
    case .rule: return nil
    }
    return plist
  }

  fileprivate init?(plist: PlistDictionary, _ lists: inout RecordIDList.Reader) {
    let (base, ours, theirs) = (plist["base"], plist["ours"], plist["theirs"])
    record = plist["record"]?.string.flatMap { AnyRecordID($0) }
    switch plist["kind"]?.string {
    case "field":
      guard let name = plist["field"]?.string else { return nil }
      kind = .field(name, base: base, ours: ours, theirs: theirs)
    case "deletedByOurs":
      guard let base = base?.dict, let theirs = theirs?.dict else { return nil }
      kind = .deletedByOurs(base: Fields(base), theirs: Fields(theirs))
    case "deletedByTheirs":
      guard let base = base?.dict, let ours = ours?.dict else { return nil }
      kind = .deletedByTheirs(base: Fields(base), ours: Fields(ours))
    case "order":
      guard let ours = ours?.string.flatMap({ lists.ids($0) }),
        let theirs = theirs?.string.flatMap({ lists.ids($0) })
      else { return nil }
      kind = .order(ours: ours, theirs: theirs)
    default: return nil
    }
  }
}
