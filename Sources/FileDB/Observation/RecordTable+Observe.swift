/// An observation that goes on for as long as you keep this token. It keeps the closures that it calls, but not the
/// store.
public final class ObservationToken: Sendable {
  private let tasks: [Task<Void, Never>]

  init(_ tasks: [Task<Void, Never>]) { self.tasks = tasks }

  deinit { cancel() }

  /// Ends the observation. If you call this on the main actor, no closure is called after it returns.
  public func cancel() { for task in tasks { task.cancel() } }
}

extension RecordTable {
  /// Calls `onChange` on the main actor for each change of the table; see ``changes(where:sortedBy:since:)``.
  ///
  ///     token = notes.observe { change in list.apply(change.steps) }
  ///
  /// The first call, with the existing records, comes soon, but not before this method returns.
  /// - Parameter onError: called with each new ``RecordStore/observationError``, and with `nil` when there is none any
  ///   more. The observation goes on.
  /// - Returns: a token that ends the observation when you cancel or release it.
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
