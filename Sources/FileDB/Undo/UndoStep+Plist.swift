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

  /// - Parameter files: the former files of tables, for those that contain the removed records.
  func plist(_ files: [TableKey: FormerFile]) -> PlistDictionary {
    PlistDictionary(lastOf: tables.map { .init(key: $0.text, value: .dict($1.plist(files[$0]))) })
  }

  /// - Parameter former: reads a table's former file.
  /// - Returns: `nil` if this is not an undo step.
  init?(
    _ plist: PlistDictionary, reading former: (TableKey, FormerFile) throws(StoreError) -> TableState
  ) throws(StoreError) {
    tables = [:]
    var lists = RecordIDList.Reader()
    for entry in plist {
      let key = TableKey(entry.key)
      guard let fields = entry.value.dict,
        let table = try TableUndo(
          fields, &lists, reading: { file throws(StoreError) in try former(key, file) })
      else { return nil }
      tables[key] = table
    }
  }
}

extension UndoStep {
  /// Whether tables may hold all that this step puts back. The step's own file may be nested deeper than a table's.
  func fits(_ limits: PlistLimits) -> Bool {
    tables.values.allSatisfy { table in
      let updated = table.updated.map { record in
        PlistDictionary(
          lastOf: record.fields.compactMap { field in field.before.map { .init(key: field.name, value: $0) } }
        )
      }
      return (table.removed.map(\.record.fields.dictionary) + updated).allSatisfy {
        (try? $0.normalized(depth: TableFile.depthOfFields - 1, limits: limits)) != nil
      } && table.schema?.before.map { (try? $0.normalized(depth: 1, limits: limits)) != nil } ?? true
    }
  }
}

extension TableUndo {
  fileprivate func plist(_ file: FormerFile?) -> PlistDictionary {
    var plist: PlistDictionary = [
      Key.existed: .bool(existed), Key.exists: .bool(exists), Key.counter: .integer(counter),
      Key.added: .string(Added.text(added)),
      Key.moved: .array(moved.map { .string($0.words) }),
      Key.updated: .array(updated.map(\.plist)),
    ]
    if let file {
      plist[Key.file] = file.plist
      plist[Key.removed] = .string(RecordIDList.text(removed.map(\.record.id)))
    } else {
      plist[Key.removed] = .array(removed.map(\.plist))
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
    _ plist: PlistDictionary, _ lists: inout RecordIDList.Reader,
    reading former: (FormerFile) throws(StoreError) -> TableState
  ) throws(StoreError) {
    guard case .bool(let existed)? = plist[Key.existed], case .bool(let exists)? = plist[Key.exists],
      let counter = plist[Key.counter]?.integer, let added = plist[Key.added].flatMap(Added.all),
      let moved = plist[Key.moved]?.array(of: Moved.init),
      let updated = plist[Key.updated]?.array(of: Updated.init)
    else { return nil }
    self.init(existed: existed, exists: exists, counter: counter)
    (self.added, self.moved, self.updated) = (added, moved, updated)
    if let file = plist[Key.file]?.dict.flatMap(FormerFile.init) {
      guard let ids = plist[Key.removed]?.string.flatMap({ lists.ids($0) }) else { return nil }
      let table = try former(file)
      for id in ids {
        let index = try table.index(of: id)
        removed.append(Removed(record: table.records[index], place: table.place(at: index)))
      }
    } else {
      guard let removed = plist[Key.removed]?.array(of: Removed.init) else { return nil }
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
    let gone = before.lazy.map(\.key).filter { after[$0] == nil }
    self.init(
      id: id,
      fields: (Array(gone) + after.map(\.key)).map {
        Field(name: $0, before: before[$0], after: after[$0])
      })
  }
}

extension PlistValue {
  /// `nil` if this is not an array, or if an element is not of this kind.
  fileprivate func array<Element>(of make: (PlistValue) -> Element?) -> [Element]? {
    guard case .array(let values) = self else { return nil }
    let elements = values.compactMap(make)
    return elements.count == values.count ? elements : nil
  }
}
