import FileDBExchange
import Foundation
import GRDB

/// SQLite by GRDB, in WAL mode and as durable as FileDB: `synchronous=FULL`. The order of the rows is a column, a real
/// number, so that a row moves between two others without a change of any other row.
final class GRDBPeer: Peer {
  static let name = "GRDB"

  private let sample: Sample
  private lazy var copied = Result { try GRDBPeer.openPool(GRDBPeer.makeDatabase(sample, in: "GRDB")) }
  private lazy var edited = Result {
    try EditedTable(GRDBEditor(copied.get()), records: sample.records)
  }
  private lazy var unsynced = Result {
    let pool = try GRDBPeer.openPool(GRDBPeer.makeDatabase(sample, in: "GRDB-unsynced"), .off)
    return try EditedTable(GRDBEditor(pool), records: sample.records)
  }
  private lazy var file = Result { try GRDBPeer.makeDatabase(sample, in: "GRDB-read") }
  private lazy var opened = Result { try GRDBPeer.openPool(file.get()) }
  private lazy var indexed = Result { try GRDBPeer.openIndexed(sample) }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .open: try opening()
    case .rows: try readingRows()
    case .record: try readingRecords()
    case .page: try readingPages()
    case .filter, .predicate, .predicateAgain: try filtering()
    case .groups, .groupsAgain: try grouping()
    case .lookup: try lookingUp()
    case .range: try readingRanges()
    case .edit, .writers, .tasks, .slow: try edited.get().prepare(workload)
    case .processorTime: try unsynced.get().prepare(workload)
    case .deliver(let rows): try delivering(rows)
    case .sortedView: try sortingView()
    case .sort: try sorting()
    case .importTables: try importing()
    case .parse, .serialize, .ruled, .checkpoint, .csv, .script, .firstLine, .command, .start: nil
    }
  }

  func makeFileToOpen() throws { _ = try file.get() }

  func memoryOfOpening() throws -> ResidentMemory.Growth? {
    let file = try file.get()
    return try ResidentMemory.growth {
      let pool = try GRDBPeer.openPool(file)
      try pool.read { db in
        let rows = try StoredEntry.orderedByPosition.fetchCursor(db)
        while try rows.next() != nil {}
      }
      return pool
    }
  }
}

/// Making and opening.
extension GRDBPeer {
  static func openPool(
    _ file: URL, _ synchronous: SQLiteConnection.Synchronous = .full
  ) throws -> DatabasePool {
    let pool = try DatabasePool(path: file.path)
    // GRDB itself sets NORMAL with WAL, by which a power cut may lose the latest commits.
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)")
      let level = try String.fetchOne(db, sql: "PRAGMA synchronous")
      try expect(level == synchronous.rawValue, "synchronous is not set")
      try expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal", "journal_mode is not WAL")
    }
    return pool
  }

  /// Makes a database of the sample's rows.
  static func makeDatabase(_ sample: Sample, in scratch: String) throws -> URL {
    let file = try sample.scratch(scratch).appendingPathComponent("sample.sqlite")
    if FileManager.default.fileExists(atPath: file.path) { return file }
    let pool = try openPool(file)
    try pool.write { db in
      try db.execute(
        sql: """
          CREATE TABLE storedEntry (
            id INTEGER PRIMARY KEY AUTOINCREMENT, position REAL NOT NULL, title TEXT NOT NULL, note TEXT NOT NULL,
            amount INTEGER NOT NULL, price REAL NOT NULL, due DATETIME NOT NULL, isDone BOOLEAN NOT NULL)
          """)
      try db.execute(sql: "CREATE INDEX byPosition ON storedEntry(position)")
      for (number, entry) in zip(1..., sample.entries) {
        var row = StoredEntry(entry, position: Double(number))
        try row.insert(db)
      }
    }
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    try pool.close()
    return file
  }
}

/// Reading.
extension GRDBPeer {
  /// A database of its own: who writes need not keep up an index that nobody asks.
  private static func openIndexed(_ sample: Sample) throws -> DatabasePool {
    let pool = try openPool(makeDatabase(sample, in: "GRDB-indexed"))
    try pool.write { db in try db.execute(sql: "CREATE INDEX byAmount ON storedEntry(amount); ANALYZE") }
    return pool
  }

  private func opening() throws -> Run {
    let file = try file.get()
    return { [sample] in
      try seconds(
        of: {
          let pool = try GRDBPeer.openPool(file)
          return try pool.read { db in
            (pool, try StoredEntry.fetchCount(db), try StoredEntry.orderedByPosition.fetchOne(db))
          }
        }, check: { try sample.checkOpening($0.1, $0.2?.title) })
    }
  }

  private func readingRows() throws -> Run {
    let file = try file.get()
    return { [sample] in
      try seconds(
        of: { try GRDBPeer.openPool(file).read { db in try StoredEntry.orderedByPosition.fetchAll(db) } },
        check: { try sample.check($0.map(\.entry)) })
    }
  }

  private func readingRecords() throws -> Run {
    let pool = try opened.get()
    return { [sample] in
      try sample.readRecords { id in try pool.read { db in try StoredEntry.fetchOne(db, key: id)?.amount } }
    }
  }

  private func readingPages() throws -> Run {
    let pool = try opened.get()
    return { [sample] in
      try sample.readPages { row in
        try pool.read { db in
          try StoredEntry.orderedByPosition.limit(Workload.pageLength, offset: row).fetchAll(db)
        }.map(\.entry)
      }
    }
  }

  private func filtering() throws -> Run {
    let pool = try opened.get()
    return { [sample] in
      try sample.filterRows {
        try pool.read { db in
          try StoredEntry.orderedByPosition.filter(Column("price") >= Sample.dear).fetchAll(db)
        }.map(\.entry)
      }
    }
  }

  private func grouping() throws -> Run {
    let pool = try opened.get()
    return { [sample] in
      try sample.readGroups {
        try pool.read { db in
          try Row.fetchAll(
            db,
            sql:
              "SELECT isDone, count(*), sum(amount), avg(price), max(price) FROM storedEntry GROUP BY isDone"
          ).map {
            Sample.Group(
              isDone: $0[0], count: $0[1], amounts: $0[2], averagePrice: $0[3], highestPrice: $0[4])
          }
        }
      }
    }
  }

  private func lookingUp() throws -> Run {
    let pool = try indexed.get()
    return { [sample] in
      try sample.lookUpRows { amount in
        try pool.read { db in
          try StoredEntry.orderedByPosition.filter(Column("amount") == amount).fetchAll(db)
        }.map(\.entry)
      }
    }
  }

  private func readingRanges() throws -> Run {
    let pool = try indexed.get()
    return { [sample] in
      try sample.readRanges { amounts in
        try pool.read { db in
          let amount = Column("amount")
          return try StoredEntry.orderedByPosition
            .filter(amount >= amounts.lowerBound && amount < amounts.upperBound).fetchAll(db)
        }.map(\.entry)
      }
    }
  }

  private func delivering(_ rows: ObservedRows) throws -> Run {
    let pool = try GRDBPeer.openPool(GRDBPeer.makeDatabase(sample, in: "GRDB-\(rows)"))
    let id = sample.observedID
    let delivery = Delivery()
    let observation: AnyDatabaseCancellable =
      switch rows {
      case .row:
        observe(pool, { try StoredEntry.fetchOne($0, key: id) }, onChange: { delivery.take($0?.amount) })
      case .list:
        // In the order of the ids, which do not change.
        observe(
          pool, { try StoredEntry.orderedByPosition.fetchAll($0) },
          onChange: { delivery.take($0[id - 1].amount) })
      }
    var amounts = NewAmounts()
    return { [sample] in
      try withExtendedLifetime(observation) {
        try sample.deliver(delivery, from: amounts.take()) { amount in
          try pool.write { db in
            guard var row = try StoredEntry.fetchOne(db, key: id) else { throw WrongResult("no row \(id)") }
            try row.updateChanges(db) { $0.amount = amount }
          }
        }
      }
    }
  }

  private func observe<Value: Sendable>(
    _ pool: DatabasePool, _ fetch: @escaping @Sendable (Database) throws -> Value,
    onChange: @escaping @Sendable (Value) -> Void
  ) -> AnyDatabaseCancellable {
    ValueObservation.tracking(fetch).start(
      in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observer")),
      onError: { print("the observer failed: \($0)") }, onChange: onChange)
  }

  private func sortingView() throws -> Run {
    let pool = try opened.get()
    return { [sample] in
      try seconds(
        of: {
          try pool.read { db in
            try StoredEntry.order(Column("isDone"), Column("price").desc).fetchAll(db)
          }
        }, check: { try EntryOrder().check($0.map(\.entry), count: sample.records) })
    }
  }
}

/// Writing.
extension GRDBPeer {
  private func sorting() throws -> Run {
    let pool = try copied.get()
    var order = EntryOrder()
    return { [sample] in
      order.isReversed.toggle()
      let keys = order.isReversed ? "isDone DESC, price" : "isDone, price DESC"
      return try seconds(
        of: {
          try pool.write { db in
            try db.execute(
              sql: """
                UPDATE storedEntry SET position = sorted.place
                FROM (SELECT id, row_number() OVER (ORDER BY \(keys), position) AS place FROM storedEntry) AS sorted
                WHERE storedEntry.id = sorted.id
                """)
          }
        },
        check: {
          let rows = try pool.read { db in try StoredEntry.orderedByPosition.fetchAll(db) }
          try order.check(rows.map(\.entry), count: sample.records)
          try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        })
    }
  }

  private func importing() throws -> Run {
    let files = try USDATables.files()
    let folder = try sample.scratch("GRDB-import")
    return {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try seconds(
        of: {
          let pool = try GRDBPeer.openPool(folder.appendingPathComponent("usda.sqlite"))
          let rows = try pool.write { db in try files.reduce(0) { try $0 + GRDBPeer.importFile($1, db) } }
          try pool.close()
          return rows
        }, check: { try expect($0 == USDATables.rows(files), "the number of rows") })
    }
  }

  private static func importFile(_ file: URL, _ db: Database) throws -> Int {
    let fields = try USDATables.fields(file)
    let table = USDATables.table(file)
    let columns = fields.map { "\($0) TEXT NOT NULL" }.joined(separator: ", ")
    try db.execute(
      sql: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY AUTOINCREMENT, position REAL NOT NULL, \(columns))")
    try db.execute(sql: "CREATE INDEX \(table)ByPosition ON \(table)(position)")
    let marks = Array(repeating: "?", count: fields.count + 1).joined(separator: ", ")
    let statement = try db.makeStatement(
      sql: "INSERT INTO \(table) (position, \(fields.joined(separator: ", "))) VALUES (\(marks))")
    var reader = try USDATables.reader(file)
    var rows = 0
    while let row = try reader.next() {
      rows += 1
      try statement.execute(arguments: [Double(rows)] + StatementArguments(row.fields))
    }
    return rows
  }
}

/// The sample's row as it stands in the database.
private struct StoredEntry: Codable, FetchableRecord, MutablePersistableRecord {
  var id: Int64?
  var position: Double
  var title: String
  var note: String
  var amount: Int
  var price: Double
  var due: Date
  var isDone: Bool

  init(_ entry: Entry, position: Double) {
    self.position = position
    title = entry.title
    note = entry.note
    amount = entry.amount
    price = entry.price
    due = entry.due
    isDone = entry.isDone
  }

  var entry: Entry {
    Entry(title: title, note: note, amount: amount, price: price, due: due, isDone: isDone)
  }

  static var orderedByPosition: QueryInterfaceRequest<StoredEntry> { order(Column("position")) }

  /// Quicker than the text that GRDB makes of a date by itself.
  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSince1970
  }
  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSince1970
  }

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private final class GRDBEditor: AsyncEditor {
  private let pool: DatabasePool

  init(_ pool: DatabasePool) { self.pool = pool }

  func commit(_ edits: [Edit], _ log: EditLog) throws {
    try log.run(edits) { edit in try pool.write { db in try GRDBEditor.perform(edit, db) } }
  }

  func transact(_ edits: [Edit], _ log: EditLog) throws {
    try pool.write { db in try log.run(edits) { try GRDBEditor.perform($0, db) } }
  }

  func commit(_ edits: [Edit]) async throws -> [Int] {
    var ids: [Int] = []
    for edit in edits { ids.append(try await pool.write { db in try GRDBEditor.perform(edit, db) }) }
    return ids
  }

  private static func perform(_ edit: Edit, _ db: Database) throws -> Int {
    switch edit {
    case .add(let entry, let place):
      var row = StoredEntry(entry, position: try position(place, db))
      try row.insert(db)
      return Int(row.id ?? 0)
    case .move(let id, let other):
      let statement = try db.cachedStatement(sql: "UPDATE storedEntry SET position = ? WHERE id = ?")
      try statement.execute(arguments: [try position(.after(other), db), id])
      return id
    case .update(let id, let amount):
      guard var row = try StoredEntry.fetchOne(db, key: id) else { throw WrongResult("no row \(id)") }
      try row.updateChanges(db) { $0.amount = amount }
      return id
    case .delete(let id):
      try db.cachedStatement(sql: "DELETE FROM storedEntry WHERE id = ?").execute(arguments: [id])
      return id
    }
  }

  private static func position(_ place: Place, _ db: Database) throws -> Double {
    switch place {
    case .top: try number(db, "SELECT min(position) FROM storedEntry").map { $0 - 1 } ?? 1
    case .bottom: try number(db, "SELECT max(position) FROM storedEntry").map { $0 + 1 } ?? 1
    case .after(let id): try positionAfter(id, db)
    }
  }

  private static func positionAfter(_ id: Int, _ db: Database) throws -> Double {
    guard let above = try number(db, "SELECT position FROM storedEntry WHERE id = ?", [id]) else {
      throw WrongResult("no row \(id)")
    }
    let below = try number(db, "SELECT min(position) FROM storedEntry WHERE position > ?", [above])
    return below.map { (above + $0) / 2 } ?? above + 1
  }

  private static func number(
    _ db: Database, _ sql: String, _ arguments: StatementArguments = []
  ) throws -> Double? {
    try Double.fetchOne(try db.cachedStatement(sql: sql), arguments: arguments)
  }

  func settle() throws {
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
  }
  func count() throws -> Int { try pool.read { db in try StoredEntry.fetchCount(db) } }
  func entry(_ id: Int) throws -> Entry? {
    try pool.read { db in try StoredEntry.fetchOne(db, key: id)?.entry }
  }

  func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
    try pool.read { db in
      let position = try Double.fetchOne(
        db, sql: "SELECT position FROM storedEntry WHERE id = ?", arguments: [id])
      let above = "SELECT id FROM storedEntry WHERE position < ? ORDER BY position DESC LIMIT 1"
      let below = "SELECT id FROM storedEntry WHERE position > ? ORDER BY position LIMIT 1"
      return (
        try Int.fetchOne(db, sql: above, arguments: [position]),
        try Int.fetchOne(db, sql: below, arguments: [position])
      )
    }
  }
}
