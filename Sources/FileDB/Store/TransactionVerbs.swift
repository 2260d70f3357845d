import FileDBPlist

extension StoreTransaction {
  /// Makes an empty table.
  /// - Throws: ``StoreError/tableExists``, ``StoreError/invalidTableName``.
  public mutating func create<Row>(_ table: TableName<Row>) throws {
    try state.apply(.create, to: table.text)
  }

  /// Adds `row` and returns its new id. A table without a file gets one.
  /// - Throws: ``StoreError/recordNotFound`` or ``StoreError/rowNotFound`` for the position;
  ///   ``StoreError/unrepresentableValue`` or ``StoreError/reservedField`` with the field; ``StoreError/invalidRow``
  ///   for a row that is no keyed container or holds `nil` in an array.
  @discardableResult
  public mutating func add<Row>(
    _ row: Row, to table: TableName<Row>, at position: Position = .bottom
  ) throws -> RecordID {
    try add(contentsOf: CollectionOfOne(row), to: table, at: position)[0]
  }

  /// Adds rows in their order, the first at `position`, and returns their new ids.
  /// - Throws: as ``add(_:to:at:)``; then none is added.
  @discardableResult
  public mutating func add<Row>(
    contentsOf rows: some Sequence<Row>, to table: TableName<Row>, at position: Position = .bottom
  ) throws -> [RecordID] {
    let records = try rows.map { try encode($0, table: table.text) }
    return try insert(records, into: table.text, at: position)
  }

  /// Changes a row in place. Fields that `Row` does not know stay; the id stays.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/invalidRow``, what `body` throws, and as ``add(_:to:at:)``; for a
  ///   ``VersionedRow``, ``StoreError/newerRow`` and ``StoreError/migrationFailed``.
  public mutating func update<Row>(
    _ id: RecordID, in table: TableName<Row>, _ body: (inout Row) throws -> Void
  ) throws {
    let stored = try snapshot(of: table).row(with: id)
    let current = try stored.migrated
    let old = try current.value
    var new = old
    try body(&new)
    let fields = try current.record.fields.patched(
      from: fields(of: old, in: table.text, record: id).fields,
      to: fields(of: new, in: table.text, record: id).fields)
    try replace(id, with: Record(fields: fields), was: stored.record, in: table.text)
  }

  /// Gives a row a new value; as ``update(_:in:_:)``, but a row that did not fit the type may be mended so.
  public mutating func update<Row>(_ id: RecordID, in table: TableName<Row>, to row: Row) throws {
    do {
      try update(id, in: table) { $0 = row }
    } catch let error as StoreError {
      guard [StoreError.invalidRow, StoreError.migrationFailed].contains(error.code) else { throw error }
      let stored = try snapshot(of: table).row(with: id).record
      var record = stored
      record.set(try fields(of: row, in: table.text, record: id))
      try replace(id, with: record, was: stored, in: table.text)
    }
  }

  /// Sets single fields and leaves the others.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/unrepresentableValue``, ``StoreError/reservedField``; for a
  ///   ``VersionedRow``, ``StoreError/newerRow`` and ``StoreError/migrationFailed``.
  public mutating func set<Row>(_ fields: Record, of id: RecordID, in table: TableName<Row>) throws {
    try change(id, in: table) { $0.set(fields) }
  }

  /// Removes single fields; one that is not there is no error.
  /// - Throws: ``StoreError/recordNotFound``; for a ``VersionedRow``, ``StoreError/newerRow`` and
  ///   ``StoreError/migrationFailed``.
  public mutating func unset<Row>(_ fields: [String], of id: RecordID, in table: TableName<Row>) throws {
    try change(id, in: table) { record in
      for field in fields { record[field] = nil }
    }
  }

  /// Removes a record. Its id is not given again.
  /// - Throws: ``StoreError/recordNotFound``.
  public mutating func delete<Row>(_ id: RecordID, in table: TableName<Row>) throws {
    try state.apply(.remove([id]), to: table.text)
  }

  /// Removes records; an id that is named twice counts once.
  /// - Throws: ``StoreError/recordNotFound``; then none is removed.
  public mutating func delete<Row>(_ ids: some Sequence<RecordID>, in table: TableName<Row>) throws {
    var seen: Set<RecordID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    guard !ids.isEmpty else { return }
    try state.apply(.remove(ids), to: table.text)
  }

  /// Removes every record and keeps the counter, so that no id is given again.
  public mutating func deleteAll<Row>(in table: TableName<Row>) throws {
    try state.apply(.removeAll, to: table.text)
  }

  /// Removes every record and sets the counter back to 0: ids are given anew from 1.
  public mutating func truncate<Row>(_ table: TableName<Row>) throws {
    try state.apply(.truncate, to: table.text)
  }

  /// Removes the table's file.
  public mutating func drop<Row>(_ table: TableName<Row>) throws {
    try state.apply(.drop, to: table.text)
  }

  /// Puts a copy of a record, under a new id, at `position`; right behind the original where none is given.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/rowNotFound``.
  @discardableResult
  public mutating func duplicate<Row>(
    _ id: RecordID, in table: TableName<Row>, to position: Position? = nil
  ) throws -> RecordID {
    let record = try snapshot(of: table).row(with: id).record
    return try insert([record], into: table.text, at: position ?? .after(id))[0]
  }

  /// Moves a record.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/rowNotFound``.
  public mutating func move<Row>(_ id: RecordID, in table: TableName<Row>, to position: Position) throws {
    let newRow: Int
    do {
      let table = try state.table(table.text)
      newRow = try table.finalRow(of: table.row(of: id), movedTo: position)
    } catch {
      throw error.adding(table: table.text)
    }
    try state.apply(.move(id, row: newRow), to: table.text)
  }

  /// Moves the record in one row to another: `newRow` is where it is in the end, as in UITableView's
  /// `tableView(_:moveRowAt:to:)`.
  /// - Throws: ``StoreError/rowNotFound``.
  public mutating func move<Row>(fromRow row: Int, toRow newRow: Int, in table: TableName<Row>) throws {
    let records = try state.table(table.text).records
    guard records.indices.contains(row) else {
      throw StoreError(
        StoreError.rowNotFound, "there is no row \(row); the table has \(records.count)", table: table.text)
    }
    try state.apply(.move(records[row].id, row: newRow), to: table.text)
  }

  /// Replaces everything in the table: a row keeps the id it comes with, and gets a new one where that is `nil`.
  /// - Returns: the ids, in order.
  /// - Throws: ``StoreError/duplicateID``, and as ``add(_:to:at:)``.
  @discardableResult
  public mutating func replaceAll<Row>(
    in table: TableName<Row>, with rows: [IdentifiedRow<Row>]
  ) throws -> [RecordID] {
    let records = try rows.map { (id: $0.id, record: try encode($0.value, table: table.text)) }
    // New ids lie above every id that is given, so that the two never meet.
    var counter = try records.reduce(state.table(table.text).counter) { max($0, $1.id?.rawValue ?? 0) }
    let stored = state.encoder.encode(
      try records.map { (try $0.id ?? nextID(after: &counter, table: table.text), $0.record) })
    // Looked at before anything is removed: a transaction whose body goes on after an error keeps its rows.
    var empty = TableState(counter: 0, records: [], foreignKeys: PlistDictionary())
    do { try empty.apply(.insert(stored, row: 0)) } catch { throw error.adding(table: table.text) }
    try state.check(.insert(stored, row: 0), of: table.text)
    try createIfMissing(table.text)
    try state.apply(.removeAll, to: table.text)
    try state.apply(.insert(stored, row: 0), to: table.text)
    return stored.map(\.id)
  }
}

extension StoreTransaction {
  /// Adds rows, each under the id that it comes with, or a new one above all of these.
  /// - Throws: ``StoreError/duplicateID``, and as ``add(_:to:at:)``; then none is added.
  @discardableResult
  package mutating func add<Row>(
    identified rows: [IdentifiedRow<Row>], to table: TableName<Row>, at position: Position
  ) throws -> [RecordID] {
    let row: Int
    do { row = try state.table(table.text).insertionRow(for: position) } catch {
      throw error.adding(table: table.text)
    }
    var counter = try rows.reduce(state.table(table.text).counter) { max($0, $1.id?.rawValue ?? 0) }
    let stored = state.encoder.encode(
      try rows.map { row in
        let record = try encode(row.value, table: table.text)
        return (try row.id ?? nextID(after: &counter, table: table.text), record)
      })
    try createIfMissing(table.text)
    if !stored.isEmpty { try state.apply(.insert(stored, row: row), to: table.text) }
    return stored.map(\.id)
  }

  /// Makes `counter` the highest id that was ever given, where it is higher.
  package mutating func raiseCounter<Row>(of table: TableName<Row>, to counter: Int64) throws {
    guard let highest = RecordID(rawValue: counter), try state.table(table.text).counter < counter else {
      return
    }
    // No change of the journal is about the counter alone; a record that was there raises it.
    try state.apply(.insert([StoredRecord(id: highest, record: Record())], row: 0), to: table.text)
    try state.apply(.remove([highest]), to: table.text)
  }

  private mutating func insert(
    _ records: [Record], into table: String, at position: Position
  ) throws(StoreError) -> [RecordID] {
    let row: Int
    do { row = try state.table(table).insertionRow(for: position) } catch { throw error.adding(table: table) }
    var counter = try state.table(table).counter
    var identified: [(id: RecordID, record: Record)] = []
    identified.reserveCapacity(records.count)
    for record in records { identified.append((try nextID(after: &counter, table: table), record)) }
    let stored = state.encoder.encode(identified)
    try createIfMissing(table)
    if !stored.isEmpty { try state.apply(.insert(stored, row: row), to: table) }
    return stored.map(\.id)
  }

  private mutating func createIfMissing(_ table: String) throws(StoreError) {
    if try !state.table(table).exists { try state.apply(.create, to: table) }
  }

  private func nextID(after counter: inout Int64, table: String) throws(StoreError) -> RecordID {
    guard counter < .max else {
      throw StoreError(StoreError.counterExhausted, "every id has been given", table: table)
    }
    counter += 1
    return RecordID(counted: counter)
  }

  /// Changes a row's fields as of its type's newest version.
  private mutating func change<Row>(
    _ id: RecordID, in table: TableName<Row>, _ body: (inout Record) -> Void
  ) throws {
    let stored = try snapshot(of: table).row(with: id)
    var record = try stored.migrated.record
    body(&record)
    try replace(id, with: record, was: stored.record, in: table.text)
  }

  /// A commit for a record that is as it was would only cost time.
  private mutating func replace(
    _ id: RecordID, with record: Record, was old: Record, in table: String
  ) throws(StoreError) {
    do {
      let new = try record.normalized(limits: state.limits)
      if new != old { try state.apply(.replace(state.encoder.encode(new, id: id)), to: table) }
    } catch {
      var error = error.adding(table: table)
      error.record = id
      throw error
    }
  }

  private func encode(_ row: some Encodable, table: String) throws -> Record {
    do {
      return try fields(of: row, in: table).normalized(limits: state.limits)
    } catch let error as StoreError {
      throw error.adding(table: table)
    }
  }

  private func fields(
    of row: some Encodable, in table: String, record: RecordID? = nil
  ) throws -> Record {
    do {
      return try RowEncoder.encode(row)
    } catch EncodingError.invalidValue(_, let context) {
      throw StoreError(
        StoreError.invalidRow, context.debugDescription, table: table, record: record,
        field: FieldPath(context.codingPath).text)
    }
  }
}

extension Record {
  fileprivate mutating func set(_ fields: Record) {
    for field in fields.fields { self[field.key] = field.value }
  }
}

extension TableState {
  /// The row that a new record gets at `position`.
  fileprivate func insertionRow(for position: Position) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count
    case .row(let row):
      guard (0...records.count).contains(row) else { throw missing(row: row) }
      return row
    case .before(let id): return try row(of: id)
    case .after(let id): return try row(of: id) + 1
    }
  }

  /// The row in which the record of `row` is once it moved to `position`.
  fileprivate func finalRow(of row: Int, movedTo position: Position) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count - 1
    case .row(let newRow): return newRow
    case .before(let id):
      let neighbour = try self.row(of: id)
      return neighbour > row ? neighbour - 1 : neighbour
    case .after(let id):
      let neighbour = try self.row(of: id)
      return neighbour >= row ? neighbour : neighbour + 1
    }
  }
}
