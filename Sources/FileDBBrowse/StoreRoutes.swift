import FileDB

extension Site {
  static let storeRoutes: [Route] = [
    .get("api", "store") { site, _ in
      .json(
        .object(
          [
            ("name", .string(site.store.url.lastPathComponent)), ("path", .string(site.store.url.path)),
            ("readOnly", .bool(site.access == .readOnly)),
          ] + (try site.overview())))
    },
    .post("api", "tables") { site, request in
      struct NewTable: Decodable { let name: String }
      let name: String = try request.decoded(as: NewTable.self).name
      let (_, entry) = try site.store.undoLog.loggedWrite { tx in try tx[name].create() }
      return .json(.object([("name", .string(name)), ("step", JSON(entry?.id))]))
    },
    .get("api", "tables", "*") { site, request in .json(try site.describe(request.tableName)) },
  ]

  /// The tables, the copies to be merged, what can be undone, and the state of a shared store.
  func overview() throws -> [(String, JSON)] {
    let history = try? store.undoLog.contents()
    return [
      ("tables", .array(try store.tableNames.map(summary))), ("copies", try copies()),
      ("undo", .array(history?.undo.map { JSON($0) } ?? [])),
      ("redo", .array(history?.redo.map { JSON($0) } ?? [])), ("shared", sharedState),
    ]
  }

  var sharedState: JSON {
    guard let shared else { return .null }
    let edited = shared.editedTables()
    return .object([
      ("address", .string(shared.address)), ("problem", JSON(store.observationError?.description)),
      ("edited", .array(edited.map { .string($0) })), ("repairs", .array(repairs(of: edited))),
    ])
  }

  /// What `filedb repair` keeps of the files among these that cannot be read.
  private func repairs(of edited: [String]) -> [JSON] {
    guard store.observationError != nil else { return [] }
    return edited.compactMap { name in
      brokenFiles.keptCount(of: name, in: store).map { kept in
        .object([
          ("table", .string(name)), ("kept", .number(kept)), ("before", JSON(try? store.table(name).count)),
        ])
      }
    }
  }

  private func summary(_ name: String) -> JSON {
    if let size = tables.sizeOfUnread(name) {
      return .object([
        ("name", .string(name)), ("count", .null), ("problem", .null), ("attached", .bool(isAttached(name))),
        ("reading", .number(Int(size))),
      ])
    }
    var (count, problem): (Int?, String?)
    do { count = try store.table(name).count } catch {
      problem = (error as? StoreError)?.message ?? "\(error)"
    }
    return .object([
      ("name", .string(name)), ("count", JSON(count)), ("problem", JSON(problem)),
      ("attached", .bool(isAttached(name))),
    ])
  }

  /// Whether the table exists only in an attached store, and cannot be changed.
  private func isAttached(_ name: String) -> Bool {
    guard let attached = store.attachedURL, let file = try? store.url(of: name) else { return false }
    return file.deletingLastPathComponent().standardizedFileURL.path == attached.standardizedFileURL.path
  }

  func describe(_ name: String) throws -> JSON {
    if let size = tables.sizeOfUnread(name) {
      tables.want(name)
      return .object([
        ("name", .string(name)), ("count", .null), ("columns", .array([])), ("schema", .bool(false)),
        ("problem", .null), ("reading", .number(Int(size))),
      ])
    }
    let snapshot: TableSnapshot<Fields>
    do { snapshot = try tables[name].snapshot } catch let error as StoreError
      where ![.tableNotFound, .invalidTableName].contains(error.code)
    {
      return .object([
        ("name", .string(name)), ("count", .null), ("columns", .array([])), ("schema", .bool(false)),
        ("problem", Self.problem(error)),
      ])
    }
    var (schema, problem): (TableSchema?, JSON) = (nil, .null)
    do { schema = try snapshot.schema } catch let error as StoreError { problem = Self.problem(error) }
    return .object([
      ("name", .string(name)), ("count", .number(snapshot.count)),
      ("columns", .array(TableColumn.columns(of: snapshot, schema).map(\.json))),
      ("schema", .bool(schema != nil)), ("problem", problem),
    ])
  }

  private static func problem(_ error: StoreError) -> JSON {
    .object([("message", .string(error.message)), ("line", JSON(error.line))])
  }
}

/// A column of a table: a field that the schema declares, or that records have.
struct TableColumn {
  let name: String
  let declared: FieldSchema?
  let seenType: FieldType?

  /// In a large table, the fields are taken from this many records.
  private static let sampleCount = 2_000
  /// The first records are always among them, as in `filedb show`.
  private static let firstCount = 500

  static func columns(of snapshot: TableSnapshot<Fields>, _ schema: TableSchema?) -> [TableColumn] {
    // By the fields' names; `nil` for a field with several types.
    var types = PlistDictionary()
    var mixed: Set<[UInt8]> = []
    for index in sample(of: snapshot.count) {
      for field in snapshot[index].fields.dictionary {
        let type = PlistValue.string(FieldType(of: field.value).rawValue)
        if let known = types[field.key], known != type { mixed.insert(Array(field.key.utf8)) }
        types[field.key] = type
      }
    }
    func column(_ name: String, _ declared: FieldSchema?) -> TableColumn {
      let type = mixed.contains(Array(name.utf8)) ? nil : types[name]?.string
      return TableColumn(name: name, declared: declared, seenType: type.flatMap(FieldType.init))
    }
    let declared = (schema?.fields ?? []).map { column($0.name, $0) }
    for column in declared { types[column.name] = nil }
    return declared + types.keys.map { column($0, nil) }
  }

  private static func sample(of count: Int) -> [Int] {
    let rest = count - firstCount
    guard rest > 0 else { return Array(0..<count) }
    let step = max(1, rest / (sampleCount - firstCount))
    return Array(0..<firstCount) + Array(stride(from: firstCount, to: count, by: step))
  }

  var json: JSON {
    .object([
      ("name", .string(name)), ("title", JSON(declared?.title)),
      ("type", JSON((declared?.type ?? seenType)?.rawValue)),
      ("declaredType", JSON(declared?.type?.rawValue)),
      ("required", .bool(declared?.isRequired ?? false)), ("unique", .bool(declared?.isUnique ?? false)),
      ("declared", .bool(declared != nil)),
      ("values", declared?.allowedValues.map { .array($0.map { JSON($0) }) } ?? .null),
      ("minimum", declared?.minimum.map { JSON($0) } ?? .null),
      ("maximum", declared?.maximum.map { JSON($0) } ?? .null), ("pattern", JSON(declared?.pattern)),
      ("standard", declared?.defaultValue.map { JSON($0) } ?? .null),
      ("references", declared?.references.map(JSON.init) ?? .null),
    ])
  }
}

extension JSON {
  fileprivate init(_ reference: ReferenceRule) {
    self = .object([
      ("table", .string(reference.table)), ("field", .string(reference.field)),
      ("onDelete", .string(reference.onDelete.rawValue)),
    ])
  }
}
