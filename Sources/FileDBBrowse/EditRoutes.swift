import FileDB

extension Site {
  static let editRoutes: [Route] = [
    .post("api", "tables", "*", "add") { site, request in
      struct Addition: Decodable {
        struct Record: Decodable { let fields: [FieldJSON] }
        let records: [Record]
        let at: PlaceJSON
      }
      let addition: Addition = try request.decoded()
      let records = try addition.records.map { Fields(try $0.fields.dictionary()) }
      let position = try addition.at.position
      return .done(try site.edit(request.tableName) { try $0.add(contentsOf: records, at: position) })
    },
    .post("api", "tables", "*", "set") { site, request in try site.set(request) },
    .post("api", "tables", "*", "delete") { site, request in
      let ids = try request.decoded(as: RecordIDs.self).all
      return .done(
        try site.withReferences(to: request.tableName) {
          try site.edit(request.tableName) { table in
            try table.delete(ids)
            return ids
          }
        })
    },
    .post("api", "tables", "*", "duplicate") { site, request in
      let ids = try request.decoded(as: RecordIDs.self).all
      return .done(try site.edit(request.tableName) { try $0.duplicate(ids) })
    },
    .post("api", "tables", "*", "move") { site, request in
      struct Move: Decodable { let to: PlaceJSON }
      let ids = try request.decoded(as: RecordIDs.self).all
      let position = try request.decoded(as: Move.self).to.position
      // In the step's own words, records that others gave way to would be the moved ones.
      let name = "move of \(ids.count) record\(ids.count == 1 ? "" : "s") in \(request.tableName)"
      return .done(
        try site.edit(request.tableName, named: name) { table in
          try table.move(ids, to: position)
          return ids
        })
    },
    .post("api", "tables", "*", "sort") { site, request in
      struct Order: Decodable { let by: String }
      let keys = try SortKey.keys(request.decoded(as: Order.self).by)
      return .json(.object([("step", JSON(try site.sort(request.tableName, by: keys)))]))
    },
  ]

  /// Changes a table in one undo step.
  func edit<Result>(
    _ name: String, named step: String? = nil, _ body: (RecordTable<Fields>) throws -> Result
  ) throws -> Edit<Result> {
    try edit(name, named: step, in: { tx in try body(tx[name]) })
  }

  /// The same for changes that need the transaction.
  func edit<Result>(
    _ name: String, named step: String? = nil, in body: (inout StoreTransaction) throws -> Result
  ) throws -> Edit<Result> {
    do {
      let (result, entry) = try store.undoLog.loggedWrite(named: step) { tx in
        let before = try tx[name].snapshot()
        let result = try body(&tx)
        ownWrites.add(TableChange(from: before, to: try tx[name].snapshot()), of: name)
        return result
      }
      return Edit(result: result, step: entry?.id)
    } catch {
      ownWrites.forget([name])
      throw error
    }
  }

  /// Deletes records, and counts the effects on records that refer to them as changes of this page, too.
  private func withReferences<Result>(to name: String, _ delete: () throws -> Result) throws -> Result {
    try expectingChanges(of: tables.referring(to: name), delete)
  }

  /// Runs a write, and counts its changes of these tables as changes of this page. Which ones it changes is known only
  /// after it has returned, and by then other pages may have been told.
  func expectingChanges<Result>(
    of former: [(name: String, snapshot: TableSnapshot<Fields>)], _ write: () throws -> Result
  ) throws -> Result {
    ownWrites.expectChanges(of: former.map(\.name))
    let result: Result
    do { result = try write() } catch {
      ownWrites.forget(former.map(\.name))
      throw error
    }
    let unchanged = former.filter { former in
      (try? store.table(former.name).snapshot()).map { WatchedTables.areSame(former.snapshot, $0) } ?? true
    }
    ownWrites.forget(unchanged.map(\.name))
    return result
  }

  /// Finding out which records a sort moved would take longer than the sort.
  /// - Returns: the undo step.
  private func sort(_ name: String, by keys: [SortKey]) throws -> UndoLog.Entry.ID? {
    ownWrites.expectChanges(of: [name])
    do {
      let (wasSorted, entry) = try store.undoLog.loggedWrite(named: "sort of \(name)") { tx in
        let before = try tx[name].snapshot()
        try tx[name].sort(by: keys)
        return WatchedTables.areSame(before, try tx[name].snapshot())
      }
      if wasSorted { ownWrites.forget([name]) }
      return entry?.id
    } catch {
      ownWrites.forget([name])
      throw error
    }
  }

  /// Sets fields, unless somebody else has changed them since the page read them.
  private func set(_ request: Request) throws -> Response {
    struct Change: Decodable {
      let id: String
      let fields: [FieldJSON]
      let expected: [FieldJSON]
    }
    let change: Change = try request.decoded()
    let id = try Request.id(change.id)
    let edit = try edit(request.tableName) { table in
      let current = try table.snapshot()[id: id]
      guard let current, change.expected.allSatisfy({ current.fields[$0.name] == $0.value }) else {
        throw RequestError.changed(current)
      }
      let removed = change.fields.filter { $0.value == nil }.map(\.name)
      try table.set(Fields(change.fields.filter { $0.value != nil }.dictionary()), of: id)
      if !removed.isEmpty { try table.unset(removed, of: id) }
      return try table.record(with: id)
    }
    return .json(.object([("record", JSON(whole: edit.result)), ("step", JSON(edit.step))]))
  }
}

extension RequestError {
  /// - Parameter record: the present record; `nil` if it was deleted.
  fileprivate static func changed(_ record: StoredRecord<Fields>?) -> RequestError {
    let message =
      record == nil
      ? "Somebody else deleted the record." : "Another program or page has changed the record."
    var error = RequestError(.conflict, "changed", message)
    error.record = record?.id.description
    error.details = [("current", record.map { JSON(whole: $0) } ?? .null)]
    return error
  }
}

/// `{"ids": ["1", "2"]}`
struct RecordIDs: Decodable {
  private let ids: [String]

  var all: [RecordID<Fields>] { get throws { try ids.map(Request.id) } }
}

/// The place for moved or added records: `{"before": "17"}`, `{"place": 3}`, …
struct PlaceJSON: Decodable {
  private let start: Bool?
  private let end: Bool?
  private let before: String?
  private let after: String?
  private let place: Int?

  var position: Position<Fields> {
    get throws {
      if let before { return .before(try Request.id(before)) }
      if let after { return .after(try Request.id(after)) }
      if let place { return .index(place) }
      if start == true { return .top }
      if end == true { return .bottom }
      throw RequestError.malformed("The request does not say where the records go.")
    }
  }
}

/// A change that a page made.
struct Edit<Result> {
  let result: Result
  /// `nil` if nothing changed.
  let step: UndoLog.Entry.ID?
}

extension Response {
  /// The records of a change, and its undo step.
  static func done(_ edit: Edit<[RecordID<Fields>]>) -> Response {
    .json(.object([("ids", JSON(ids: edit.result)), ("step", JSON(edit.step))]))
  }
}
