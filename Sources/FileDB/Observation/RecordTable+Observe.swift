import FileDBTables

extension RecordTable {
  /// Calls `onChange` on the main actor with the decoded records, and again after each change of the table.
  ///
  ///     observation = notes.observe { change in list.apply(change.steps, change.records) }
  ///
  /// The first call, with the existing records, comes soon, but not before this method returns. With a condition or an
  /// order, the steps are those of the filtered and sorted list; `TableObservation.show(where:sortedBy:)` changes both
  /// later. FileDB decodes a record again only when it changes. If a record does not fit the type,
  /// ``ListChange/faults`` has an error with its id and the reason.
  /// - Parameters:
  ///   - matches: whether a record with this value is in the list; `nil` includes all records. Records for which it
  ///     throws are not in the list. The result must depend only on the value.
  ///   - order: the order of the list; if it is empty, the table's own order.
  ///   - start: a snapshot of the whole table, if you already show its records. The first call then comes with the
  ///     first change since then.
  ///   - onError: called with each new ``RecordStore/observationError``, and with `nil` when the error is gone. The
  ///     observation goes on.
  ///   - onChange: called with the new list, and the steps from the previous list to it.
  /// - Returns: the observation. It ends when you cancel or release it.
  /// - Complexity: O(*n*) for each change, off the main actor; with an order, O(*n* log *n*).
  @MainActor
  public func observe(
    where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil,
    onError: (@MainActor (StoreError?) -> Void)? = nil,
    onChange: @escaping @MainActor (ListChange<Value>) -> Void
  ) -> TableObservation<Value> {
    let selection = RecordSelection(condition: .init(matches), order: order)
    return observe(selection, since: start.map { DecodedList(selection, of: $0) }, onError, onChange)
  }

  /// Calls `onChange` with the records that match a predicate; see ``observe(where:sortedBy:since:onError:onChange:)``.
  @MainActor
  public func observe(
    where predicate: RecordPredicate, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil,
    onError: (@MainActor (StoreError?) -> Void)? = nil,
    onChange: @escaping @MainActor (ListChange<Value>) -> Void
  ) -> TableObservation<Value> {
    let selection = RecordSelection<Value>(condition: .predicate(predicate), order: order)
    return observe(selection, since: start.map { DecodedList(selection, of: $0) }, onError, onChange)
  }

  @MainActor
  func observe(
    _ selection: RecordSelection<Value>, since list: DecodedList<Value>?,
    _ onError: (@MainActor (StoreError?) -> Void)?,
    _ onChange: @escaping @MainActor (ListChange<Value>) -> Void
  ) -> TableObservation<Value> {
    let shown = ShownSelection(selection, of: self)
    let changes = deliver(changes(of: shown, since: list), onChange)
    let errors = onError.map { deliver(store.observationErrors(), $0) }
    return TableObservation(of: shown, [changes] + [errors].compactMap(\.self))
  }
}

/// Finds out on another thread what has changed, so that the main thread does not have to.
func deliver<Element: Sendable>(
  _ elements: ChangeSequence<Element>, _ receive: @escaping @MainActor (Element) -> Void
) -> Task<Void, Never> {
  Task.detached {
    for await element in elements {
      await MainActor.run {
        // If the main actor has cancelled it in the meantime, it receives nothing more.
        if !Task.isCancelled { receive(element) }
      }
    }
  }
}
