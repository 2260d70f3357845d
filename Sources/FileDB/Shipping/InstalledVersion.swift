import FileDBPlist
import FileDBStorage

/// The version that is installed in a store, and the shipped tables that it is from: `.filedb/shipped`, where
/// `installed.plist` names the others.
struct InstalledVersion {
  /// A table that is from a shipped one.
  struct Table {
    /// The generation in which it was taken; its file is called after it.
    let generation: Int64
    let ids: ShippedIDs
  }

  let version: ShippedVersion
  /// Goes up with each installation, so that the files of one never take the place of another's.
  let generation: Int64
  private(set) var tables: [TableKey: Table] = [:]

  init(version: ShippedVersion, generation: Int64) {
    (self.version, self.generation) = (version, generation)
  }

  /// Remembers what became of a table.
  mutating func note(_ outcome: ShippedUpgrade.Outcome, former: Table?) {
    tables[outcome.key] =
      switch outcome.base {
      case .former: former
      case .new: Table(generation: generation, ids: outcome.ids)
      case .none: nil
      }
  }

  /// Keeps shipped tables for the next merge.
  func keep(_ shipped: [TableKey: TableState], in folder: StoreFolder) throws(StoreError) {
    for (key, state) in shipped.sorted(by: { $0.key < $1.key }) {
      let file = "\(folder.shippedFolder)/\(fileName(of: key, generation))"
      try onDisk { () throws(DiskError) in _ = try folder.disk.replace(file, with: TableFile.encode(state)) }
    }
  }

  /// The shipped tables that the user's are from.
  func bases(in store: RecordStore) throws(StoreError) -> [TableKey: TableState] {
    var bases: [TableKey: TableState] = [:]
    for (key, table) in tables {
      let file = "\(store.folder.shippedFolder)/\(fileName(of: key, table.generation))"
      let bytes = try onDisk { () throws(DiskError) in try store.disk.read(file).bytes }
      bases[key] = try TableFile.decode(bytes, file: file, table: key.text, limits: store.options.limits)
    }
    return bases
  }

  private func fileName(of table: TableKey, _ generation: Int64) -> String {
    "\(generation).\(table.text)\(StoreFolder.suffix)"
  }
}

extension InstalledVersion {
  /// - Returns: `nil` where nothing was installed yet.
  static func read(in store: RecordStore) throws(StoreError) -> InstalledVersion? {
    let file = store.folder.installedFile
    let bytes: [UInt8]
    do { bytes = try store.disk.read(file).bytes } catch {
      if error.kind == .notFound { return nil }
      throw StoreError(error)
    }
    let plist: PlistValue
    do { plist = try PlistParser.parse(bytes, limits: store.options.limits) } catch {
      throw StoreError(error, file: file, table: nil)
    }
    guard let installed = InstalledVersion(plist) else {
      throw StoreError(StoreError.damagedTable, "this is no record of an installed version", file: file)
    }
    return installed
  }

  /// Makes this the installed version, and clears away what only the former one needed.
  func write(in store: RecordStore) throws(StoreError) {
    let (folder, disk) = (store.folder, store.disk)
    let bytes: [UInt8]
    do { bytes = try PlistWriter.document(plist, limits: store.options.limits) } catch {
      throw StoreError(error, file: folder.installedFile, table: nil)
    }
    try onDisk { () throws(DiskError) in _ = try disk.replace(folder.installedFile, with: bytes) }
    // It is done; what cannot be removed now goes with the next version.
    try? disk.sweepDrafts(in: folder.shippedFolder)
    let kept = Set(tables.map { TableKey(fileName(of: $0.key, $0.value.generation)) })
    for name in (try? disk.list(folder.shippedFolder)) ?? []
    where name.first?.isWholeNumber == true && !kept.contains(TableKey(name)) {
      try? disk.remove("\(folder.shippedFolder)/\(name)")
    }
  }

  private enum Key {
    static let version = "version"
    static let generation = "generation"
    static let tables = "tables"
    static let ids = "ids"
  }

  private var plist: PlistValue {
    var tables = PlistDictionary()
    for (key, table) in self.tables {
      tables[key.text] = .dict([
        Key.generation: .integer(table.generation), Key.ids: .dict(table.ids.plist),
      ])
    }
    return .dict([
      Key.version: .string(version.description), Key.generation: .integer(generation),
      Key.tables: .dict(tables),
    ])
  }

  private init?(_ plist: PlistValue) {
    guard let fields = plist.dict, let version = fields[Key.version]?.string.flatMap(ShippedVersion.init),
      let generation = fields[Key.generation]?.integer, let tables = fields[Key.tables]?.dict
    else { return nil }
    self.init(version: version, generation: generation)
    for entry in tables {
      guard let table = entry.value.dict, let generation = table[Key.generation]?.integer,
        let ids = table[Key.ids]?.dict.flatMap(ShippedIDs.init)
      else { return nil }
      self.tables[TableKey(entry.key)] = Table(generation: generation, ids: ids)
    }
  }
}

extension ShippedIDs {
  fileprivate var plist: PlistDictionary {
    var plist = PlistDictionary()
    for (shipped, own) in ids { plist[shipped.description] = .string(own.description) }
    return plist
  }

  fileprivate init?(_ plist: PlistDictionary) {
    var ids: [RecordID: RecordID] = [:]
    for entry in plist {
      guard let shipped = RecordID(entry.key), let own = entry.value.string.flatMap(RecordID.init) else {
        return nil
      }
      ids[shipped] = own
    }
    self.init(ids: ids)
  }
}
