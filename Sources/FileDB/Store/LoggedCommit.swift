import FileDBPlist
import FileDBStorage
import Foundation

/// A transaction as the journal holds it: a property list with the changes and, in the very bytes that a table's file has
/// for them, the records. Described in <doc:Journal>.
struct LoggedCommit: Sendable {
  var date: Date
  /// What the files of those tables are that this journal changes here for the first time.
  var bases: [TableKey: FileVersion]
  var changes: [(table: TableKey, change: Change)]

  var tables: Set<TableKey> { Set(changes.map(\.table)) }
}

/// What a checkpoint is about to make of the tables' files.
struct LoggedCheckpoint: Sendable {
  var tables: [TableKey: FileVersion]
}

/// A frame whose bytes are as they were written, and say nothing that this library understands.
struct PayloadFault: Error {
  let message: String
}

/// The keys of a frame's property list.
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

/// Writes the property list of a commit for the journal. The records must be normalized.
struct CommitEncoder: PayloadSource {
  let commit: LoggedCommit
  /// How long a piece is at least, but for the last.
  let pieceLength: Int

  func writePayload<Failure>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    var writer = PlistWriter()
    func handOnLongPiece(_ writer: inout PlistWriter) throws(Failure) {
      guard writer.bytes.count >= pieceLength else { return }
      try sink(writer.bytes)
      writer.removeAll()
    }
    writer.append(PlistWriter.header)
    writer.append("<dict>\n" as StaticString)
    if !commit.bases.isEmpty {
      writer.append(key: Key.bases, indentation: 1)
      writer.append(.dict(dictionary(of: commit.bases)), indentation: 1)
    }
    writer.append(key: Key.changes, indentation: 1)
    writer.append("\t<array>\n" as StaticString)
    for (table, change) in commit.changes {
      writer.append(.dict(change.plist(table: table.text)), indentation: 2)
      try handOnLongPiece(&writer)
    }
    writer.append("\t</array>\n" as StaticString)
    // With room for what follows the records, and for the frame around it all.
    writer.reserve(min(commit.records.reduce(0) { $0 + $1.bytes.count }, pieceLength) + 1_024)
    writer.append(key: Key.data, indentation: 1)
    try TableFile.append(commit.records, to: &writer, afterEach: handOnLongPiece)
    writer.append(key: Key.date, indentation: 1)
    writer.append(
      .date(Date(timeIntervalSince1970: commit.date.timeIntervalSince1970.rounded(.down))), indentation: 1)
    writer.append("</dict>\n" as StaticString)
    writer.append(PlistWriter.footer)
    try sink(writer.bytes)
  }
}

extension LoggedCommit {
  /// The whole property list for the journal.
  var payload: [UInt8] {
    var payload: [UInt8] = []
    CommitEncoder(commit: self, pieceLength: .max).writePayload { payload = $0 }
    return payload
  }

  /// The records of all changes, in order.
  fileprivate var records: LoggedRecords { LoggedRecords(changes: changes) }

  /// - Parameter depth: of the deepest record.
  init(payload: ArraySlice<UInt8>, depth: Int) throws(PayloadFault) {
    let limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)  // Checked when it was written.
    if let commit = CanonicalCommit.decode(payload, limits: limits) {
      self = commit
    } else {
      self = try Self.parse(payload, limits: limits)
    }
  }

  /// A commit that somebody else wrote.
  static func parse(_ payload: ArraySlice<UInt8>, limits: PlistLimits) throws(PayloadFault) -> LoggedCommit {
    var root = try root(of: payload, limits: limits)
    guard case .array(let entries)? = root[Key.changes],
      case .array(let values)? = root.removeValue(forKey: Key.data),
      let date = root[Key.date]?.date
    else { throw PayloadFault(message: "it lacks changes, data or date") }
    var records = try values.map { value throws(PayloadFault) in try record(value) }[...]
    var commit = LoggedCommit(date: date, bases: try Dictionary(root[Key.bases]), changes: [])
    for entry in entries {
      guard let entry = entry.dict, commit.add(entry, taking: &records) else {
        throw PayloadFault(message: "change \(commit.changes.count + 1) is none")
      }
    }
    guard records.isEmpty else { throw PayloadFault(message: "it has more records than its changes") }
    return commit
  }

  /// Adds a change as the journal has it.
  /// - Parameter records: those of the commit that no change has taken yet.
  /// - Returns: false where it is none.
  mutating func add(_ entry: PlistDictionary, taking records: inout ArraySlice<StoredRecord>) -> Bool {
    guard let table = entry[Key.table]?.string, let change = Change(entry, records: &records) else {
      return false
    }
    changes.append((TableKey(table), change))
    return true
  }
}

/// The records of some changes, one after another.
private struct LoggedRecords: Sequence, IteratorProtocol {
  private var changes: ArraySlice<(table: TableKey, change: Change)>
  /// What is left of the change before them.
  private var records: ArraySlice<StoredRecord> = []

  init(changes: [(table: TableKey, change: Change)]) { self.changes = changes[...] }

  mutating func next() -> StoredRecord? {
    while records.isEmpty {
      guard let (_, change) = changes.popFirst() else { return nil }
      switch change {
      case .insert(let inserted, _): records = inserted[...]
      case .replace(let record): return record
      case .create, .drop, .remove, .move, .reorder, .removeAll, .truncate: break
      }
    }
    return records.popFirst()
  }
}

extension LoggedCheckpoint {
  var payload: [UInt8] {
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append(.dict([Key.tables: .dict(dictionary(of: tables))]), indentation: 0)
    writer.append(PlistWriter.footer)
    return writer.bytes
  }

  init(payload: ArraySlice<UInt8>) throws(PayloadFault) {
    tables = try Dictionary(root(of: payload, limits: PlistLimits(depth: 3))[Key.tables])
  }
}

extension Change {
  /// The records that come with this change, in order.
  var records: [StoredRecord] {
    switch self {
    case .insert(let records, _): records
    case .replace(let record): [record]
    case .create, .drop, .remove, .move, .reorder, .removeAll, .truncate: []
    }
  }

  /// The change without its records.
  fileprivate func plist(table: String) -> PlistDictionary {
    var entry: PlistDictionary = [Key.change: .string(name), Key.table: .string(table)]
    switch self {
    case .create, .drop, .replace, .removeAll, .truncate: break
    case .insert(let records, let row):
      entry[Key.count] = .integer(Int64(records.count))
      entry[Key.row] = .integer(Int64(row))
    case .move(let id, let row):
      entry[Key.id] = .integer(id.rawValue)
      entry[Key.row] = .integer(Int64(row))
    case .remove(let ids), .reorder(let ids):
      entry[Key.ids] = .string(ids.map(\.description).joined(separator: " "))
    }
    return entry
  }

  /// What a change is called in the journal.
  var name: String {
    switch self {
    case .create: "create"
    case .drop: "drop"
    case .insert: "insert"
    case .replace: "replace"
    case .remove: "remove"
    case .move: "move"
    case .reorder: "reorder"
    case .removeAll: "removeAll"
    case .truncate: "truncate"
    }
  }

  /// - Parameter records: those of the commit that no change has taken yet.
  fileprivate init?(_ entry: PlistDictionary, records: inout ArraySlice<StoredRecord>) {
    let row = entry[Key.row]?.integer.map(Int.init)
    switch entry[Key.change]?.string {
    case "create": self = .create
    case "drop": self = .drop
    case "removeAll": self = .removeAll
    case "truncate": self = .truncate
    case "insert":
      guard let row, let count = entry[Key.count]?.integer.map(Int.init), (0...records.count).contains(count)
      else { return nil }
      self = .insert(Array(records.prefix(count)), row: row)
      records.removeFirst(count)
    case "replace":
      guard let record = records.popFirst() else { return nil }
      self = .replace(record)
    case "move":
      guard let row, let id = entry[Key.id]?.integer.flatMap(RecordID.init(rawValue:)) else { return nil }
      self = .move(id, row: row)
    case "remove":
      guard let ids = Self.ids(entry) else { return nil }
      self = .remove(ids)
    case "reorder":
      guard let ids = Self.ids(entry) else { return nil }
      self = .reorder(ids)
    default: return nil
    }
  }

  private static func ids(_ entry: PlistDictionary) -> [RecordID]? {
    guard let words = entry[Key.ids]?.string?.split(separator: " ") else { return nil }
    let ids = words.compactMap { RecordID(String($0)) }
    return ids.count == words.count ? ids : nil
  }
}

private func root(of payload: ArraySlice<UInt8>, limits: PlistLimits) throws(PayloadFault) -> PlistDictionary
{
  let root: PlistValue
  do { root = try PlistParser.parse(Array(payload), limits: limits) } catch {
    throw PayloadFault(message: error.message)
  }
  guard case .dict(let entries) = root else { throw PayloadFault(message: "its root is no dictionary") }
  return entries
}

private func record(_ value: PlistValue) throws(PayloadFault) -> StoredRecord {
  guard case .dict(var fields) = value, let id = fields.removeValue(forKey: TableFile.idKey),
    let id = TableFile.number(id)
  else { throw PayloadFault(message: "it holds what is no record") }
  return StoredRecord(id: id, record: Record(fields: fields))
}

private func dictionary(of versions: [TableKey: FileVersion]) -> PlistDictionary {
  var result = PlistDictionary()
  for (table, version) in versions { result[table.text] = .string(version.text) }
  return result
}

extension [TableKey: FileVersion] {
  /// - Parameter value: from the journal; `nil` for none.
  init(_ value: PlistValue?) throws(PayloadFault) {
    self = [:]
    for entry in value?.dict ?? [:] {
      guard let version = entry.value.string.flatMap(FileVersion.init(text:)) else {
        throw PayloadFault(message: "the version of '\(entry.key)' is none")
      }
      self[TableKey(entry.key)] = version
    }
  }
}
