import Dispatch
import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

/// What a commit did to a paged table.
public enum PagedChange<Value: Codable & Sendable>: Sendable {
  /// These records were added in this order. The first is at `index`.
  case added([StoredRecord<Value>], index: Int)
  /// This record has new fields.
  case updated(StoredRecord<Value>)
  /// This record has moved to `index`.
  case moved(RecordID<Value>, index: Int)
  /// These records were deleted.
  case deleted([RecordID<Value>])
  /// Many records were loaded or removed at once, or the log no longer has the next commits. Read what you show again.
  case reloaded
}

extension PagedTable {
  /// All changes of the table from now on, by any machine, commit by commit.
  ///
  /// Nothing is buffered: a slow consumer reads its next element from the log. If the connection breaks, the next
  /// element arrives when it is back. The sequence ends when its task is cancelled.
  ///
  ///     for await change in events.changes() { show(change) }
  public func changes() -> PagedChanges<Value> { PagedChanges(table: self) }
}

/// The changes of a paged table, one after another. See ``PagedTable/changes()``.
public struct PagedChanges<Value: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never
  fileprivate let table: PagedTable<Value>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(PagedFollower(table.rows), table) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let follower: PagedFollower
    private let table: PagedTable<Value>
    private var waiting: ArraySlice<PagedChange<Value>> = []

    fileprivate init(_ follower: PagedFollower, _ table: PagedTable<Value>) {
      (self.follower, self.table) = (follower, table)
    }

    /// Waits until the first look at the log is over. From then on, no change is missed.
    func start() async { await follower.start() }

    public mutating func next() async -> PagedChange<Value>? {
      while waiting.isEmpty {
        guard let news = await follower.next() else { return nil }
        waiting = news.compactMap(change)[...]
      }
      return waiting.popFirst()
    }

    private func change(_ change: Change?) -> PagedChange<Value>? {
      switch change {
      case .insert(let records, let index): (try? table.stored(records)).map { .added($0, index: index) }
      case .replace(let record): (try? table.stored([record])[0]).map { .updated($0) }
      case .move(let id, let index): .moved(RecordID(id), index: index)
      case .remove(let ids): .deleted(ids.map { RecordID($0) })
      case .create, .declare: nil
      case .drop, .reorder, .removeAll, .truncate, .raiseCounter, nil: .reloaded
      }
    }
  }
}

/// Reads the commits to a paged table, one request after another.
private final class PagedFollower: Sendable {
  private let rows: PagedRows
  private let watch: (any LogWatch)?
  private let queue = DispatchQueue(label: "FileDB.PagedChanges")
  private let isOver = Atomic<Bool>(false)
  /// The last commit that was read. `nil` before the first look.
  private let position = Mutex<UInt64?>(nil)
  /// Whether a look failed before there was a position. Then changes may be missing.
  private let isLate = Atomic<Bool>(false)

  init(_ rows: PagedRows) {
    self.rows = rows
    watch = try? rows.log.makeWatch()
    // Report the changes from here on.
    queue.async { [self] in _ = try? look() }
  }

  func start() async {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  /// The changes of the next commits. An element is `nil` if some changes are unknown. The result is `nil` when the
  /// task is cancelled.
  func next() async -> [Change?]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async { [self] in continuation.resume(returning: wait()) }
      }
    } onCancel: {
      isOver.store(true, ordering: .relaxed)
      watch?.interrupt()
    }
  }

  private func wait() -> [Change?]? {
    while !isOver.load(ordering: .relaxed) {
      _ = watch?.prepare()
      if let news = try? look(), !news.isEmpty { return news }
      if let watch { watch.wait(upTo: .seconds(1)) } else { usleep(1_000_000) }
    }
    return nil
  }

  private func look() throws(StoreError) -> [Change?] {
    let last = position.withLock(\.self)
    do throws(StoreError) {
      let (news, end) = try rows.changes(after: last)
      position.withLock { $0 = end }
      return last == nil && isLate.load(ordering: .relaxed) ? [nil] : news
    } catch {
      isLate.store(true, ordering: .relaxed)
      throw error
    }
  }
}

extension PagedRows {
  /// The number of commits in one request.
  private static let batch = 256

  /// The changes of the commits after `last`, and the last commit that was read. If `last` is `nil`, there are no
  /// changes, and `end` is the last commit of the log.
  fileprivate func changes(after last: UInt64?) throws(StoreError) -> ([Change?], end: UInt64) {
    let rows = try log.asking { session throws(PostgresFailure) in
      try session.connection.run(
        """
        SELECT store.head, store.start, next.sequence, next.payload
        FROM filedb.stores AS store LEFT JOIN LATERAL (
          SELECT sequence, payload FROM filedb.commits
          WHERE paged = (SELECT id FROM filedb.tables WHERE tables.store = store.id AND name = $2)
            AND sequence > $3::bigint
          ORDER BY sequence LIMIT \(Self.batch)
        ) AS next ON true WHERE store.id = $1::bigint ORDER BY next.sequence
        """, [.number(session.store.id), .text(key.text), .number(last ?? .max >> 1)], within: log.timeout)
    }
    guard let first = rows.first, let head = first.number(0), let start = first.number(1) else {
      throw StoreError(.unreachable, "the store is gone")
    }
    guard let last else { return ([], head) }
    var changes: [Change?] = last < start ? [nil] : []
    var end = head
    for row in rows {
      guard let sequence = row.number(2) else { continue }
      let commit = try? LoggedCommit(payload: row.bytes(3), sequence: sequence, depth: log.depth)
      changes += commit?.changes.map(\.change) ?? [nil]
      if rows.count == Self.batch { end = sequence }
    }
    return (changes, end)
  }
}
