import FileDB
import FileDBTables

/// A log that several machines share, as a folder that follows it sees it.
package protocol SharedCommitLog: CommitLog {
  /// Identifies this log. It stays the same as long as the log exists.
  func identity() throws(StoreError) -> String

  /// The address at which a folder finds the log again, without passwords; `nil` if the log has none.
  func address() throws(StoreError) -> String?

  /// See ``SharedLog/forgetCommits(olderThan:)``.
  func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int

  /// What the log has after the last commit of a folder.
  /// - Throws: ``StoreError/Code/conflict`` if the log no longer has that commit, because it was restored to an earlier
  ///   state.
  func news(after last: FollowedCommit) throws(StoreError) -> SharedNews

  /// Passes on all tables as of one commit, and dropped tables that have a counter.
  func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit
}

/// A shared log in an engine, which has many by their names.
package protocol EngineLog: SharedCommitLog {
  /// The store's name.
  var name: String { get }

  /// Makes what the log needs in the engine, where it is not there yet.
  /// - Returns: what was made: the tables that all stores have in common, and the store.
  /// - Throws: ``StoreError/Code/unreachable``, also where the user of the connection may not make them;
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
  /// All commits that the log has.
  case commits([LoggedCommit])
  /// The first of many commits.
  case more([LoggedCommit])
  /// The folder lacks commits that the log no longer has, or too many to read them one by one. So it begins with the
  /// bases.
  case startOver
}

extension EngineLog {
  package func create() throws(StoreError) { _ = try make() }
}

extension SharedCommitLog {
  package func address() throws(StoreError) -> String? { nil }

  /// A log that forgets commits by itself does not forget them earlier.
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
      // A table that does not exist tells with which commit a log without tables begins.
      let none = try base(of: TableKey("none"), unless: nil)
      let sequence = bases.values.map(\.sequence).min() ?? none?.sequence ?? 0
      // If the log has forgotten more in the meantime, the bases are not of the same moment.
      guard bases.values.allSatisfy({ $0.sequence == sequence }) else { continue }
      for (table, base) in bases.sorted(by: { $0.key < $1.key }) { try take(table, base.state) }
      return FollowedCommit(sequence: sequence)
    }
  }
}

extension StoreError {
  /// A shared log lacks what a folder has followed.
  /// - Parameter what: shows how the two differ.
  package static func putBack(_ what: String) -> StoreError {
    StoreError(
      .conflict,
      "the shared log was put back to an earlier state: \(what). Move this folder away and begin with an empty one; "
        + "'filedb diff' shows what the log has lost")
  }
}
