import FileDB
import FileDBTables

/// A log that several machines share, with what a folder needs to follow it.
package protocol SharedCommitLog: CommitLog {
  /// Identifies this log. It stays the same as long as the log exists.
  func identity() throws(StoreError) -> String

  /// The address at which a folder finds the log again, without passwords; `nil` if the log has none.
  func address() throws(StoreError) -> String?

  /// See ``SharedLog/forgetCommits(olderThan:)``.
  func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int

  /// Makes sure that the server which answers accepts writes. So whoever looks at the log afterwards sees every commit
  /// that was durable before this call.
  func confirmLeader() throws(StoreError)

  /// Appends a commit like ``append(timeout:_:beforeOthersSee:)``, for a folder that may lack the newest commits.
  /// - Parameter last: the folder's last commit; called after `transact`.
  /// - Throws: in addition, ``StoreError/Code/conflict`` if the log no longer has that commit, because it was restored
  ///   to an earlier state.
  func append(
    timeout: Duration, after last: () throws -> FollowedCommit?,
    _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)?

  /// Finds out whether a commit that somebody has sent is in the log. If it is not, this makes sure that it never will
  /// be, even if it still arrives.
  /// - Parameter last: a commit that was in the log before that one was sent.
  /// - Returns: ``CommitOutcome/unknown`` if the log has forgotten the commits of that time.
  func settle(_ token: CommitToken, after last: UInt64) throws(StoreError) -> CommitOutcome

  /// The news of the log for a folder with this last commit.
  /// - Throws: ``StoreError/Code/conflict`` if the log no longer has that commit, because it was restored to an earlier
  ///   state.
  func news(after last: FollowedCommit) throws(StoreError) -> SharedNews

  /// Passes on all tables at one commit, including dropped tables that have a counter.
  /// - Returns: that commit.
  func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit
}

/// A shared log in PostgreSQL or etcd, which may have several logs with different names.
package protocol EngineLog: SharedCommitLog {
  /// The store's name.
  var name: String { get }

  /// Creates what the log needs and does not have yet.
  /// - Returns: whether it has created the tables that all stores use, and the store.
  /// - Throws: ``StoreError/Code/unreachable``, also if the user of the connection is not allowed to create them;
  ///   ``StoreError/Code/newerFormat``.
  func make() throws(StoreError) -> (tables: Bool, store: Bool)

  func status() throws(StoreError) -> SharedStatus
}

/// How far a folder has followed a log.
package struct FollowedCommit: Equatable, Sendable {
  package var sequence: UInt64
  /// The last commit whose token the folder knows, which is this one or an earlier one. If a log has another commit
  /// with its number, it is not the log that the folder has followed.
  package var known: Known?

  package struct Known: Equatable, Sendable {
    package let sequence: UInt64
    package let token: CommitToken

    package init(sequence: UInt64, token: CommitToken) { (self.sequence, self.token) = (sequence, token) }
  }

  package init(sequence: UInt64, known: Known? = nil) { (self.sequence, self.known) = (sequence, known) }
}

package enum SharedNews: Sendable {
  /// All newer commits.
  case commits([LoggedCommit])
  /// The first newer commits. There are more.
  case more([LoggedCommit])
  /// The folder has to start over from the tables. It lacks commits that the log no longer has, or too many to read one
  /// by one.
  case startOver
}

extension EngineLog {
  package func create() throws(StoreError) { _ = try make() }

  /// Appends a commit of a program without a folder, which lacks no commits.
  package func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try append(timeout: timeout, after: { nil }, transact, beforeOthersSee: beforeOthersSee)
  }
}

extension SharedCommitLog {
  package func address() throws(StoreError) -> String? { nil }

  /// By default, a log is never restored to an earlier state.
  package func append(
    timeout: Duration, after last: () throws -> FollowedCommit?,
    _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try append(timeout: timeout) {
      let commit = try transact()
      if commit != nil { _ = try last() }
      return commit
    } beforeOthersSee: {
      beforeOthersSee($0)
    }
  }

  /// By default, no commit is late.
  package func settle(_ token: CommitToken, after last: UInt64) throws(StoreError) -> CommitOutcome {
    try outcome(of: token)
  }

  /// By default, every look at a log shows all commits.
  package func confirmLeader() throws(StoreError) {}

  /// By default, a log cannot forget commits on request.
  package func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int { 0 }

  package func news(after last: FollowedCommit) throws(StoreError) -> SharedNews {
    switch try commits(after: last.sequence) {
    case .commits(let commits): return .commits(commits)
    case .forgotten(let start):
      guard start > last.sequence else {
        throw StoreError.putBack("it ends with commit \(start), but this folder has commit \(last.sequence)")
      }
      return .startOver
    }
  }

  package func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit {
    while true {
      var bases: [TableKey: TableVersion] = [:]
      for table in try tables() { bases[table] = try base(of: table, unless: nil) }
      // If the log has no tables, ask for a table that does not exist, to learn the first commit.
      let none = try base(of: TableKey("none"), unless: nil)
      let sequence = bases.values.map(\.through).min() ?? none?.through ?? 0
      // If the log has forgotten more commits in the meantime, the bases belong to different commits.
      guard bases.values.allSatisfy({ $0.through == sequence }) else { continue }
      for (table, base) in bases.sorted(by: { $0.key < $1.key }) { try take(table, base.state) }
      return FollowedCommit(sequence: sequence)
    }
  }
}

extension StoreError {
  /// The error for a shared log that lacks commits which a folder has followed.
  /// - Parameter what: how the two differ.
  package static func putBack(_ what: String) -> StoreError {
    StoreError(
      .conflict,
      "the shared log was restored to an earlier state: \(what). Move this folder away and start with an empty one; "
        + "then 'filedb diff' shows what the log has lost")
  }
}
