import FileDBPlist
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

extension LoggedCommit {
  /// The property list for the journal. The records must be normalized.
  var payload: [UInt8] {
    let records = changes.flatMap(\.change.records)
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append("<dict>\n" as StaticString)
    if !bases.isEmpty {
      writer.append(key: Key.bases, indentation: 1)
      writer.append(.dict(dictionary(of: bases)), indentation: 1)
    }
    writer.append(key: Key.changes, indentation: 1)
    writer.append(.array(changes.map { .dict($1.plist(table: $0.text)) }), indentation: 1)
    // With room for what follows the records, and for the frame around it all.
    writer.reserve(records.reduce(1_024) { $0 + $1.bytes.count })
    writer.append(key: Key.data, indentation: 1)
    TableFile.append(records, to: &writer) { _ in }
    writer.append(key: Key.date, indentation: 1)
    writer.append(
      .date(Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))), indentation: 1)
    writer.append("</dict>\n" as StaticString)
    writer.append(PlistWriter.footer)
    return writer.bytes
  }

  /// - Parameter depth: of the deepest record.
  init(payload: [UInt8], depth: Int) throws(PayloadFault) {
    var root = try parse(payload, depth: depth)
    guard case .array(let entries)? = root[Key.changes],
      case .array(let values)? = root.removeValue(forKey: Key.data),
      let date = root[Key.date]?.date
    else { throw PayloadFault(message: "it lacks changes, data or date") }
    var records = try values.map { value throws(PayloadFault) in try record(value) }[...]
    self.date = date
    bases = try versions(root[Key.bases])
    changes = []
    for entry in entries {
      guard let entry = entry.dict, let table = entry[Key.table]?.string,
        let change = Change(entry, records: &records)
      else { throw PayloadFault(message: "change \(changes.count + 1) is none") }
      changes.append((TableKey(table), change))
    }
    guard records.isEmpty else { throw PayloadFault(message: "it has more records than its changes") }
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

  init(payload: [UInt8]) throws(PayloadFault) {
    tables = try versions(parse(payload, depth: 3)[Key.tables])
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

private func parse(_ payload: [UInt8], depth: Int) throws(PayloadFault) -> PlistDictionary {
  let root: PlistValue
  let limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)  // Checked when it was written.
  do { root = try PlistParser.parse(payload, limits: limits) } catch {
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

private func versions(_ value: PlistValue?) throws(PayloadFault) -> [TableKey: FileVersion] {
  var result: [TableKey: FileVersion] = [:]
  for entry in value?.dict ?? [:] {
    guard let version = entry.value.string.flatMap(FileVersion.init(text:)) else {
      throw PayloadFault(message: "the version of '\(entry.key)' is none")
    }
    result[TableKey(entry.key)] = version
  }
  return result
}
