import FileDBEssentials

/// A store beneath another one. It is only read, and never written to.
final class AttachedStore: Sendable {
  let name: String
  let store: RecordStore
  let folder: StoreFolder

  /// - Throws: ``StoreError/Code/invalidTableName`` if `name` cannot be the prefix of a table's name, and
  ///   ``StoreError/Code/fileNotFound`` if there is no such store.
  init(_ store: RecordStore, as name: String) throws(StoreError) {
    try TableNameRule.validate(name)
    guard !name.has(".") else {
      throw StoreError(
        .invalidTableName, "the name '\(name)' of an attached store must not hold '.'")
    }
    let folder = try store.folder
    guard try folder.disk.status(folder.path) != nil else {
      throw StoreError(.fileNotFound, "there is no store to attach", file: folder.path)
    }
    (self.name, self.store, self.folder) = (name, store, folder)
  }

  /// The attached table that a name like `main.foods` means.
  func table(named key: TableKey) -> TableKey? {
    let prefix = name + "."
    guard key.text.utf8.starts(with: prefix.utf8) else { return nil }
    return TableKey(String(decoding: key.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
  }

  /// The table as it was last read; `nil` if it has not been read yet.
  func table(_ key: TableKey) -> TableState? { store.tables.published(key) }

  /// Reads the table as it is now.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``, and ``StoreError/Code/counterExhausted`` if its ids
  ///   reach those of the user's own records.
  func read(_ key: TableKey) throws(StoreError) -> TableState {
    let table = try store.current(key)
    guard table.counter <= Overlay.highestAttachedID else {
      throw StoreError(
        .counterExhausted,
        "an attached table may have ids up to \(Overlay.highestAttachedID), and this one has come to \(table.counter)",
        file: try folder.file(of: key.text).path, table: key.text)
    }
    return table
  }
}

extension RecordStore {
  /// Opens the store in the folder at `url` on top of another store, which FileDB never writes to. For example, it
  /// opens the user's data on top of the data that an app ships with.
  ///
  ///     let store = try RecordStore(at: user, attaching: shipped, as: "main")
  ///     let foods = try store.table(.foods)                  // shipped foods and the user's, in one order
  ///     let shippedFoods = try store.table("main.foods")     // as they were shipped; read-only
  ///
  /// A table of the store and the attached table of the same name appear as one table. All methods work on all of its
  /// records, but write only to the user's store. It stores the fields that the user changed, hides the records that
  /// the user deleted, and keeps the new places of the records that the user moved. So you may replace the attached
  /// store by its next version, and the user's changes then apply to that version. The user's own records have ids
  /// above 1,000,000,000. Attached records must have lower ids.
  ///
  /// Take this for data that ships with an app, unless you want to tell the user what an upgrade did, or the user's folder
  /// must be complete without the app. Then take ``ShippedStore``.
  ///
  /// FileDB reads an attached table when you first ask for it, and again after its file has changed.
  /// - Parameters:
  ///   - url: the folder of the user's store. The first write creates it.
  ///   - attached: the folder of the other store. FileDB creates and changes nothing in it, so it may be read-only.
  ///   - name: the prefix of the attached tables, as `main` in `main.foods`. It must not be empty or contain a dot.
  ///   - options: the options of both stores.
  /// - Throws: ``StoreError/Code/notAFolder``; ``StoreError/Code/fileNotFound`` if there is no store to attach;
  ///   ``StoreError/Code/invalidTableName`` for `name`; and the disk's errors.
  public convenience init(
    at url: URL, attaching attached: URL, as name: String, options: StoreOptions = StoreOptions()
  ) throws {
    var beneathOptions = options
    beneathOptions.reading = .whole  // Reading in pieces would write offsets into that store.
    beneathOptions.ownFolder = .inStore  // That is: wherever it is.
    let beneath = try AttachedStore(RecordStore(at: attached, options: beneathOptions), as: name)
    guard beneath.folder.path != url.standardizedFileURL.path else {
      throw StoreError(
        .notAFolder, "a store cannot be attached to itself", file: beneath.folder.path)
    }
    try self.init(at: url, disk: .system, seen: AttachedTables(over: beneath), options: options)
  }

  var attached: AttachedStore? { (view as? AttachedTables)?.attached }

  /// Whether a name like `main.foods` means a table of the attached store.
  package func isAttached(_ name: String) -> Bool {
    attached.map { $0.table(named: TableKey(name)) != nil } ?? false
  }

  /// The folder of the attached store.
  public var attachedURL: URL? { attached?.store.url }
}
