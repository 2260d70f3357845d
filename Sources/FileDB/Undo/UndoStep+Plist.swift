import FileDBPlist

/// A table's file from before a write. The undo log keeps it instead of the records that the write removed.
struct FormerFile: Sendable {
  /// Its name in the undo log's folder.
  let name: String
  let version: FileVersion
  let removed: [AnyRecordID]
}

extension UndoStep {
  /// The limits of a file whose records are as deep as those of a table.
  static func limits(_ table: PlistLimits) -> PlistLimits {
    PlistLimits(depth: table.depth + 6, valueBytes: .max, fileBytes: .max)
  }

  /// The step as a property list, in pieces. It may be as large as the tables, all of whose values have been written
  /// before. The names of the tables must be those of a ``KeptStep`` that can be written.
  var document: [[UInt8]] {
    if tables.isEmpty { return [Array("\(PlistWriter.header)<dict/>\n\(PlistWriter.footer)".utf8)] }
    var writer = StepWriter()
    for (key, table) in tables.sorted(by: { $0.key < $1.key }) { writer.append(key, table) }
    return writer.document()
  }

  /// - Parameters:
  ///   - document: what ``document`` gives.
  ///   - limits: those of the tables. The step's own file may be nested deeper.
  /// - Returns: `nil` if this is not an undo step, or tables may not hold all that it puts back.
  init?(_ document: UnsafeRawBufferPointer, limits: PlistLimits) {
    tables = [:]
    var scanner = CanonicalScanner(document, limits: Self.limits(limits))
    guard let root = scanner.scanDocument(), root.kind == .dict else { return nil }
    let reader = CanonicalReader(document)
    var lists = RecordIDList.Reader()
    var entries = reader.entries(of: root)
    while let (name, element) = entries.next() {
      guard element.kind == .dict, let table = TableUndo(reader, element, limits, &lists) else { return nil }
      tables[TableKey(reader.text(name))] = table
    }
  }
}

/// Writes a step. The lists of a table may be as long as the table, so no value is made of a whole list.
private struct StepWriter {
  private static let pieceLength = 1 << 20
  private var pieces: [[UInt8]] = []
  private var writer = PlistWriter()

  init() {
    writer.append(PlistWriter.header)
    writer.append("<dict>\n" as StaticString)
  }

  mutating func append(_ key: TableKey, _ table: TableUndo) {
    writer.append(key: key.text, indentation: 1)
    writer.append("\t<dict>\n" as StaticString)
    table.append(to: &self)
    writer.append("\t</dict>\n" as StaticString)
  }

  /// Appends an entry of a table's dictionary; nothing for `nil`.
  mutating func append(_ key: String, _ value: PlistValue?) {
    guard let value else { return }
    writer.append(key: key, indentation: 2)
    writer.append(value, indentation: 2)
  }

  mutating func append<Element>(_ key: String, _ list: [Element], _ plist: (Element) -> PlistValue) {
    if list.isEmpty { return append(key, .array([])) }
    writer.append(key: key, indentation: 2)
    writer.append("\t\t<array>\n" as StaticString)
    for element in list {
      writer.append(plist(element), indentation: 3)
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

extension TableUndo {
  /// Appends everything in the order of the keys.
  fileprivate func append(to writer: inout StepWriter) {
    writer.append("added", .string(Added.text(added)))
    writer.append("after", order.map { .ids($0.after) })
    writer.append("before", order.map { .ids($0.before) })
    writer.append("counter", .integer(counter))
    writer.append("existed", .bool(existed))
    writer.append("exists", .bool(exists))
    writer.append("file", former?.plist)
    if !misfits.isEmpty {
      writer.append(
        "misfits", .dict(PlistDictionary(lastOf: misfits.map { .init(key: $0, value: .ids($1)) })))
    }
    writer.append("moved", moved) { .string($0.words) }
    if let former {
      writer.append("removed", .ids(former.removed))
    } else {
      writer.append("removed", removed, \.plist)
    }
    writer.append("rules", rules.map { .string($0.text) })
    writer.append("schema", schema?.plist)
    writer.append("updated", updated, \.plist)
  }

  /// - Returns: `nil` if this is not an undo step of a table.
  fileprivate init?(
    _ reader: CanonicalReader, _ dict: CanonicalElement, _ limits: PlistLimits,
    _ lists: inout RecordIDList.Reader
  ) {
    var elements: [String: CanonicalElement] = [:]
    var entries = reader.entries(of: dict)
    while let (key, element) = entries.next() { elements[reader.text(key)] = element }
    func value(_ key: String) -> PlistValue? { elements[key].map { reader.value(of: $0) } }
    func ids(_ value: PlistValue?) -> [AnyRecordID]? { value?.string.flatMap { lists.ids($0) } }
    func list<Element>(_ key: String, of make: (PlistValue) -> Element?) -> [Element]? {
      guard let array = elements[key], array.kind == .array else { return nil }
      var made: [Element] = []
      var rest = reader.elements(of: array)
      while let element = rest.next() {
        guard let next = make(reader.value(of: element)) else { return nil }
        made.append(next)
      }
      return made
    }
    guard let existed = value("existed")?.bool, let exists = value("exists")?.bool,
      let counter = value("counter")?.integer, let added = value("added")?.string.flatMap(Added.all),
      let moved = list("moved", of: Moved.init), let updated = list("updated", of: { Updated($0, limits) })
    else { return nil }
    self.init(
      existed: existed, exists: exists, counter: counter, added: added, moved: moved, updated: updated)
    if let removed = list("removed", of: { Removed($0, limits) }) {
      self.removed = removed
    } else {
      former = FormerFile(value("file")?.dict, removed: ids(value("removed")))
      if former == nil { return nil }
    }
    if elements["before"] != nil {
      guard let before = ids(value("before")), let after = ids(value("after")) else { return nil }
      order = Order(before: before, after: after)
    }
    rules = value("rules")?.string.flatMap(RulesVersion.init(text:))
    for entry in value("misfits")?.dict ?? [:] { misfits[entry.key] = ids(entry.value) }
    if let schema = value("schema")?.dict {
      let before = schema["before"]
      if let before, (try? before.normalized(depth: 1, limits: limits)) == nil { return nil }
      self.schema = Schema(before: before, after: schema["after"])
    }
  }
}

extension PlistValue {
  fileprivate static func ids(_ ids: [AnyRecordID]) -> PlistValue { .string(RecordIDList.text(ids)) }

  /// The fields of a record; `nil` if a table may not hold them.
  fileprivate func fields(_ limits: PlistLimits) -> PlistDictionary? {
    try? dict?.normalized(depth: TableFile.depthOfFields - 1, limits: limits)
  }
}

extension TableUndo.Schema {
  fileprivate var plist: PlistValue {
    var plist = PlistDictionary()
    (plist["before"], plist["after"]) = (before, after)
    return .dict(plist)
  }
}

extension FormerFile {
  fileprivate var plist: PlistValue {
    var plist: PlistDictionary = ["name": .string(name)]
    if case .file(let size, let checksum) = version {
      plist["size"] = .integer(Int64(size))
      plist["checksum"] = .integer(Int64(checksum))
    }
    return .dict(plist)
  }

  fileprivate init?(_ plist: PlistDictionary?, removed: [AnyRecordID]?) {
    guard let plist, let removed, let name = plist["name"]?.string, !name.has("/"),
      let size = plist["size"]?.integer.flatMap(Int.init(exactly:)),
      let checksum = plist["checksum"]?.integer.flatMap(UInt32.init(exactly:))
    else { return nil }
    self.init(name: name, version: .file(size: size, checksum: checksum), removed: removed)
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

  /// - Returns: `nil` if this is not what ``text(_:)`` wrote.
  fileprivate static func all(_ text: String) -> [Self]? {
    var words = text.split(separator: " ").makeIterator()
    var added: [Self] = []
    while let id = words.next() {
      guard let id = AnyRecordID(String(id)), let checksum = words.next().flatMap({ UInt32($0) }) else {
        return nil
      }
      added.append(Self(id: id, checksum: checksum))
    }
    return added
  }
}

extension TableUndo.Moved {
  /// The id, the former position, and the neighbours after the write.
  fileprivate var words: String {
    let neighbours = [above, below].map { $0?.description ?? "-" }
    return "\(id) \(position.words) \(neighbours.joined(separator: " "))"
  }

  fileprivate init?(_ value: PlistValue) {
    guard let words = value.string?.split(separator: " "), words.count == 5,
      let id = AnyRecordID(String(words[0])), let position = TableUndo.FormerPosition(words[1...2])
    else { return nil }
    let neighbours = words[3...].map { AnyRecordID(String($0)) }
    self.init(id: id, position: position, above: neighbours[0], below: neighbours[1])
  }
}

extension TableUndo.FormerPosition {
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
      "id": .integer(record.id.rawValue), "place": .string(position.words),
      "fields": .dict(record.fields.dictionary),
    ])
  }

  fileprivate init?(_ value: PlistValue, _ limits: PlistLimits) {
    guard let plist = value.dict, let id = plist["id"].flatMap(TableFile.number),
      let position = plist["place"]?.string.flatMap({
        TableUndo.FormerPosition($0.split(separator: " ")[...])
      }),
      let fields = plist["fields"]?.fields(limits)
    else { return nil }
    self.init(record: EncodedRecord(id: id, fields: Fields(fields)), position: position)
  }
}

extension TableUndo.Updated {
  fileprivate var plist: PlistValue {
    .dict([
      "id": .integer(id.rawValue), "before": .dict(values { $0.before }),
      "after": .dict(values { $0.after }),
    ])
  }

  fileprivate init?(_ value: PlistValue, _ limits: PlistLimits) {
    guard let plist = value.dict, let id = plist["id"].flatMap(TableFile.number),
      let before = plist["before"]?.fields(limits), let after = plist["after"]?.dict
    else { return nil }
    var fields: [Field] = []
    PlistDictionary.differences(before, after) { name, before, after in
      fields.append(Field(name: name, before: before, after: after))
    }
    self.init(id: id, fields: fields)
  }
}
