import FileDBPlist
import FileDBTables

/// The payloads of journals of format 1, which were property lists. They are only read: the first checkpoint replaces
/// such a journal by one of the present format.
enum JournalFormat1 {
  private enum Key {
    static let bases = "bases"
    static let changes = "changes"
    static let data = "data"
    static let date = "date"
    static let tables = "tables"
    static let table = "table"
    static let change = "change"
    static let count = "count"
    static let row = "row"
    static let id = "id"
    static let ids = "ids"
  }

  /// - Parameter depth: the depth of the deepest record.
  static func commit(_ payload: ArraySlice<UInt8>, depth: Int) throws(PayloadFault) -> JournalCommit {
    let limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)  // Checked when it was written.
    var root = try root(of: payload, limits: limits)
    guard case .array(let entries)? = root[Key.changes],
      case .array(let values)? = root.removeValue(forKey: Key.data),
      let date = root[Key.date]?.date
    else { throw PayloadFault(message: "it lacks changes, data or date") }
    var records = try values.map { value throws(PayloadFault) in try record(value) }[...]
    var commit = JournalCommit(date: date, token: nil, tables: [:], changes: [])
    for (table, version) in try versions(root[Key.bases]) {
      commit.tables[table] = .init(sequence: nil, base: version)
    }
    for entry in entries {
      guard let entry = entry.dict, let table = entry[Key.table]?.string.map(TableKey.init),
        let change = change(entry, taking: &records)
      else { throw PayloadFault(message: "change \(commit.changes.count + 1) cannot be read") }
      commit.changes.append(LoggedChange(change, of: table, found: .nothing))
      commit.tables[table] = commit.tables[table] ?? .init(sequence: nil, base: nil)
    }
    guard records.isEmpty else { throw PayloadFault(message: "it has more records than its changes") }
    return commit
  }

  static func checkpoint(_ payload: ArraySlice<UInt8>) throws(PayloadFault) -> JournalCheckpoint {
    let versions = try versions(root(of: payload, limits: PlistLimits(depth: 3))[Key.tables])
    return JournalCheckpoint(files: versions.mapValues { JournalCheckpoint.File(version: $0, saved: nil) })
  }

  /// In a journal of format 1, a checkpoint is the last frame.
  static func payload(of checkpoint: JournalCheckpoint) -> [UInt8] {
    var versions = PlistDictionary()
    for (table, file) in checkpoint.files {
      versions[table.text] =
        switch file.version {
        case .absent: "absent"
        case .file(let size, let checksum): .string("\(size) \(String(checksum, radix: 16))")
        }
    }
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append(.dict([Key.tables: .dict(versions)]), indentation: 0)
    writer.append(PlistWriter.footer)
    return writer.bytes
  }

  private static func root(
    of payload: ArraySlice<UInt8>, limits: PlistLimits
  ) throws(PayloadFault) -> PlistDictionary {
    let root: PlistValue
    do { root = try PlistParser.parse(Array(payload), limits: limits) } catch {
      throw PayloadFault(message: error.message)
    }
    guard case .dict(let entries) = root else { throw PayloadFault(message: "its root is not a dictionary") }
    return entries
  }

  private static func record(_ value: PlistValue) throws(PayloadFault) -> EncodedRecord {
    guard case .dict(var fields) = value, let id = fields.removeValue(forKey: TableFile.idKey),
      let id = TableFile.number(id)
    else { throw PayloadFault(message: "it holds something that is not a record") }
    return EncodedRecord(id: id, fields: Fields(fields))
  }

  /// A file's size in decimal digits and its checksum in hexadecimal digits, or `absent`.
  private static func versions(_ value: PlistValue?) throws(PayloadFault) -> [TableKey: FileVersion] {
    var versions: [TableKey: FileVersion] = [:]
    for entry in value?.dict ?? [:] {
      let parts = entry.value.string?.split(separator: " ") ?? []
      if parts == ["absent"] {
        versions[TableKey(entry.key)] = .absent
      } else if parts.count == 2, let size = Int(parts[0]), size >= 0,
        let checksum = UInt32(parts[1], radix: 16)
      {
        versions[TableKey(entry.key)] = .file(size: size, checksum: checksum)
      } else {
        throw PayloadFault(message: "the version of '\(entry.key)' cannot be read")
      }
    }
    return versions
  }

  /// - Parameter records: the records of the commit that no earlier change has used.
  private static func change(
    _ entry: PlistDictionary, taking records: inout ArraySlice<EncodedRecord>
  ) -> Change? {
    let row = entry[Key.row]?.integer.map(Int.init)
    switch entry[Key.change]?.string {
    case "create": return .create
    case "drop": return .drop
    case "removeAll": return .removeAll
    case "truncate": return .truncate
    case "insert":
      guard let row, let count = entry[Key.count]?.integer.map(Int.init), (0...records.count).contains(count)
      else { return nil }
      defer { records.removeFirst(count) }
      return .insert(Array(records.prefix(count)), index: row)
    case "replace": return records.popFirst().map(Change.replace)
    case "move":
      guard let row, let id = entry[Key.id]?.integer.flatMap(AnyRecordID.init(rawValue:)) else { return nil }
      return .move(id, index: row)
    case "remove": return ids(entry).map(Change.remove)
    case "reorder": return ids(entry).map(Change.reorder)
    default: return nil
    }
  }

  private static func ids(_ entry: PlistDictionary) -> [AnyRecordID]? {
    guard let words = entry[Key.ids]?.string?.split(separator: " ") else { return nil }
    let ids = words.compactMap { AnyRecordID(String($0)) }
    return ids.count == words.count ? ids : nil
  }
}
