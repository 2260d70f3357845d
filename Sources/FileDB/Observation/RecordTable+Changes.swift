extension RecordTable {
  /// The changes of the table's records, whoever makes them: this store, another one, another process, or a program
  /// that edits the file, of which one hears within a second.
  ///
  ///     for await change in notes.changes() { list.apply(change.steps) }
  ///
  /// The first element comes at once, also for an empty table: it leads from no records to those that are there. Who
  /// shows some already names them, and hears of what is new from there on:
  ///
  ///     let records = try notes.snapshot()
  ///     list.show(records)
  ///     for await change in notes.changes(since: records) { list.apply(change.steps) }
  ///
  /// With a condition or an order the list is a part of the table, or another view of it, and the steps are those of
  /// that list: a record that begins to match is inserted, one that stops is deleted, one that gets another place is
  /// moved.
  ///
  /// - Parameters:
  ///   - matches: which records are in the list, by their values; `nil` for all. A record for which it throws is not,
  ///     nor is one that does not fit the type. It must depend on the value alone.
  ///   - order: the order of the list; none for the table's own.
  ///   - start: records of this table, all of them, which the observer shows already.
  /// - Complexity: an element costs what ``TableChange/init(from:to:)`` does. With a condition each record is decoded
  ///   when it changed, and each change of the table costs O(*n*) besides, with an order O(*n* log *n*).
  public func changes(
    where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(of: RecordSelection(condition: .init(matches), order: order), since: start)
  }

  /// The same for the records of which a predicate is true.
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

  /// The changes of one record's fields. Where it stands among the others does not matter.
  ///
  /// The first element comes at once, without a ``RecordChange/before``. A record that is deleted does not end the
  /// sequence: it may come back, by a program that edits the file.
  /// - Complexity: O(√*n*) at worst for each change of the table.
  public func changes(of id: RecordID) -> ChangeSequence<RecordChange<Value>> {
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
  /// The changes of all tables, those that are made or dropped included.
  ///
  /// The first element comes with the first change after this call. Of a transaction over several tables one sees all or
  /// nothing. Tables that were not read yet are read now, and those that others make when they come.
  /// - Complexity: O(*n*) in the size of the tables that were not read yet; an element costs what
  ///   ``TableChange/init(from:to:)`` does for each table.
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
    do { try readAllTables() } catch { signals.note(error as? StoreError) }
  }

  /// Why observers do not see what another process or program wrote: a file that is damaged, or in conflict with
  /// commits in the journal, or that cannot be read. `nil` where they do. As of the last look at the disk, which is
  /// made for observers only.
  ///
  /// Such an error ends no observation. The tables stay as they were last read, and each change on the disk is another try:
  /// an editor's half-written file is an error for as long as it is half-written.
  public var observationError: StoreError? { signals.failure.error }

  /// Each new ``observationError``, and `nil` when it is over. One that is there already comes at once.
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
  fileprivate func snapshot<Value>(of source: TableSource) -> TableSnapshot<Value> {
    TableSnapshot(source: source, state: self[TableKey(source.table)])
  }
}
