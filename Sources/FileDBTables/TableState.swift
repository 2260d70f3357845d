import FileDBPlist

/// The content of a table at one moment. It is a value: nobody else can change it.
package struct TableState: Sendable {
  /// False for a table that has no file yet, or that was dropped.
  package private(set) var exists: Bool
  /// The highest id ever given.
  package private(set) var counter: Int64
  package private(set) var records: OrderedRecords
  /// The other keys in the root of the file: those of other programs, which FileDB keeps, and the schema.
  package private(set) var foreignKeys: PlistDictionary {
    didSet { schema = SchemaDeclaration(foreignKeys[TableFile.schemaKey]) }
  }
  /// What the table declares about its fields.
  package private(set) var schema: SchemaDeclaration
  /// The records of the attached table beneath this one. No other record may get their ids.
  package let beneath: OrderedRecords?

  /// A table without a file. If a table of this name was dropped, the counter is that of the dropped table.
  package init(counter: Int64 = 0, shape: OrderedRecords.Shape = .standard) {
    self.init(
      exists: false, counter: counter, OrderedRecords(shape: shape), foreignKeys: PlistDictionary())
  }

  /// A table that was read from a file. The counter is raised to the highest id.
  package init(
    counter: Int64, records: some Collection<EncodedRecord>, foreignKeys: PlistDictionary,
    shape: OrderedRecords.Shape = .standard
  ) {
    let records = OrderedRecords(records, shape: shape)
    let counter = records.reduce(counter) { max($0, $1.id.rawValue) }
    self.init(exists: true, counter: counter, records, foreignKeys: foreignKeys)
  }

  /// A table whose records are not read yet.
  package init(
    _ unread: any UnreadRecords, counter: Int64, foreignKeys: PlistDictionary,
    shape: OrderedRecords.Shape = .standard
  ) {
    self.init(
      exists: true, counter: counter, OrderedRecords(unread, shape: shape), foreignKeys: foreignKeys)
  }

  /// A table laid over another, as the one table that readers see. It has the schema of the table beneath.
  package init(
    _ own: TableState, over beneath: OrderedRecords, declaring schema: PlistValue?, records: OrderedRecords,
    counter: Int64
  ) {
    var keys = own.foreignKeys
    keys[TableFile.schemaKey] = schema
    self.init(exists: true, counter: counter, records, foreignKeys: keys, over: beneath)
  }

  private init(
    exists: Bool, counter: Int64, _ records: OrderedRecords, foreignKeys: PlistDictionary,
    over beneath: OrderedRecords? = nil
  ) {
    (self.exists, self.counter, self.records, self.beneath) = (exists, counter, records, beneath)
    self.foreignKeys = foreignKeys
    schema = SchemaDeclaration(foreignKeys[TableFile.schemaKey])
  }

  /// The only way to change a table. A change that does not fit throws and leaves the table as it was.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/indexOutOfRange``,
  ///   ``StoreError/Code/duplicateID``, ``StoreError/Code/tableNotFound``, ``StoreError/Code/tableExists``.
  package mutating func apply(_ change: Change) throws(StoreError) {
    if case .create = change {
      guard !exists else { throw StoreError(.tableExists, "the table exists already") }
      exists = true
      return
    }
    guard exists else { throw StoreError(.tableNotFound, "there is no such table") }
    switch change {
    case .create: break
    case .drop: self = TableState(counter: counter, shape: records.shape)
    case .insert(let new, let index):
      guard (0...records.count).contains(index) else { throw missing(index: index) }
      try checkUnused(new)
      records.insert(new, at: index)
      for record in new { counter = max(counter, record.id.rawValue) }
    case .replace(let new): records.replace(index: try index(of: new.id), with: new)
    case .remove(let ids): try remove(ids)
    case .move(let id, let newIndex):
      guard records.indices.contains(newIndex) else { throw missing(index: newIndex) }
      records.move(index: try index(of: id), to: newIndex)
    case .reorder(let ids): try reorder(ids)
    case .removeAll: records.removeAll()
    case .truncate:
      records.removeAll()
      // The records beneath keep their ids.
      if beneath == nil { counter = 0 }
    case .raiseCounter(let highest): raiseCounter(to: highest)
    case .declare(let schema): foreignKeys[TableFile.schemaKey] = schema
    }
  }

  /// Also works for a table without a file.
  package mutating func raiseCounter(to highest: Int64) { counter = max(counter, highest) }

  /// Carries out a change, and returns what it found.
  /// - Throws: as ``apply(_:)``.
  package mutating func applyRecording(_ change: Change) throws(StoreError) -> AppliedChange {
    let found = found(by: change)
    try apply(change)
    return AppliedChange(change, found: found)
  }

  /// What a change is about to find; nothing if the change does not fit.
  private func found(by change: Change) -> AppliedChange.Found {
    switch change {
    case .create, .reorder, .raiseCounter: .nothing
    case .insert(_, let index): .insertion(above: id(at: index - 1))
    case .replace(let record): .records([found(record.id)].compactMap(\.self))
    case .remove(let ids): .records(ids.compactMap(found))
    case .move(let id, let index): found(moving: id, to: index)
    case .removeAll, .truncate, .drop: .table(records, counter: counter)
    case .declare: .schema(schemaValue)
    }
  }

  /// The root key `schema` of the file, whether it is a schema of FileDB or another program's value.
  package var schemaValue: PlistValue? { foreignKeys[TableFile.schemaKey] }

  private func found(_ id: AnyRecordID) -> AppliedChange.FoundRecord? {
    records.index(of: id).map { AppliedChange.FoundRecord(record: records[$0], above: self.id(at: $0 - 1)) }
  }

  private func found(moving id: AnyRecordID, to newIndex: Int) -> AppliedChange.Found {
    guard let index = records.index(of: id) else { return .nothing }
    let record = AppliedChange.FoundRecord(record: records[index], above: self.id(at: index - 1))
    // The record leaves its old place first, which shifts the records after it.
    return .move(record, above: self.id(at: newIndex > index ? newIndex : newIndex - 1))
  }

  /// `nil` if there is no such index.
  package func id(at index: Int) -> AnyRecordID? { records.indices.contains(index) ? records[index].id : nil }

  /// Whether this is the same table in the same memory.
  /// - Complexity: O(1), but for the size of its schema.
  package func isIdentical(to other: TableState) -> Bool {
    exists == other.exists && counter == other.counter && records.isIdentical(to: other.records)
      && schemaValue == other.schemaValue
  }

  /// This table with other records, as a view of it.
  package func with(_ viewed: [EncodedRecord]) -> TableState {
    var view = self
    view.records = OrderedRecords(viewed, shape: records.shape)
    return view
  }

  /// - Throws: ``StoreError/Code/recordNotFound``.
  package func index(of id: AnyRecordID) throws(StoreError) -> Int {
    guard let index = records.index(of: id) else {
      throw StoreError(.recordNotFound, "there is no such record", record: id)
    }
    return index
  }

  private mutating func remove(_ ids: [AnyRecordID]) throws(StoreError) {
    if ids.count == 1 {
      records.remove(index: try index(of: ids[0]))
      return
    }
    for id in ids { _ = try index(of: id) }
    records.remove(Set(ids))
  }

  private mutating func reorder(_ ids: [AnyRecordID]) throws(StoreError) {
    var oldIndices: [Int] = []
    oldIndices.reserveCapacity(ids.count)
    for id in ids { oldIndices.append(try index(of: id)) }
    guard ids.count == records.count, Set(oldIndices).count == ids.count else {
      throw StoreError(.duplicateID, "an order must name every record once")
    }
    records.reorder(oldIndices)
  }

  /// Ids above the counter, in ascending order, have never been given. All others are looked up.
  private func checkUnused(_ new: [EncodedRecord]) throws(StoreError) {
    var highest = counter
    if new.allSatisfy({ record in
      defer { highest = record.id.rawValue }
      return record.id.rawValue > highest
    }) {
      return
    }
    var seen: Set<AnyRecordID> = []
    for record in new where records.contains(record.id) || !seen.insert(record.id).inserted {
      throw StoreError(.duplicateID, "the id is given twice", record: record.id)
    }
  }

  package func missing(index: Int) -> StoreError {
    StoreError(
      .indexOutOfRange, "there is no index \(index); the table has \(records.count.counted("record"))")
  }
}
