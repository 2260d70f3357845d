/// The changes of a table, a record or a store, one after another.
///
/// A slow consumer does not get a queue of elements. Its next element leads from its last one to the newest state, so
/// it never misses the newest state, and nothing is buffered. Each iteration is an observation of its own. You can
/// iterate anywhere: on the main actor, in an actor, in a detached task. FileDB computes the changes off the main
/// actor.
///
/// The sequence ends after the last commit when the store is closed or released, and when the task is cancelled. It
/// holds the records of its last element, but not the store: keep a reference to the store for as long as you listen.
public struct ChangeSequence<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  private let signals: ChangeSignals
  private let scope: ChangeSignals.Scope
  private let makeWatcher: @Sendable () throws(StoreError) -> StoreWatcher?
  private let makeLook: @Sendable () -> () -> Element?

  /// - Parameter makeLook: makes a function for each iteration. It looks for something new, and remembers what it
  ///   found.
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
