import FileDBPlist

private enum Key {
  static let tables = "tables"
  static let existed = "existed"
  static let exists = "exists"
  static let counter = "counter"
  static let entries = "entries"
  static let id = "id"
  static let before = "before"
  static let after = "after"
  static let index = "index"
  static let predecessor = "predecessor"
}

extension UndoStep {
  /// What a file may hold whose records are as deep as those of a table.
  static func limits(_ table: PlistLimits) -> PlistLimits {
    PlistLimits(depth: table.depth + 4, valueBytes: .max, fileBytes: .max)
  }

  /// How many bytes its records have.
  var recordBytes: Int {
    tables.values.reduce(0) { sum, table in
      table.entries.reduce(sum) { $0 + ($1.before?.bytes.count ?? 0) + ($1.after?.bytes.count ?? 0) }
    }
  }

  var plist: PlistValue {
    var tables = PlistDictionary()
    for (key, table) in self.tables { tables[key.text] = table.plist }
    return .dict([Key.tables: .dict(tables)])
  }

  /// `nil` where this is no undo step.
  init?(_ plist: PlistValue) {
    guard let tables = plist.dict?[Key.tables]?.dict else { return nil }
    self.tables = [:]
    for entry in tables {
      guard let table = TableUndo(entry.value) else { return nil }
      self.tables[TableKey(entry.key)] = table
    }
  }
}

extension TableUndo {
  fileprivate var plist: PlistValue {
    .dict([
      Key.existed: .bool(existed), Key.exists: .bool(exists), Key.counter: .integer(counter),
      Key.entries: .array(entries.map(\.plist)),
    ])
  }

  fileprivate init?(_ plist: PlistValue) {
    guard let fields = plist.dict, case .bool(let existed)? = fields[Key.existed],
      case .bool(let exists)? = fields[Key.exists], case .integer(let counter)? = fields[Key.counter],
      case .array(let values)? = fields[Key.entries]
    else { return nil }
    let entries = values.compactMap(Entry.init)
    guard entries.count == values.count else { return nil }
    self.init(existed: existed, exists: exists, counter: counter, entries: entries)
  }
}

extension TableUndo.Entry {
  fileprivate var plist: PlistValue {
    var fields: PlistDictionary = [Key.id: .integer(id.rawValue)]
    fields[Key.before] = before.map { .dict($0.fields.dictionary) }
    fields[Key.after] = after.map { .dict($0.fields.dictionary) }
    fields[Key.index] = place.map { .integer(Int64($0.index)) }
    fields[Key.predecessor] = place?.predecessor.map { .integer($0.rawValue) }
    return .dict(fields)
  }

  fileprivate init?(_ plist: PlistValue) {
    guard let fields = plist.dict, let id = fields[Key.id].flatMap(TableFile.number) else { return nil }
    func record(_ key: String) -> EncodedRecord? {
      fields[key]?.dict.map { EncodedRecord(id: id, fields: Fields($0)) }
    }
    let place = fields[Key.index]?.integer.map {
      TableUndo.Place(index: Int($0), predecessor: fields[Key.predecessor].flatMap(TableFile.number))
    }
    self.init(id: id, before: record(Key.before), after: record(Key.after), place: place)
  }
}
