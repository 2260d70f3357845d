import FileDB
import FileDBCluster
import FileDBTables
import Synchronization
import TestSupport

/// A log that cannot be reached at the first request for its tables. It passes commits on one by one.
final class UnreliableLog: SharedCommitLog {
  private let log: MemoryLog
  private let wasLost = Atomic<Bool>(false)
  /// Whether it cannot be reached.
  let isAway = Atomic<Bool>(false)

  private let whileIdentifying: @Sendable () -> Void

  /// - Parameter whileIdentifying: called before the log tells its identity.
  init(_ log: MemoryLog, whileIdentifying: @escaping @Sendable () -> Void = {}) {
    (self.log, self.whileIdentifying) = (log, whileIdentifying)
  }

  func news(after last: FollowedCommit) throws(StoreError) -> SharedNews {
    if isAway.load(ordering: .relaxed) { throw StoreError(.unreachable, "away") }
    if last.sequence == 0 { return .startOver }
    let news = try log.news(after: last)
    guard case .commits(let commits) = news, commits.count > 1 else { return news }
    return .more([commits[0]])
  }

  func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit {
    if !wasLost.exchange(true, ordering: .relaxed) { throw StoreError(.unreachable, "away") }
    return try log.bases(take)
  }

  func identity() -> String {
    whileIdentifying()
    return log.identity()
  }

  func commits(after sequence: UInt64) -> LogNews { log.commits(after: sequence) }
  func base(of table: TableKey, unless known: TableVersion?) -> TableVersion? {
    log.base(of: table, unless: known)
  }
  func tables() throws(StoreError) -> Set<TableKey> { try log.tables() }
  func makeWatch() -> (any LogWatch)? { nil }
  func outcome(of token: CommitToken) -> CommitOutcome { log.outcome(of: token) }

  func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try log.append(timeout: timeout, transact, beforeOthersSee: beforeOthersSee)
  }
}
