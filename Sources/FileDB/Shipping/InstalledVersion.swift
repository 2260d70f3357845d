import FileDBPlist

/// The version that is installed in a store, and the shipped tables that the user's tables come from.
///
/// It is the only record of the table ``StoreFolder/installedTable``, so it changes in the same commit as the other
/// tables. The shipped tables are files in `.filedb/shipped`. They are written before that commit, and removed when no
/// version needs them.
struct InstalledVersion {
  /// A table that comes from a shipped one.
  struct Table {
    /// The generation in which it was installed. Its file is named after it.
    let generation: Int64
    var ids = ShippedIDs()
  }

  let version: ShippedVersion
  /// Increases with each installation, so that the files of one never replace those of another.
  let generation: Int64
  var tables: [TableKey: Table] = [:]

  init(_ version: ShippedVersion, after former: InstalledVersion?) {
    self.version = version
    generation = (former?.generation ?? 0) + 1
  }
}

// MARK: - The record

extension InstalledVersion {
  /// - Returns: `nil` if nothing was installed yet.
  static func read(in store: RecordStore) throws(StoreError) -> InstalledVersion? {
    try store.tables.catchUp()
    return try read(store.tables.newest(TableKey(StoreFolder.installedTable)).state, in: store.folder)
  }

  /// The version as the transaction sees it. Nobody can change it in between.
  static func read(
    in transaction: TransactionState, of folder: StoreFolder
  ) throws(StoreError) -> InstalledVersion? {
    try read(transaction.table(StoreFolder.installedTable), in: folder)
  }

  private static func read(
    _ table: TableState, in folder: StoreFolder
  ) throws(StoreError) -> InstalledVersion? {
    guard let record = table.records.first else { return nil }
    guard let installed = InstalledVersion(record.fields.dictionary) else {
      throw StoreError(
        .damagedTable, "this is not a record of an installed version", file: folder.installedFile)
    }
    return installed
  }

  func write(in transaction: TransactionState) throws(StoreError) {
    let table = StoreFolder.installedTable
    let state = try transaction.table(table)
    if !state.exists { try transaction.apply(.create, to: table) }
    let former = state.records.first?.id
    let record = EncodedRecord(id: former ?? AnyRecordID(counted: 1), fields: Fields(fields))
    try transaction.apply(former == nil ? .insert([record], index: 0) : .replace(record), to: table)
  }

  private var fields: PlistDictionary {
    var tables = PlistDictionary()
    for (key, table) in self.tables {
      tables[key.text] = .dict([
        "generation": .integer(table.generation), "ids": .dict(table.ids.plist),
      ])
    }
    return [
      "version": .string(version.description), "generation": .integer(generation),
      "tables": .dict(tables),
    ]
  }

  private init?(_ fields: PlistDictionary) {
    guard let version = fields["version"]?.string.flatMap(ShippedVersion.init),
      let generation = fields["generation"]?.integer, let tables = fields["tables"]?.dict,
      // The next generation must not overflow.
      (1..<1 << 53).contains(generation)
    else { return nil }
    (self.version, self.generation) = (version, generation)
    for entry in tables {
      guard let table = entry.value.dict, let generation = table["generation"]?.integer,
        let ids = table["ids"]?.dict.flatMap(ShippedIDs.init)
      else { return nil }
      self.tables[TableKey(entry.key)] = Table(generation: generation, ids: ids)
    }
  }
}

// MARK: - The shipped tables

extension InstalledVersion {
  /// Keeps shipped tables for the next merge.
  func keep(_ shipped: [TableKey: TableState], in folder: StoreFolder) throws(StoreError) {
    try folder.disk.createFolder(folder.shippedFolder)
    for (key, state) in shipped.sorted(by: { $0.key < $1.key }) {
      let file = "\(folder.shippedFolder)/\(Self.fileName(of: key, generation))"
      try folder.disk.replace(file, with: TableFile.encode(state))
    }
  }

  /// The shipped tables that the user's tables come from.
  func bases(in store: RecordStore) throws(StoreError) -> [TableKey: TableState] {
    var bases: [TableKey: TableState] = [:]
    for (key, table) in tables {
      let file = try "\(store.folder.shippedFolder)/\(Self.fileName(of: key, table.generation))"
      let bytes = try store.folder.disk.read(file).bytes
      bases[key] = try TableFile.decode(bytes, file: file, table: key.text, limits: store.options.limits)
    }
    return bases
  }

  /// Removes files that no merge needs any more. If some cannot be removed, the next version removes them.
  static func clearAway(in store: RecordStore) {
    guard let own = store.files?.folder else { return }
    let (folder, disk) = (own.shippedFolder, own.disk)
    // Another process may be installing the next version.
    try? store.exclusively(timeout: .zero) {
      // An undo may restore an earlier version.
      let restorable = try store.undoLog.restorableFields(in: StoreFolder.installedTable)
      let needed = try (restorable + [InstalledVersion.read(in: store)?.fields ?? [:]]).flatMap(fileNames)
      try disk.sweepDrafts(in: folder)
      for name in try disk.list(folder) where isFileName(name) && !needed.contains(name) {
        try disk.remove("\(folder)/\(name)")
      }
    }
  }

  /// The files that a record of an installed version needs.
  private static func fileNames(_ fields: PlistDictionary) -> [String] {
    (fields["tables"]?.dict ?? [:]).compactMap { entry in
      entry.value.dict?["generation"]?.integer.map { fileName(of: TableKey(entry.key), $0) }
    }
  }

  /// Whether the name is one that ``fileName(of:_:)`` makes. No other files are removed.
  private static func isFileName(_ name: String) -> Bool {
    name.hasSuffix(StoreFolder.suffix) && Int64(name.prefix { $0 != "." }) != nil
  }

  private static func fileName(of table: TableKey, _ generation: Int64) -> String {
    "\(generation).\(table.text)\(StoreFolder.suffix)"
  }
}

extension ShippedIDs {
  fileprivate var plist: PlistDictionary {
    PlistDictionary(lastOf: ids.map { .init(key: $0.description, value: .string($1.description)) })
  }

  fileprivate init?(_ plist: PlistDictionary) {
    var ids: [AnyRecordID: AnyRecordID] = [:]
    for entry in plist {
      guard let shipped = AnyRecordID(entry.key), let own = entry.value.string.flatMap(AnyRecordID.init)
      else {
        return nil
      }
      ids[shipped] = own
    }
    self.init(ids: ids)
  }
}
