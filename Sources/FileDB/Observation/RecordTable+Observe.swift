/// An observation that goes on for as long as this is kept. It keeps what it calls, but not the store.
public final class ObservationToken: Sendable {
  private let tasks: [Task<Void, Never>]

  init(_ tasks: [Task<Void, Never>]) { self.tasks = tasks }

  deinit { cancel() }

  /// Ends the observation. On the main actor, nothing is called any more once this returned.
  public func cancel() { for task in tasks { task.cancel() } }
}

extension RecordTable {
  /// Calls `onChange` on the main actor for each change of the table; see ``changes(where:sortedBy:since:)``.
  ///
  ///     token = notes.observe { change in list.apply(change.steps) }
  ///
  /// The first call, with the records as they are, comes soon, but not before this returned.
  /// - Parameter onError: called with each new ``RecordStore/observationError``, and with `nil` when it is over. The
  ///   observation goes on.
  /// - Returns: what ends the observation when it is cancelled or released.
  @MainActor
  public func observe(
    where matches: (@Sendable (Value) throws -> Bool)? = nil, sortedBy order: [SortKey] = [],
    since start: TableSnapshot<Value>? = nil,
    onError: (@MainActor (StoreError?) -> Void)? = nil,
    onChange: @escaping @MainActor (TableChange<Value>) -> Void
  ) -> ObservationToken {
    let changes = deliver(changes(where: matches, sortedBy: order, since: start), to: onChange)
    let errors = onError.map { deliver(store.observationErrors(), to: $0) }
    return ObservationToken([changes] + [errors].compactMap(\.self))
  }
}

/// Finding out what changed is work for other threads than the main one.
private func deliver<Element: Sendable>(
  _ elements: ChangeSequence<Element>, to receive: @escaping @MainActor (Element) -> Void
) -> Task<Void, Never> {
  Task.detached {
    for await element in elements {
      await MainActor.run {
        // Cancelled meanwhile by the main actor, which is told nothing more.
        if !Task.isCancelled { receive(element) }
      }
    }
  }
}
