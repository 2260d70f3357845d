import FileDBPlist
import FileDBTables

/// The verbs. In a ``RecordStore/write(_:)`` on the same thread, they are part of it. Otherwise each is a transaction
/// of its own. Besides the errors that are named with them, they throw those of ``RecordStore/write(_:)``.
extension RecordTable {
  /// Creates the table, without records.
  /// - Throws: ``StoreError/Code/tableExists``, ``StoreError/Code/invalidTableName``.
  public func create() throws { try writing { try $0.create(name.text) } }

  /// Adds a record with this value and returns its new id. If the table does not exist, this creates it.
  ///
  /// FileDB stores a `Date` in whole seconds and cuts off its fraction. Use ``ExactDate`` to keep it.
  /// - Throws: ``StoreError/Code/recordNotFound`` or ``StoreError/Code/indexOutOfRange`` for the position;
  ///   ``StoreError/Code/unrepresentableValue`` or ``StoreError/Code/reservedField`` with the field;
  ///   ``StoreError/Code/invalidValue`` for a value that does not encode itself as fields with names, or holds `nil` in
  ///   an array.
  @discardableResult
  public func add(_ value: Value, at position: Position<Value> = .bottom) throws -> RecordID<Value> {
    try add(contentsOf: CollectionOfOne(value), at: position)[0]
  }

  /// Adds records with these values in their order, the first at `position`, and returns their new ids.
  /// - Throws: as `add(_:at:)`; then no record is added.
  /// - Complexity: *k* times as much as adding one record, for *k* records. If the table has fewer than *k* records,
  ///   O(*n* + *k*).
  @discardableResult
  public func add(
    contentsOf values: some Sequence<Value>, at position: Position<Value> = .bottom
  ) throws -> [RecordID<Value>] {
    // Encode before locking the store, so that no other writer waits for it.
    let fields = try FieldsEncoder.fields(of: values, for: name.text, limits: store.options.limits)
    return try writing(adding: fields) { transaction in
      let versioned = try transaction.addingVersions(to: fields, of: Value.self, in: name.text)
      return try transaction.insert(versioned, into: name.text, at: position)
    }
  }

  /// Adds a record with this value and an id of your choice, for example one that it has elsewhere. If the table does
  /// not exist, this creates it.
  ///
  /// Later records get higher ids. FileDB does not check whether a record that was deleted had the id.
  /// - Throws: ``StoreError/Code/duplicateID`` if there is a record with this id, and as `add(_:at:)`.
  public func add(_ value: Value, id: RecordID<Value>, at position: Position<Value> = .bottom) throws {
    try add(identified: [IdentifiedValue(value, id: id)], at: position)
  }

  /// Gives the record with this id a new value, like `update(_:to:)`. If there is no such record, adds one with this
  /// id, like `add(_:id:at:)`.
  ///
  /// A new record goes to `position`. A record that exists keeps its place.
  /// - Throws: as `update(_:to:)` and `add(_:id:at:)`.
  public func upsert(_ value: Value, id: RecordID<Value>, at position: Position<Value> = .bottom) throws {
    try writing { transaction in
      if try transaction.table(name.text).records.contains(id.plain) {
        try update(id, to: value)
      } else {
        try add(value, id: id, at: position)
      }
    }
  }

  /// Changes a record in place. The record keeps its id, and the fields that `Value` does not know.
  /// - Returns: what `body` returns.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/invalidValue``, what `body` throws, and as
  ///   `add(_:at:)`; for a ``VersionedValue``, ``StoreError/Code/newerVersion`` and
  ///   ``StoreError/Code/migrationFailed``.
  @discardableResult
  public func update<Result>(
    _ id: RecordID<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try writing { transaction in
      let record = try record(with: id)
      let current = try record.migrated
      let stored = record.fields
      var value = try current.value
      // Before `body` runs: it may change an object that the value only refers to.
      let old = try FieldsEncoder.fields(of: value, for: name.text, record: id.plain)
      let result = try body(&value)
      let new = try FieldsEncoder.fields(of: value, for: name.text, record: id.plain)
      let patched = current.fields(ifNot: record, stored).dictionary
        .patched(from: old.dictionary, to: new.dictionary)
      let fields = Fields(patched).keepingVersion(of: stored)
      try transaction.replace(id.plain, with: fields, was: stored, in: name.text)
      return result
    }
  }

  /// Gives a record a new value, like `update(_:_:)`. A record that does not fit the type fits afterwards: each of the
  /// type's fields is set, or removed if it is `nil` now.
  /// - Throws: as `update(_:_:)`. It does not throw ``StoreError/Code/invalidValue`` or
  ///   ``StoreError/Code/migrationFailed`` for the old value.
  public func update(_ id: RecordID<Value>, to value: Value) throws {
    try writing { transaction in
      do {
        try update(id) { $0 = value }
      } catch let error as StoreError {
        guard [StoreError.Code.invalidValue, StoreError.Code.migrationFailed].contains(error.code) else {
          throw error
        }
        let old = try record(with: id).fields
        var new = old
        let fields = try FieldsEncoder.fields(of: value, for: name.text, record: id.plain)
        new.set(fields)
        for name in FieldsEncoder.namesWithoutValue(of: value) { new[name] = fields[name] }
        try transaction.replace(id.plain, with: new, was: old, in: name.text)
      }
    }
  }

  /// Sets one property of a record, like `update(_:_:)`.
  ///
  ///     try notes.set(\.isDone, to: true, of: milk)
  ///
  /// - Throws: as `update(_:_:)`.
  public func set<Property>(
    _ path: WritableKeyPath<Value, Property>, to property: Property, of id: RecordID<Value>
  ) throws {
    try update(id) { $0[keyPath: path] = property }
  }

  /// Sets single fields of a record, and keeps its other fields.
  /// - Throws: ``StoreError/Code/recordNotFound``; ``StoreError/Code/unrepresentableValue``;
  ///   ``StoreError/Code/reservedField``, also for the field that holds the version; for a ``VersionedValue``,
  ///   ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  public func set(_ fields: Fields, of id: RecordID<Value>) throws { try change(id) { $0.set(fields) } }

  /// Removes single fields of a record. It is not an error if a field does not exist.
  /// - Throws: ``StoreError/Code/recordNotFound``; for a ``VersionedValue``, ``StoreError/Code/newerVersion``,
  ///   ``StoreError/Code/migrationFailed`` and, for the field that holds the version,
  ///   ``StoreError/Code/reservedField``.
  public func unset(_ names: [String], of id: RecordID<Value>) throws {
    try change(id) { fields in
      for name in names { fields[name] = nil }
    }
  }

  /// Removes a record. No other record gets its id, unless `truncate` sets the counter back.
  /// - Throws: ``StoreError/Code/recordNotFound``.
  public func delete(_ id: RecordID<Value>) throws { try delete(CollectionOfOne(id)) }

  /// Removes records. `ids` may contain an id twice.
  /// - Throws: ``StoreError/Code/recordNotFound``; then no record is removed.
  /// - Complexity: *k* times as much as deleting one record, for *k* records. For more than an eighth of the table,
  ///   O(*n*).
  public func delete(_ ids: some Sequence<RecordID<Value>>) throws {
    var seen: Set<AnyRecordID> = []
    let ids = ids.map(\.plain).filter { seen.insert($0).inserted }
    guard let first = ids.first else { return }
    try writing { transaction in
      let table = try transaction.table(name.text)
      if !table.exists {
        do throws(StoreError) { _ = try table.index(of: first) } catch {
          throw error.adding(table: name.text)
        }
      }
      try transaction.apply(.remove(ids), to: name.text)
    }
  }

  /// Removes every record and keeps the counter, so that no id is used again. Does nothing if there is no table.
  /// - Throws: as `RecordStore.write(_:)`.
  public func deleteAll() throws {
    try writing { transaction in
      if try transaction.table(name.text).exists { try transaction.apply(.removeAll, to: name.text) }
    }
  }

  /// Removes every record and sets the counter back to 0, so that ids begin at 1 again.
  /// - Throws: ``StoreError/Code/tableNotFound``, and as `RecordStore.write(_:)`.
  public func truncate() throws { try writing { try $0.apply(.truncate, to: name.text) } }

  /// Removes the table and its file. FileDB keeps the table's counter, so a later table of the same name uses no id
  /// again.
  /// - Throws: ``StoreError/Code/tableNotFound``; ``StoreError/Code/readOnly`` if the table has records of an attached
  ///   store; and as `RecordStore.write(_:)`.
  public func drop() throws { try writing { try $0.apply(.drop, to: name.text) } }

  /// Copies a record and returns the copy's id. The copy goes to `position`, or directly below the original if
  /// `position` is `nil`.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/indexOutOfRange``.
  @discardableResult
  public func duplicate(_ id: RecordID<Value>, to position: Position<Value>? = nil) throws -> RecordID<Value>
  {
    try writing { transaction in
      let fields = try record(with: id).fields
      return try transaction.insert([fields], into: name.text, at: position ?? .after(id))[0]
    }
  }

  /// Moves a record.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/indexOutOfRange``.
  public func move(_ id: RecordID<Value>, to position: Position<Value>) throws {
    try writing { transaction in
      let index: (old: Int, new: Int)
      do throws(StoreError) {
        let table = try transaction.table(name.text)
        let old = try table.index(of: id.plain)
        index = (old, try table.finalIndex(of: old, movedTo: position))
      } catch {
        throw error.adding(table: name.text)
      }
      if index.old == index.new { return }
      try transaction.apply(.move(id.plain, index: index.new), to: name.text)
    }
  }

  /// Moves the record at one index to another. `newIndex` is its index afterwards, as in UITableView's
  /// `tableView(_:moveRowAt:to:)`.
  /// - Throws: ``StoreError/Code/indexOutOfRange``.
  public func move(fromIndex index: Int, toIndex newIndex: Int) throws {
    try writing { transaction in
      let table = try transaction.table(name.text)
      guard table.records.indices.contains(index) else {
        throw table.missing(index: index).adding(table: name.text)
      }
      if index == newIndex { return }
      try transaction.apply(.move(table.records[index].id, index: newIndex), to: name.text)
    }
  }

  /// Replaces all records of the table by new ones with these values.
  /// - Returns: the ids of the new records, in order. None of them has been given before.
  /// - Throws: as `add(_:at:)`; then nothing is replaced.
  /// - Complexity: O(*n* + *k*) for *k* values.
  @discardableResult
  public func replaceAll(with values: some Sequence<Value>) throws -> [RecordID<Value>] {
    try replaceAll(identified: values.map { IdentifiedValue($0) })
  }

  /// Replaces all records of the table by these, with the ids that they have.
  /// - Throws: ``StoreError/Code/duplicateID``, and as `add(_:at:)`; then nothing is replaced.
  /// - Complexity: O(*n* + *k*) for *k* records.
  public func replaceAll(records: some Sequence<DecodedRecord<Value>>) throws {
    try replaceAll(identified: records.map { IdentifiedValue($0.value, id: $0.id) })
  }
}

extension RecordTable {
  /// Replaces all records of the table. Each gets the id that comes with its value, or a new id if that is `nil`.
  /// - Returns: the ids, in order.
  /// - Throws: ``StoreError/Code/duplicateID``, and as ``add(_:at:)``.
  @discardableResult
  package func replaceAll(identified values: [IdentifiedValue<Value>]) throws -> [RecordID<Value>] {
    try writing { transaction in
      let records = try transaction.encode(values, for: name.text)
      try transaction.permit(.insert(records, index: 0), to: name.text)
      try transaction.createIfMissing(name.text)
      try transaction.apply(.removeAll, to: name.text)
      try transaction.apply(.insert(records, index: 0), to: name.text)
      return records.map { RecordID($0.id) }
    }
  }

  /// Adds records with these values. Each gets the id that comes with its value, or a new id above all of these.
  /// - Throws: ``StoreError/Code/duplicateID``, and as ``add(_:at:)``; then no record is added.
  @discardableResult
  package func add(identified values: [IdentifiedValue<Value>], at position: Position<Value>) throws
    -> [RecordID<Value>]
  {
    try writing { transaction in
      let records = try transaction.encode(values, for: name.text)
      try transaction.insert(records, into: name.text, at: position)
      return records.map { RecordID($0.id) }
    }
  }

  /// Adds records in canonical bytes, like ``add(identified:at:)``.
  package func add(encoded records: [EncodedRecord], at position: Position<Value>) throws {
    try writing { try $0.insert(records, into: name.text, at: position) }
  }

  /// Whether records that are added without a type may get a version.
  package var addsVersions: Bool {
    get throws { try writing { try $0.versionedRecords(of: name.text) != nil } }
  }

  /// Raises the highest id ever given to `counter`, if that is higher.
  package func raiseCounter(to counter: Int64) throws {
    try writing { transaction in
      guard try transaction.table(name.text).counter < counter else { return }
      try transaction.apply(.raiseCounter(to: counter), to: name.text)
    }
  }

  /// Changes a record's fields in the form of its type's newest version.
  /// - Returns: whether the record changes.
  @discardableResult
  package func change(_ id: RecordID<Value>, _ body: (inout Fields) throws -> Void) throws -> Bool {
    try writing { transaction in
      let record = try record(with: id)
      let stored = record.fields
      var fields = try record.migrated.fields(ifNot: record, stored)
      try body(&fields)
      do throws(StoreError) {
        try ValueForm(Value.self).migrations?.checkVersion(of: fields)
      } catch {
        throw error.adding(table: name.text).adding(record: id.plain)
      }
      return try transaction.replace(id.plain, with: fields, was: stored, in: name.text)
    }
  }

  /// Runs `body` in this thread's transaction, or else in a new one.
  /// - Parameter new: the fields of the values that `body` adds.
  func writing<Result>(
    adding new: [Fields] = [], _ body: (TransactionState) throws -> Result
  ) throws -> Result {
    try store.write { transaction in
      try keepDeclaration(in: transaction.state, adding: new)
      return try body(transaction.state)
    }
  }
}

extension Fields {
  fileprivate mutating func set(_ fields: Fields) {
    dictionary.set(Array(fields.dictionary))
  }
}

extension TableState {
  /// The index of the record at `index` after it has moved to `position`.
  fileprivate func finalIndex(of index: Int, movedTo position: Position<some Any>) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count - 1
    case .index(let newIndex): return newIndex
    case .before(let id):
      let neighbour = try self.index(of: id.plain)
      return neighbour > index ? neighbour - 1 : neighbour
    case .after(let id):
      let neighbour = try self.index(of: id.plain)
      return neighbour >= index ? neighbour : neighbour + 1
    }
  }
}
