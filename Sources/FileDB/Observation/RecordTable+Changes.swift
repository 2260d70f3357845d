extension RecordTable {
  /// The changes of the table's records, whether this store makes them, another store, another process, or a program
  /// that edits the file. Changes of other programs come within a second.
  ///
  ///     for await change in notes.changes() { list.apply(change.steps) }
  ///
  /// The first element comes at once, even for an empty table. It leads from no records to the existing ones. If you
  /// show some records already, pass them in, and the first element comes with the first change since then:
  ///
  ///     let records = try notes.snapshot()
  ///     list.show(records)
  ///     for await change in notes.changes(since: records) { list.apply(change.steps) }
  ///
  /// With a condition or an order, the steps are those of the filtered and sorted list. A record that begins to match
  /// is inserted, one that no longer matches is deleted, and one whose place in the list changes is moved.
  ///
  /// - Parameters:
  ///   - matches: whether a record with this value is in the list; `nil` for all. The list leaves out records for which
  ///     it throws, and records that do not fit the type. The result must depend only on the value.
  ///   - order: the order of the list; empty for the table's own.
  ///   - start: a snapshot of the whole table, which the observer shows already.
  /// - Complexity: an element costs as much as ``TableChange/init(from:to:)``. With a condition, each changed record is
  ///   decoded, and each change of the table also costs O(*n*); with an order, O(*n* log *n*).
  public func changes(
    where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(of: RecordSelection(condition: .init(matches), order: order), since: start)
  }

  /// The same for the records that match a predicate.
  public func changes(
    where predicate: RecordPredicate, sortedBy order: [SortKey] = [], since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(of: RecordSelection(condition: .predicate(predicate), order: order), since: start)
  }

  private func changes(
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

  /// The changes of one record's fields. Its place in the table does not matter.
  ///
  /// The first element comes at once, without a ``RecordChange/before``. The sequence does not end when the record is
  /// deleted, because a program that edits the file may bring it back.
  /// - Complexity: nearly the same for any *n* for each change of the table; see <doc:Performance>.
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
  /// The changes of all tables, including those that are created or dropped.
  ///
  /// The first element comes with the first change after this call. An element has all of a transaction over several
  /// tables or nothing of it. Tables that were not read yet are read now; tables that others create are read when they
  /// appear.
  /// - Complexity: O(*n*) in the size of the tables that were not read yet. An element costs as much as
  ///   ``TableChange/init(from:to:)`` for each table.
  public func changes() -> ChangeSequence<StoreChange> {
    readTablesForObservers()
    let (tables, start, source) = (seen, seen.all, TableSource.Store(self))
    return ChangeSequence(of: self, .allTables) { [weak self] in
      // A watch that others started passed over the tables that came until now.
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
    do { try readAllTables() } catch { signals.note(error) }
  }

  /// Why observers do not see what another process or program wrote: a file is damaged, is in conflict with commits in
  /// the journal, or cannot be read. `nil` if there is no such error. FileDB updates this only while somebody observes.
  ///
  /// Such an error does not end an observation. The tables stay as they were last read, and FileDB tries again after
  /// each change on the disk. For example, a file that an editor is writing is an error until it is complete.
  public var observationError: StoreError? { signals.failure.error }

  /// Each new ``observationError``, and `nil` when there is none any more. An existing error comes at once.
  public func observationErrors() -> ChangeSequence<StoreError?> {
    let signals = signals
    return ChangeSequence(of: self, .failures) {
      var seen = 0
      return {
        let (error, number) = signals.failure
        if number == seen { return nil }
        let isOver = error == nil && seen == 0
        seen = number
        return isOver ? nil : .some(error)
      }
    }
  }
}

extension SeenTables {
  func snapshot<Value>(of source: TableSource) -> TableSnapshot<Value> {
    TableSnapshot(source: source, state: self[TableKey(source.table)])
  }
}
