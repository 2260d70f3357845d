import FileDB
import FileDBTables

/// A log that several machines share, as a folder follows it.
package protocol SharedCommitLog: CommitLog {
  /// Tells this log from all others. It stays the same for as long as the log is there.
  func identity() throws(StoreError) -> String

  /// The address at which a folder finds the log again, without passwords; `nil` if it has none.
  func address() throws(StoreError) -> String?

  /// Makes what the log needs if it is kept.
  func create() throws(StoreError)

  /// See ``SharedLog/forgetCommits(olderThan:)``.
  func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int

  /// What comes behind the last commit that a folder has.
  /// - Throws: ``StoreError/Code/conflict`` if that is not in the log any more, because it was put back to an earlier
  ///   state.
  func news(after last: FollowedCommit) throws(StoreError) -> SharedNews

  /// Hands out all tables as of one commit, also those that were dropped and have a counter.
  func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit
}

/// How far a folder has followed a log.
package struct FollowedCommit: Equatable, Sendable {
  package var sequence: UInt64
  /// The last commit of which the folder knows the token, which is this one or an earlier one. A log that has another
  /// one under its number is not the one that the folder has followed.
  package var known: Known?

  package struct Known: Equatable, Sendable {
    package let sequence: UInt64
    package let token: CommitToken

    package init(sequence: UInt64, token: CommitToken) { (self.sequence, self.token) = (sequence, token) }
  }

  package init(sequence: UInt64, known: Known? = nil) { (self.sequence, self.known) = (sequence, known) }
}

package enum SharedNews: Sendable {
  /// All that there are.
  case commits([LoggedCommit])
  /// The first of many.
  case more([LoggedCommit])
  /// The folder lacks commits that the log does not keep, or too many to read them one by one: it begins with the
  /// bases.
  case startOver
}

extension SharedCommitLog {
  package func address() throws(StoreError) -> String? { nil }

  package func create() throws(StoreError) {}

  /// One that does so by itself forgets nothing earlier.
  package func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int { 0 }

  package func news(after last: FollowedCommit) throws(StoreError) -> SharedNews {
    switch try commits(after: last.sequence) {
    case .commits(let commits): return .commits(commits)
    case .forgotten(let start):
      guard start > last.sequence else {
        throw StoreError.putBack("it ends with commit \(start), and this folder has commit \(last.sequence)")
      }
      return .startOver
    }
  }

  package func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit {
    while true {
      var bases: [TableKey: TableBase] = [:]
      for table in try tables() { bases[table] = try base(of: table, unless: nil) }
      // One that is not there tells where a log without tables begins.
      let none = try base(of: TableKey("none"), unless: nil)
      let sequence = bases.values.map(\.sequence).min() ?? none?.sequence ?? 0
      // Where the log has forgotten more meanwhile, they are not as of one moment.
      guard bases.values.allSatisfy({ $0.sequence == sequence }) else { continue }
      for (table, base) in bases.sorted(by: { $0.key < $1.key }) { try take(table, base.state) }
      return FollowedCommit(sequence: sequence)
    }
  }
}

extension StoreError {
  /// A shared log that lacks what a folder has followed.
  /// - Parameter what: tells the two apart.
  static func putBack(_ what: String) -> StoreError {
    StoreError(
      .conflict,
      "the shared log was put back to an earlier state: \(what). Move this folder away and begin with an empty one; "
        + "'filedb diff' shows what the log has lost")
  }
}
