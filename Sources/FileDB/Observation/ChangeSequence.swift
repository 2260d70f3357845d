/// What happens to a table, a record or a store, one thing behind the other, for as long as somebody takes it.
///
/// Whoever is slow gets one element from what it got last to the newest, not a queue of them: nothing is missed, nothing
/// comes twice, and nothing is kept for later. Each iteration is an observation of its own, and may be anywhere: on the
/// main actor, in an actor, in a detached task. What changed is found out off the main actor.
///
/// It ends when the store is closed or released, once the last commit was given, and when the task is cancelled. It
/// keeps the records that it gave last, but not the store: keep that for as long as you listen.
public struct ChangeSequence<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  private let signals: ChangeSignals
  private let scope: ChangeSignals.Scope
  private let makeWatcher: @Sendable () throws(StoreError) -> StoreWatcher?
  private let makeLook: @Sendable () -> () -> Element?

  /// - Parameter makeLook: gives each iteration what looks for something new, and remembers what it found.
  init(
    of store: RecordStore, _ scope: ChangeSignals.Scope,
    _ makeLook: @escaping @Sendable () -> () -> Element?
  ) {
    signals = store.signals
    self.scope = scope
    makeWatcher = { [weak store] () throws(StoreError) in try store.flatMap(StoreWatcher.init) }
    self.makeLook = makeLook
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(signals: signals.listen(to: scope, makeWatcher).makeAsyncIterator(), look: makeLook())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var signals: AsyncStream<Void>.AsyncIterator
    fileprivate let look: () -> Element?

    public mutating func next() async -> Element? {
      while !Task.isCancelled {
        if let news = look() { return news }
        if await signals.next() == nil { return nil }
      }
      return nil
    }
  }
}
