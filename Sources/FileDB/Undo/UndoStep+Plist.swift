import FileDBPlist

/// A table's file from before a write. The undo log keeps it instead of the records that the write removed.
struct FormerFile {
  /// Its name in the undo log's folder.
  let name: String
  let version: FileVersion
}

private enum Key {
  static let existed = "existed"
  static let exists = "exists"
  static let counter = "counter"
  static let added = "added"
  static let removed = "removed"
  static let moved = "moved"
  static let updated = "updated"
  static let before = "before"
  static let after = "after"
  static let file = "file"
  static let id = "id"
  static let fields = "fields"
  static let name = "name"
  static let place = "place"
  static let size = "size"
  static let checksum = "checksum"
  static let schema = "schema"
  static let rules = "rules"
  static let misfits = "misfits"
}

extension UndoStep {
  /// The limits of a file whose records are as deep as those of a table.
  static func limits(_ table: PlistLimits) -> PlistLimits {
    PlistLimits(depth: table.depth + 6, valueBytes: .max, fileBytes: .max)
  }

  /// The step as a property list, in pieces. It may be as large as the tables.
  /// - Parameter files: the former files of tables, for those that contain the removed records.
  func document(_ files: [TableKey: FormerFile], limits: PlistLimits) throws(PlistError) -> [[UInt8]] {
    if tables.isEmpty { return [try PlistWriter.document(.dict([:]), limits: limits)] }
    let plist = try PlistDictionary(
      lastOf: tables.map { .init(key: $0.text, value: .dict($1.plist(files[$0]))) }
    ).normalized(limits: limits)
    var writer = StepWriter()
    for entry in plist {
      guard let table = tables[TableKey(entry.key)], let values = entry.value.dict else { continue }
      writer.append(key: entry.key, values, table.lists(files[TableKey(entry.key)]))
    }
    return writer.document()
  }

  /// - Parameters:
  ///   - document: what ``document(_:limits:)`` wrote.
  ///   - former: reads a table's former file.
  /// - Returns: `nil` if this is not an undo step.
  init?(
    _ document: UnsafeRawBufferPointer, limits: PlistLimits,
    reading former: (TableKey, FormerFile) throws(StoreError) -> TableState
  ) throws(StoreError) {
    tables = [:]
    var scanner = CanonicalScanner(document, limits: limits)
    guard let root = scanner.scanDocument(), root.kind == .dict else { return nil }
    let reader = CanonicalReader(document)
    var lists = RecordIDList.Reader()
    var entries = reader.entries(of: root)
    while let (name, element) = entries.next() {
      let key = TableKey(reader.text(name))
      guard element.kind == .dict,
        let table = try TableUndo(
          reader, element, &lists, reading: { file throws(StoreError) in try former(key, file) })
      else { return nil }
      tables[key] = table
    }
  }
}

/// Writes a step. The lists of a table may be as long as the table, so no value is made of a whole list.
private struct StepWriter {
  struct List {
    let key: String
    let count: Int
    let value: (Int) -> PlistValue
  }

  private static let pieceLength = 1 << 20
  private var pieces: [[UInt8]] = []
  private var writer = PlistWriter()

  init() {
    writer.append(PlistWriter.header)
    writer.append("<dict>\n" as StaticString)
  }

  /// Appends a table's dictionary.
  /// - Parameter lists: further entries of it, in the order of their keys.
  mutating func append(key: String, _ values: PlistDictionary, _ lists: [List]) {
    writer.append(key: key, indentation: 1)
    writer.append("\t<dict>\n" as StaticString)
    var lists = lists[...]
    for entry in values {
      while let list = lists.first, list.key < entry.key {
        append(list)
        lists.removeFirst()
      }
      writer.append(key: entry.key, indentation: 2)
      writer.append(entry.value, indentation: 2)
    }
    for list in lists { append(list) }
    writer.append("\t</dict>\n" as StaticString)
  }

  private mutating func append(_ list: List) {
    writer.append(key: list.key, indentation: 2)
    guard list.count > 0 else { return writer.append(.array([]), indentation: 2) }
    writer.append("\t\t<array>\n" as StaticString)
    for number in 0..<list.count {
      writer.append(list.value(number), indentation: 3)
      if writer.bytes.count >= Self.pieceLength { endPiece() }
    }
    writer.append("\t\t</array>\n" as StaticString)
  }

  private mutating func endPiece() {
    pieces.append(writer.bytes.withUnsafeBytes { [UInt8]($0) })
    writer.removeAll()
  }

  mutating func document() -> [[UInt8]] {
    writer.append("</dict>\n" as StaticString)
    writer.append(PlistWriter.footer)
    endPiece()
    return pieces
  }
}

extension UndoStep {
  /// Whether tables may hold all that this step puts back. The step's own file may be nested deeper than a table's.
  func fits(_ limits: PlistLimits) -> Bool {
    tables.values.allSatisfy { table in
      let updated = table.updated.lazy.map { record in
        PlistDictionary(
          lastOf: record.fields.compactMap { field in field.before.map { .init(key: field.name, value: $0) } }
        )
      }
      let fits = { (fields: PlistDictionary) in
        (try? fields.normalized(depth: TableFile.depthOfFields - 1, limits: limits)) != nil
      }
      return table.removed.allSatisfy { fits($0.record.fields.dictionary) } && updated.allSatisfy(fits)
        && table.schema?.before.map { (try? $0.normalized(depth: 1, limits: limits)) != nil } ?? true
    }
  }
}

extension TableUndo {
  /// The lists of the records that were moved, removed and changed; without the removed ones if a file contains them.
  fileprivate func lists(_ file: FormerFile?) -> [StepWriter.List] {
    let moves = StepWriter.List(key: Key.moved, count: moved.count) { .string(moved[$0].words) }
    let removals = StepWriter.List(key: Key.removed, count: removed.count) { removed[$0].plist }
    let updates = StepWriter.List(key: Key.updated, count: updated.count) { updated[$0].plist }
    return file == nil ? [moves, removals, updates] : [moves, updates]
  }

  /// All but the lists.
  fileprivate func plist(_ file: FormerFile?) -> PlistDictionary {
    var plist: PlistDictionary = [
      Key.existed: .bool(existed), Key.exists: .bool(exists), Key.counter: .integer(counter),
      Key.added: .string(Added.text(added)),
    ]
    if let file {
      plist[Key.file] = file.plist
      plist[Key.removed] = .string(RecordIDList.text(removed.map(\.record.id)))
    }
    if let order {
      plist[Key.before] = .string(RecordIDList.text(order.before))
      plist[Key.after] = .string(RecordIDList.text(order.after))
    }
    plist[Key.schema] = schema?.plist
    plist[Key.rules] = rules.map { .string($0.text) }
    if !misfits.isEmpty {
      plist[Key.misfits] = .dict(
        PlistDictionary(lastOf: misfits.map { .init(key: $0, value: .string(RecordIDList.text($1))) }))
    }
    return plist
  }

  /// - Returns: `nil` if this is not an undo step of a table.
  fileprivate init?(
    _ reader: CanonicalReader, _ dict: CanonicalElement, _ lists: inout RecordIDList.Reader,
    reading former: (FormerFile) throws(StoreError) -> TableState
  ) throws(StoreError) {
    var plist = PlistDictionary()
    var (moved, removed, updated): ([Moved]?, [Removed]?, [Updated]?)
    var entries = reader.entries(of: dict)
    while let (key, element) = entries.next() {
      switch (reader.text(key), element.kind) {
      case (Key.moved, .array): moved = reader.array(element, of: Moved.init)
      case (Key.removed, .array): removed = reader.array(element, of: Removed.init)
      case (Key.updated, .array): updated = reader.array(element, of: Updated.init)
      case (let key, _): plist[key] = reader.value(of: element)
      }
    }
    guard case .bool(let existed)? = plist[Key.existed], case .bool(let exists)? = plist[Key.exists],
      let counter = plist[Key.counter]?.integer, let added = plist[Key.added].flatMap(Added.all),
      let moved, let updated
    else { return nil }
    self.init(existed: existed, exists: exists, counter: counter)
    (self.added, self.moved, self.updated) = (added, moved, updated)
    if let file = plist[Key.file]?.dict.flatMap(FormerFile.init) {
      guard let ids = plist[Key.removed]?.string.flatMap({ lists.ids($0) }) else { return nil }
      let table = try former(file)
      for id in ids {
        let index = try table.index(of: id)
        self.removed.append(Removed(record: table.records[index], place: table.place(at: index)))
      }
    } else {
      guard let removed else { return nil }
      self.removed = removed
    }
    if let before = plist[Key.before]?.string, let after = plist[Key.after]?.string {
      guard let before = lists.ids(before), let after = lists.ids(after) else { return nil }
      order = Order(before: before, after: after)
    }
    rules = plist[Key.rules]?.string.flatMap(RulesVersion.init(text:))
    for entry in plist[Key.misfits]?.dict ?? [:] {
      misfits[entry.key] = entry.value.string.flatMap { lists.ids($0) }
    }
    schema = plist[Key.schema]?.dict.map { Schema(before: $0[Key.before], after: $0[Key.after]) }
  }
}

extension TableUndo.Schema {
  fileprivate var plist: PlistValue {
    var plist = PlistDictionary()
    plist[Key.before] = before
    plist[Key.after] = after
    return .dict(plist)
  }
}

extension FormerFile {
  fileprivate var plist: PlistValue {
    var plist: PlistDictionary = [Key.name: .string(name)]
    if case .file(let size, let checksum) = version {
      plist[Key.size] = .integer(Int64(size))
      plist[Key.checksum] = .integer(Int64(checksum))
    }
    return .dict(plist)
  }

  fileprivate init?(_ plist: PlistDictionary) {
    guard let name = plist[Key.name]?.string, !name.has("/"),
      let size = plist[Key.size]?.integer.flatMap(Int.init(exactly:)),
      let checksum = plist[Key.checksum]?.integer.flatMap(UInt32.init(exactly:))
    else { return nil }
    self.init(name: name, version: .file(size: size, checksum: checksum))
  }
}

extension TableUndo.Added {
  /// The ids and checksums of records, such as `3 2768625435 4 907060870`. An import may have added very many.
  fileprivate static func text(_ added: [Self]) -> String {
    var writer = PlistWriter()
    writer.reserve(added.count * 20)
    for record in added {
      if !writer.bytes.isEmpty { writer.append(" " as StaticString) }
      writer.append(UInt64(record.id.rawValue))
      writer.append(" " as StaticString)
      writer.append(UInt64(record.checksum))
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// - Returns: `nil` if this is not what ``text(_:)`` wrote. Older versions wrote an array with a string for each
  ///   record.
  fileprivate static func all(_ value: PlistValue) -> [Self]? {
    let words: [Substring]
    switch value {
    case .string(let text): words = text.split(separator: " ")
    case .array(let texts): words = texts.flatMap { ($0.string ?? "-").split(separator: " ") }
    default: return nil
    }
    guard words.count.isMultiple(of: 2) else { return nil }
    var added: [Self] = []
    for place in stride(from: 0, to: words.count, by: 2) {
      guard let id = AnyRecordID(String(words[place])), let checksum = UInt32(words[place + 1]) else {
        return nil
      }
      added.append(Self(id: id, checksum: checksum))
    }
    return added
  }
}

extension TableUndo.Moved {
  /// The id, the former place, and the neighbours after the write.
  fileprivate var words: String { "\(id) \(place.words)" + (neighbours.map { " \($0.words)" } ?? "") }

  fileprivate init?(_ value: PlistValue) {
    guard let words = value.string?.split(separator: " "), [3, 5].contains(words.count),
      let id = AnyRecordID(String(words[0])),
      let place = TableUndo.Place(words[1...2])
    else { return nil }
    let ids = words.dropFirst(3).map { AnyRecordID(String($0)) }
    self.init(
      id: id, place: place,
      neighbours: ids.isEmpty ? nil : TableUndo.Neighbours(above: ids[0], below: ids[1]))
  }
}

extension TableUndo.Neighbours {
  fileprivate var words: String { "\(above?.description ?? "-") \(below?.description ?? "-")" }
}

extension TableUndo.Place {
  /// The index, and the id of the record above, or `-`.
  fileprivate var words: String { "\(index) \(above.map(\.description) ?? "-")" }

  fileprivate init?(_ words: ArraySlice<Substring>) {
    guard let first = words.first, let last = words.last, let index = Int(first), index >= 0 else {
      return nil
    }
    let above = AnyRecordID(String(last))
    guard above != nil || last == "-" else { return nil }
    self.init(index: index, above: above)
  }
}

extension TableUndo.Removed {
  fileprivate var plist: PlistValue {
    .dict([
      Key.id: .integer(record.id.rawValue), Key.place: .string(place.words),
      Key.fields: .dict(record.fields.dictionary),
    ])
  }

  fileprivate init?(_ value: PlistValue) {
    guard let plist = value.dict, let id = plist[Key.id].flatMap(TableFile.number),
      let place = plist[Key.place]?.string.flatMap({ TableUndo.Place($0.split(separator: " ")[...]) }),
      let fields = plist[Key.fields]?.dict
    else { return nil }
    self.init(record: EncodedRecord(id: id, fields: Fields(fields)), place: place)
  }
}

extension TableUndo.Updated {
  fileprivate var plist: PlistValue {
    let before = fields.compactMap { field in
      field.before.map { PlistDictionary.Entry(key: field.name, value: $0) }
    }
    let after = fields.compactMap { field in
      field.after.map { PlistDictionary.Entry(key: field.name, value: $0) }
    }
    return .dict([
      Key.id: .integer(id.rawValue), Key.before: .dict(PlistDictionary(lastOf: before)),
      Key.after: .dict(PlistDictionary(lastOf: after)),
    ])
  }

  fileprivate init?(_ value: PlistValue) {
    guard let plist = value.dict, let id = plist[Key.id].flatMap(TableFile.number),
      let before = plist[Key.before]?.dict, let after = plist[Key.after]?.dict
    else { return nil }
    var fields: [Field] = []
    PlistDictionary.differences(before, after) { name, before, after in
      fields.append(Field(name: name, before: before, after: after))
    }
    self.init(id: id, fields: fields)
  }
}

extension CanonicalReader {
  /// - Returns: `nil` if an element is not of this kind.
  fileprivate func array<Element>(
    _ array: CanonicalElement, of make: (PlistValue) -> Element?
  ) -> [Element]? {
    var made: [Element] = []
    var elements = elements(of: array)
    while let element = elements.next() {
      guard let next = make(value(of: element)) else { return nil }
      made.append(next)
    }
    return made
  }
}
