import FileDBEssentials

/// Observations of the records that match a predicate of Swift, as `#Predicate` makes it. Each record is decoded
/// anyway, and the predicate is asked about its value. A record of which the predicate cannot tell is left out.
extension RecordTable {
  /// The changes of the records that match `predicate`; see `changes(where:sortedBy:since:)` with a closure.
  public func changes(
    where predicate: Predicate<Value>, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil
  ) -> ChangeSequence<TableChange<Value>> {
    changes(where: { try predicate.evaluate($0) }, sortedBy: order, since: start)
  }

  /// Calls `onChange` with the records that match `predicate`; see ``observe(where:sortedBy:since:onError:onChange:)``.
  @MainActor
  public func observe(
    where predicate: Predicate<Value>, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil,
    onError: (@MainActor (StoreError?) -> Void)? = nil,
    onChange: @escaping @MainActor (ListChange<Value>) -> Void
  ) -> TableObservation<Value> {
    observe(
      where: { try predicate.evaluate($0) }, sortedBy: order, since: start, onError: onError,
      onChange: onChange)
  }
}

extension TableObservation {
  /// Replaces the filter and the order; see `show(where:sortedBy:)` with a closure.
  public func show(where predicate: Predicate<Value>, sortedBy order: [SortKey] = []) {
    show(where: { try predicate.evaluate($0) }, sortedBy: order)
  }
}

extension ObservableTable {
  /// Shows the records that match `predicate`, and follows their changes.
  public convenience init(
    _ table: RecordTable<Value>, where predicate: Predicate<Value>, sortedBy order: [SortKey] = []
  ) {
    self.init(table, where: { try predicate.evaluate($0) }, sortedBy: order)
  }

  /// Replaces the filter and the order; see `show(where:sortedBy:)` with a closure.
  public func show(where predicate: Predicate<Value>, sortedBy order: [SortKey] = []) {
    show(where: { try predicate.evaluate($0) }, sortedBy: order)
  }
}
