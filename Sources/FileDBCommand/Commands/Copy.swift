import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Copy: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a store between folders and databases.",
    usage: "filedb copy [<from>] <to>",
    discussion: """
      FROM is the store that --store or $FILEDB_STORE names, or the current folder, unless you give it. FROM and TO are \
      folders, or addresses such as 'postgres://db1/app?store=notes' or \
      'etcd://m1,m2,m3/app?store=notes'. All tables are copied in one transaction, with the ids and the order of their \
      records, their counters and their schemas. Before that, another transaction copies the counters of dropped \
      tables. TO must have no tables. In a database, create it with 'filedb shared init' first.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(
    help: ArgumentHelp(
      "The store that is copied, if it is another one, and the store that gets the tables.", valueName: "dir")
  )
  var stores: [String] = []

  func validate() throws {
    guard (1...2).contains(stores.count) else {
      throw ValidationError("Name the folder or the database that gets the tables: filedb copy [FROM] TO.")
    }
    if stores.count == 2, location.path != nil { throw ValidationError("Give only one of FROM and --store.") }
    if !location.attached.isEmpty { throw ValidationError("--attach does not work with 'copy'.") }
  }

  func run() throws {
    let source = try stores.count == 2 ? StoreReference(stores[0]) : storeReference
    let ends = try (source: source, target: StoreReference(stores[stores.count - 1]))
    if ends.source.isShared || ends.target.isShared { _ = try FileDBTool.needExtra() }
    if case .folder(let url) = ends.source, !FileInfo.isFolder(url) {
      throw StoreError(.fileNotFound, "there is no such folder", file: url.path)
    }
    let original = try ends.source.open(for: .once)
    let tables = try Self.tables(of: original)
    if ends.source.isShared { try Self.notePagedTables(of: original) }
    let counters = try original.droppedCounters
    let store = try ends.target.open(for: .writing)
    try store.restrictAccess(asIn: original)
    let waiting = Waiting("copying")
    defer { waiting.end() }
    // A commit of its own: a database takes the other one faster if it only creates tables.
    if !counters.isEmpty {
      try store.write { tx in
        try Self.checkIsEmpty(store)
        for (table, counter) in counters { try tx.keepCounter(counter, ofDropped: table) }
      }
    }
    try store.write { tx in
      try Self.checkIsEmpty(store)
      for table in tables { Self.note(try tx.make(table), of: table.table) }
    }
    OpenStores.closeAtEnd(store)
    waiting.end()
    Terminal.note(
      "\(tables.count.counted("table")) with \(tables.map(\.count).reduce(0, +).counted("record")) copied"
    )
  }

  private static func checkIsEmpty(_ store: RecordStore) throws {
    guard try store.tableNames.isEmpty else {
      throw StoreError(.tableExists, "this store has tables already", file: store.url.path)
    }
  }

  private static func tables(of store: RecordStore) throws -> [TableSnapshot<Fields>] {
    let snapshot = try store.snapshot()
    return snapshot.tableNames.map { snapshot[$0] }
  }

  private static func notePagedTables(of store: RecordStore) throws {
    guard let paged = try FileDBTool.needExtra().pagedTables(of: store) else {
      return Terminal.note(
        "without a connection, it is not known which tables are paged; paged tables are not copied")
    }
    for table in paged {
      Terminal.note("\(table): not copied, because paged tables exist only in their database")
    }
  }

  private static func note(_ keys: [String], of table: String) {
    if keys.isEmpty { return }
    Terminal.note(
      "\(table): keys of other programs in the file's root were not copied: \(keys.joined(separator: ", "))"
    )
  }
}
