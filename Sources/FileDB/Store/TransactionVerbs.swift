import FileDBPlist

extension StoreTransaction {
  /// Creates an empty table.
  /// - Throws: ``StoreError/tableExists``, ``StoreError/invalidTableName``.
  public mutating func create<Value>(_ table: TableName<Value>) throws {
    try state.apply(.create, to: table.text)
  }

  /// Adds a record with this value and returns its new id. Creates the table if it does not exist.
  /// - Throws: ``StoreError/recordNotFound`` or ``StoreError/indexOutOfRange`` for the position;
  ///   ``StoreError/unrepresentableValue`` or ``StoreError/reservedField`` with the field; ``StoreError/invalidValue``
  ///   for a value that does not encode itself by keys, or holds `nil` in an array.
  @discardableResult
  public mutating func add<Value>(
    _ value: Value, to table: TableName<Value>, at position: Position = .bottom
  ) throws -> RecordID {
    try add(contentsOf: CollectionOfOne(value), to: table, at: position)[0]
  }

  /// Adds records with these values, in their order and the first at `position`, and returns their new ids.
  /// - Throws: as ``add(_:to:at:)``; then no record is added.
  @discardableResult
  public mutating func add<Value>(
    contentsOf values: some Sequence<Value>, to table: TableName<Value>, at position: Position = .bottom
  ) throws -> [RecordID] {
    let fields = try values.map { try encode($0, table: table.text) }
    return try insert(fields, into: table.text, at: position)
  }

  /// Changes a record in place. It keeps its id, and the fields that `Value` does not know.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/invalidValue``, what `body` throws, and as
  ///   ``add(_:to:at:)``; for a ``VersionedValue``, ``StoreError/newerVersion`` and ``StoreError/migrationFailed``.
  public mutating func update<Value>(
    _ id: RecordID, in table: TableName<Value>, _ body: (inout Value) throws -> Void
  ) throws {
    let record = try snapshot(of: table).record(with: id)
    let current = try record.migrated
    let old = try current.value
    var new = old
    try body(&new)
    let fields = try current.fields.dictionary.patched(
      from: fields(of: old, in: table.text, record: id).dictionary,
      to: fields(of: new, in: table.text, record: id).dictionary)
    try replace(id, with: Fields(fields), was: record.fields, in: table.text)
  }

  /// Gives a record a new value, like ``update(_:in:_:)``. This also repairs a record that does not fit the type.
  public mutating func update<Value>(_ id: RecordID, in table: TableName<Value>, to value: Value) throws {
    do {
      try update(id, in: table) { $0 = value }
    } catch let error as StoreError {
      guard [StoreError.invalidValue, StoreError.migrationFailed].contains(error.code) else { throw error }
      let old = try snapshot(of: table).record(with: id).fields
      var new = old
      new.set(try fields(of: value, in: table.text, record: id))
      try replace(id, with: new, was: old, in: table.text)
    }
  }

  /// Sets single fields and keeps the others.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/unrepresentableValue``, ``StoreError/reservedField``; for a
  ///   ``VersionedValue``, ``StoreError/newerVersion`` and ``StoreError/migrationFailed``.
  public mutating func set<Value>(_ fields: Fields, of id: RecordID, in table: TableName<Value>) throws {
    try change(id, in: table) { $0.set(fields) }
  }

  /// Removes single fields. It is not an error if a field does not exist.
  /// - Throws: ``StoreError/recordNotFound``; for a ``VersionedValue``, ``StoreError/newerVersion`` and
  ///   ``StoreError/migrationFailed``.
  public mutating func unset<Value>(_ names: [String], of id: RecordID, in table: TableName<Value>) throws {
    try change(id, in: table) { fields in
      for name in names { fields[name] = nil }
    }
  }

  /// Removes a record. Its id is not given again.
  /// - Throws: ``StoreError/recordNotFound``.
  public mutating func delete<Value>(_ id: RecordID, in table: TableName<Value>) throws {
    try state.apply(.remove([id]), to: table.text)
  }

  /// Removes records. An id may be given twice.
  /// - Throws: ``StoreError/recordNotFound``; then no record is removed.
  public mutating func delete<Value>(_ ids: some Sequence<RecordID>, in table: TableName<Value>) throws {
    var seen: Set<RecordID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    guard !ids.isEmpty else { return }
    try state.apply(.remove(ids), to: table.text)
  }

  /// Removes every record and keeps the counter, so that no id is given again.
  public mutating func deleteAll<Value>(in table: TableName<Value>) throws {
    try state.apply(.removeAll, to: table.text)
  }

  /// Removes every record and sets the counter back to 0, so that ids begin at 1 again.
  public mutating func truncate<Value>(_ table: TableName<Value>) throws {
    try state.apply(.truncate, to: table.text)
  }

  /// Removes the table and its file. Its counter is kept, so a later table of the same name never reuses an id.
  public mutating func drop<Value>(_ table: TableName<Value>) throws {
    try state.apply(.drop, to: table.text)
  }

  /// Copies a record. The copy has a new id and goes to `position`, or directly below the original if that is `nil`.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/indexOutOfRange``.
  @discardableResult
  public mutating func duplicate<Value>(
    _ id: RecordID, in table: TableName<Value>, to position: Position? = nil
  ) throws -> RecordID {
    let fields = try snapshot(of: table).record(with: id).fields
    return try insert([fields], into: table.text, at: position ?? .after(id))[0]
  }

  /// Moves a record.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/indexOutOfRange``.
  public mutating func move<Value>(_ id: RecordID, in table: TableName<Value>, to position: Position) throws {
    let newIndex: Int
    do {
      let table = try state.table(table.text)
      newIndex = try table.finalIndex(of: table.index(of: id), movedTo: position)
    } catch {
      throw error.adding(table: table.text)
    }
    try state.apply(.move(id, index: newIndex), to: table.text)
  }

  /// Moves the record at one index to another. `newIndex` is its index afterwards, as in UITableView's
  /// `tableView(_:moveRowAt:to:)`.
  /// - Throws: ``StoreError/indexOutOfRange``.
  public mutating func move<Value>(
    fromIndex index: Int, toIndex newIndex: Int, in table: TableName<Value>
  ) throws {
    let present = try state.table(table.text)
    guard present.records.indices.contains(index) else {
      throw present.missing(index: index).adding(table: table.text)
    }
    try state.apply(.move(present.records[index].id, index: newIndex), to: table.text)
  }

  /// Replaces all records of the table with those of `values`. Each record has the id that comes with its value, or a
  /// new one if that is `nil`.
  /// - Returns: the ids, in order.
  /// - Throws: ``StoreError/duplicateID``, and as ``add(_:to:at:)``.
  @discardableResult
  public mutating func replaceAll<Value>(
    in table: TableName<Value>, with values: [IdentifiedValue<Value>]
  ) throws -> [RecordID] {
    let given = try values.map { (id: $0.id, fields: try encode($0.value, table: table.text)) }
    // New ids lie above every id that is given, so that the two never meet.
    var counter = try given.reduce(state.table(table.text).counter) { max($0, $1.id?.rawValue ?? 0) }
    let records = state.encoder.encode(
      try given.map { (try $0.id ?? nextID(after: &counter, table: table.text), $0.fields) })
    // Looked at before anything is removed: a transaction whose body goes on after an error keeps its records.
    var empty = TableState(counter: 0, records: [], foreignKeys: PlistDictionary())
    do { try empty.apply(.insert(records, index: 0)) } catch { throw error.adding(table: table.text) }
    try state.permit(.insert(records, index: 0), to: table.text)
    try createIfMissing(table.text)
    try state.apply(.removeAll, to: table.text)
    try state.apply(.insert(records, index: 0), to: table.text)
    return records.map(\.id)
  }
}

extension StoreTransaction {
  /// Adds records with these values, each under the id that its value comes with, or a new one above all of these.
  /// - Throws: ``StoreError/duplicateID``, and as ``add(_:to:at:)``; then none is added.
  @discardableResult
  package mutating func add<Value>(
    identified values: [IdentifiedValue<Value>], to table: TableName<Value>, at position: Position
  ) throws -> [RecordID] {
    let index: Int
    do { index = try state.table(table.text).insertionIndex(for: position) } catch {
      throw error.adding(table: table.text)
    }
    var counter = try values.reduce(state.table(table.text).counter) { max($0, $1.id?.rawValue ?? 0) }
    let records = state.encoder.encode(
      try values.map { identified in
        let fields = try encode(identified.value, table: table.text)
        return (try identified.id ?? nextID(after: &counter, table: table.text), fields)
      })
    try createIfMissing(table.text)
    if !records.isEmpty { try state.apply(.insert(records, index: index), to: table.text) }
    return records.map(\.id)
  }

  /// Makes `counter` the highest id that was ever given, where it is higher.
  package mutating func raiseCounter<Value>(of table: TableName<Value>, to counter: Int64) throws {
    guard try state.table(table.text).counter < counter else { return }
    try state.apply(.raiseCounter(to: counter), to: table.text)
  }

  private mutating func insert(
    _ new: [Fields], into table: String, at position: Position
  ) throws(StoreError) -> [RecordID] {
    let index: Int
    do { index = try state.table(table).insertionIndex(for: position) } catch {
      throw error.adding(table: table)
    }
    var counter = try state.table(table).counter
    var identified: [(id: RecordID, fields: Fields)] = []
    identified.reserveCapacity(new.count)
    for fields in new { identified.append((try nextID(after: &counter, table: table), fields)) }
    let records = state.encoder.encode(identified)
    try createIfMissing(table)
    if !records.isEmpty { try state.apply(.insert(records, index: index), to: table) }
    return records.map(\.id)
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

  /// Changes a record's fields as of its type's newest version.
  private mutating func change<Value>(
    _ id: RecordID, in table: TableName<Value>, _ body: (inout Fields) -> Void
  ) throws {
    let record = try snapshot(of: table).record(with: id)
    var fields = try record.migrated.fields
    body(&fields)
    try replace(id, with: fields, was: record.fields, in: table.text)
  }

  /// A commit for a record that is as it was would only cost time.
  private mutating func replace(
    _ id: RecordID, with fields: Fields, was old: Fields, in table: String
  ) throws(StoreError) {
    do {
      let new = try fields.normalized(limits: state.limits)
      if new != old { try state.apply(.replace(state.encoder.encode(new, id: id)), to: table) }
    } catch {
      var error = error.adding(table: table)
      error.record = id
      throw error
    }
  }

  private func encode(_ value: some Encodable, table: String) throws -> Fields {
    do {
      return try fields(of: value, in: table).normalized(limits: state.limits)
    } catch let error as StoreError {
      throw error.adding(table: table)
    }
  }

  private func fields(
    of value: some Encodable, in table: String, record: RecordID? = nil
  ) throws -> Fields {
    do {
      return try FieldsEncoder.encode(value)
    } catch EncodingError.invalidValue(_, let context) {
      throw StoreError(
        StoreError.invalidValue, context.debugDescription, table: table, record: record,
        field: FieldPath(context.codingPath).text)
    }
  }
}

extension Fields {
  fileprivate mutating func set(_ fields: Fields) {
    dictionary.set(Array(fields.dictionary))
  }
}

extension TableState {
  /// The index that a new record gets at `position`.
  fileprivate func insertionIndex(for position: Position) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count
    case .index(let index):
      guard (0...records.count).contains(index) else { throw missing(index: index) }
      return index
    case .before(let id): return try index(of: id)
    case .after(let id): return try index(of: id) + 1
    }
  }

  /// The index that the record at `index` has once it has moved to `position`.
  fileprivate func finalIndex(of index: Int, movedTo position: Position) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count - 1
    case .index(let newIndex): return newIndex
    case .before(let id):
      let neighbour = try self.index(of: id)
      return neighbour > index ? neighbour - 1 : neighbour
    case .after(let id):
      let neighbour = try self.index(of: id)
      return neighbour >= index ? neighbour : neighbour + 1
    }
  }
}
