extension RecordTable {
  /// The changes of the table's records. They may come from this store, another store, another process, or a program
  /// that edits the file. Changes of other programs arrive within a second.
  ///
  ///     for await change in notes.changes() { list.apply(change.steps) }
  ///
  /// The first element comes at once, even for an empty table. It leads from no records to the existing ones. If you
  /// already show some records, pass them in; then the first element comes with the first change since then:
  ///
  ///     let records = try notes.snapshot()
  ///     list.show(records)
  ///     for await change in notes.changes(since: records) { list.apply(change.steps) }
  ///
  /// With a condition or an order, the steps are those of the filtered and sorted list. A record that begins to match
  /// is inserted, a record that no longer matches is deleted, and a record whose place in the list changes is moved.
  ///
  /// - Parameters:
  ///   - matches: whether a record with this value is in the list; `nil` includes all records. Records for which it
  ///     throws, and records that do not fit the type, are not in the list. The result must depend only on the value.
  ///   - order: the order of the list; if it is empty, the table's own order.
  ///   - start: a snapshot of the whole table, if you already show its records.
  /// - Complexity: an element costs as much as ``TableChange/init(from:to:)``. With a condition, each changed record is
  ///   decoded, and each change of the table also costs O(*n*); with an order, O(*n* log *n*).
  public func changes(
    where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(of: RecordSelection(condition: .init(matches), order: order), since: start)
  }

  /// The changes of the records that match a predicate; see `changes(where:sortedBy:since:)` with a closure. If `id`
  /// in the predicate may mean two things, as ``TableSnapshot/records(where:)-(RecordPredicate)`` says, no record
  /// matches.
  public func changes(
    where predicate: RecordPredicate, sortedBy order: [SortKey] = [], since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(of: RecordSelection(condition: .predicate(predicate), order: order), since: start)
  }

  func changes(
    of selection: RecordSelection<Value>, since start: TableSnapshot<Value>?
  ) -> ChangeSequence<TableChange<Value>> {
    let (tables, source) = (store.seen, source)
    return ChangeSequence(of: store, .table(TableKey(name.text))) {
      var isFirst = start == nil
      var selected = SelectedRecords(
        selection, of: start ?? TableSnapshot(source: source, state: TableState()))
      return {
        let before = selected.records
        selected.follow(tables.snapshot(of: source))
        let change = TableChange(from: before, to: selected.records)
        guard isFirst || !change.isEmpty else { return nil }
        isFirst = false
        return change
      }
    }
  }

  /// The changes of one record's fields. Moving the record in the table is not a change.
  ///
  /// The first element comes at once, and its ``RecordChange/before`` is `nil`. The sequence does not end when the
  /// record is deleted, because a program that edits the file may bring it back.
  /// - Complexity: each change of the table costs nearly the same for any *n*; see <doc:Performance>.
  public func changes(of id: RecordID<Value>) -> ChangeSequence<RecordChange<Value>> {
    let (tables, source) = (store.seen, source)
    return ChangeSequence(of: store, .table(TableKey(name.text))) {
      var isFirst = true
      var shown: StoredRecord<Value>?
      return {
        let record: StoredRecord<Value>? = tables.snapshot(of: source)[id: id]
        guard isFirst || record?.encoded != shown?.encoded else { return nil }
        defer { (isFirst, shown) = (false, record) }
        return RecordChange(before: shown, after: record)
      }
    }
  }
}

extension RecordStore {
  /// The changes of all tables, including tables that are created or dropped.
  ///
  /// The first element comes with the first change after this call. If a transaction changed several tables, one
  /// element has all of its changes. FileDB now reads the tables that it has not read yet, and reads tables that others
  /// create when they appear.
  /// - Complexity: O(*n*) in the size of the tables that were not read yet. An element costs as much as
  ///   ``TableChange/init(from:to:)`` for each table.
  public func changes() -> ChangeSequence<StoreChange> {
    readTablesForObservers()
    let (tables, start, source) = (seen, seen.all, source)
    return ChangeSequence(of: self, .allTables) { [weak self] in
      // A watch that another observer started did not read the tables that were created since.
      self?.readTablesForObservers()
      var shown = start
      return {
        let change = StoreChange(from: shown, to: tables.all, in: source)
        shown = change.after
        return change.tables.isEmpty ? nil : change
      }
    }
  }

  private func readTablesForObservers() {
    do { try readAllTables() } catch { signals.setFailure(error, of: .folder) }
  }

  /// The reason why observers do not see what another process or program wrote: a file is damaged, conflicts with
  /// commits in the journal, or cannot be read. `nil` if there is no such error. FileDB updates this only while
  /// somebody observes.
  ///
  /// If several machines share the store, this also tells, even if nobody observes, why it cannot follow the shared
  /// log, for example ``StoreError/Code/unreachable``, and why an edited file does not become a commit.
  ///
  /// Such an error does not end an observation. The tables stay as they were last read, and FileDB tries again after
  /// each change on the disk, and once a second at the shared log. For example, while an editor is writing a file, the
  /// file is an error until it is complete.
  public var observationError: StoreError? { signals.failure.error }

  /// Each new ``observationError``, and `nil` when the error is gone. If there has been an error before, the first
  /// element comes at once.
  public func observationErrors() -> ChangeSequence<StoreError?> {
    let signals = signals
    return ChangeSequence(of: self, .failures) {
      var seen = 0
      return {
        let (error, number) = signals.failure
        if number == seen { return nil }
        seen = number
        return .some(error)
      }
    }
  }
}

extension SeenTables {
  func snapshot<Value>(of source: TableSource) -> TableSnapshot<Value> {
    TableSnapshot(source: source, state: self[TableKey(source.table)])
  }
}
