import FileDBPlist

/// What a table holds at one moment. A value: whoever has one sees it unchanged.
package struct TableState: Sendable {
  /// False for a table that has no file yet, or none any more.
  package private(set) var exists: Bool
  /// The highest id ever given.
  package private(set) var counter: Int64
  package private(set) var records: OrderedRecords
  /// Keys that some other program put beside ours in the root of the file; kept.
  package let foreignKeys: PlistDictionary
  /// The table of the attached store that this one is laid over.
  private(set) var attached: OrderedRecords?

  /// A table without a file.
  package init(shape: OrderedRecords.Shape = .standard) {
    exists = false
    counter = 0
    records = OrderedRecords(shape: shape)
    foreignKeys = PlistDictionary()
  }

  /// A table as it was read. The counter is raised to the highest id.
  package init(
    counter: Int64, records: [StoredRecord], foreignKeys: PlistDictionary,
    shape: OrderedRecords.Shape = .standard
  ) {
    exists = true
    self.counter = max(counter, records.lazy.map(\.id.rawValue).max() ?? 0)
    self.records = OrderedRecords(records, shape: shape)
    self.foreignKeys = foreignKeys
  }

  /// A user's table and an attached one as the one table that readers see.
  init(_ own: TableState, over attached: OrderedRecords, records: OrderedRecords, counter: Int64) {
    exists = true
    self.counter = counter
    self.records = records
    foreignKeys = own.foreignKeys
    self.attached = attached
  }

  /// The only way a table changes. A change that does not fit throws and leaves the table as it was.
  /// - Throws: ``StoreError/recordNotFound``, ``StoreError/rowNotFound``, ``StoreError/duplicateID``,
  ///   ``StoreError/tableNotFound``, ``StoreError/tableExists``.
  package mutating func apply(_ change: Change) throws(StoreError) {
    if case .create = change {
      guard !exists else { throw StoreError(StoreError.tableExists, "the table exists already") }
      exists = true
      return
    }
    guard exists else { throw StoreError(StoreError.tableNotFound, "there is no such table") }
    switch change {
    case .create: break
    case .drop: self = TableState(shape: records.shape)
    case .insert(let new, let row):
      guard (0...records.count).contains(row) else { throw missing(row: row) }
      try checkUnused(new)
      records.insert(new, at: row)
      for record in new { counter = max(counter, record.id.rawValue) }
    case .replace(let new): records.replace(row: try row(of: new.id), with: new)
    case .remove(let ids): try remove(ids)
    case .move(let id, let newRow):
      guard records.indices.contains(newRow) else { throw missing(row: newRow) }
      records.move(row: try row(of: id), to: newRow)
    case .reorder(let ids): try reorder(ids)
    case .removeAll: records.removeAll()
    case .truncate:
      records.removeAll()
      // The attached records keep their ids, which nobody else may get.
      if attached == nil { counter = 0 }
    }
  }

  /// The same table with other records in memory, as a view of it.
  func with(_ viewed: [StoredRecord]) -> TableState {
    var view = self
    view.records = OrderedRecords(viewed, shape: records.shape)
    return view
  }

  /// - Throws: ``StoreError/recordNotFound``.
  package func row(of id: RecordID) throws(StoreError) -> Int {
    guard let row = records.row(of: id) else {
      throw StoreError(StoreError.recordNotFound, "there is no such record", record: id)
    }
    return row
  }

  private mutating func remove(_ ids: [RecordID]) throws(StoreError) {
    if ids.count == 1 {
      records.remove(row: try row(of: ids[0]))
      return
    }
    for id in ids { _ = try row(of: id) }
    records.remove(Set(ids))
  }

  private mutating func reorder(_ ids: [RecordID]) throws(StoreError) {
    var oldRows: [Int] = []
    oldRows.reserveCapacity(ids.count)
    for id in ids { oldRows.append(try row(of: id)) }
    guard ids.count == records.count, Set(oldRows).count == ids.count else {
      throw StoreError(StoreError.duplicateID, "an order must name every record once")
    }
    records.reorder(oldRows)
  }

  /// Ids that rise from the counter on were never given; any others are looked up.
  private func checkUnused(_ new: [StoredRecord]) throws(StoreError) {
    var highest = counter
    if new.allSatisfy({ record in
      defer { highest = record.id.rawValue }
      return record.id.rawValue > highest
    }) {
      return
    }
    var seen: Set<RecordID> = []
    for record in new where records.contains(record.id) || !seen.insert(record.id).inserted {
      throw StoreError(StoreError.duplicateID, "the id is given twice", record: record.id)
    }
  }

  func missing(row: Int) -> StoreError {
    StoreError(StoreError.rowNotFound, "there is no row \(row); the table has \(records.count)")
  }
}
