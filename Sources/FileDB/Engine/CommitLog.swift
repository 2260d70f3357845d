import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Where commits go and come from. A store knows nothing else of what is below it: either the folder with its journal
/// and files (``FileLog``), or another log that keeps the same promises.
///
/// Commits are numbered from 1, without gaps. A log may forget its first commits once its bases include them.
package protocol CommitLog: Sendable {
  /// Appends a commit. It is durable once ``CommitTicket/wait()`` has returned.
  ///
  /// No other commit to the same tables comes between the call of `transact` and the end of this function. Either a
  /// lock keeps other writers out, or the log notices from ``NewCommit/position`` that another writer was first, and
  /// calls `transact` again. A log without a lock may accept commits to other tables in between.
  /// - Parameters:
  ///   - timeout: how long to wait for other writers.
  ///   - transact: runs the transaction on the present state of the log; `nil` if there is nothing to commit.
  ///   - beforeOthersSee: called with the appended commit, before another thread of this process can read it.
  /// - Returns: `nil` if there was no commit.
  /// - Throws: what `transact` throws: then nothing happened; ``StoreError/Code/locked``; ``StoreError/Code/closed``
  ///   after a sync has failed; ``StoreError/Code/outcomeUnknown`` if the log did not say whether it has the commit.
  func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)?

  /// All commits after the one with the number `sequence`, of all writers.
  func commits(after sequence: UInt64) throws(StoreError) -> LogNews

  /// A table as the log has it, with some or all of its commits.
  /// - Parameter known: the version that the caller has.
  /// - Returns: `nil` if that version needs only the log's commits to be the newest: it has the table's lineage, and
  ///   lacks none of the commits that the log has forgotten.
  /// - Throws: ``StoreError/Code/conflict`` if the log's commits do not belong to the table; the errors of reading it.
  func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion?

  /// The tables that exist.
  func tables() throws(StoreError) -> Set<TableKey>

  /// The dropped tables, as far as the log remembers them. It remembers each that has a counter, so that no id is given
  /// twice.
  func droppedTables() throws(StoreError) -> Set<TableKey>

  /// Makes an object that waits for commits of others; `nil` for a log that only this process can reach.
  func makeWatch() throws(StoreError) -> (any LogWatch)?

  /// Tells what happened to a commit for which ``append(timeout:_:beforeOthersSee:)`` or ``CommitTicket/wait()`` threw
  /// ``StoreError/Code/outcomeUnknown``.
  func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome
}

extension CommitLog {
  /// By default, a log keeps no counters of dropped tables.
  package func droppedTables() throws(StoreError) -> Set<TableKey> { [] }
}

/// A commit that is in the log.
package protocol CommitTicket: Sendable {
  /// Returns when the commit is durable.
  /// - Throws: ``StoreError/Code/outcomeUnknown``.
  func wait() throws(StoreError)
}

/// Waits for changes that others make to a log.
package protocol LogWatch: Sendable {
  /// Starts to watch. ``wait(upTo:)`` then reports everything that happens from here on.
  /// - Returns: false if the caller has to check from time to time.
  func prepare() -> Bool
  /// Waits for news, an interruption, or until `timeout` has passed; `nil` waits for ever. It may also return without
  /// any news.
  func wait(upTo timeout: Duration?)
  /// Ends ``wait(upTo:)``, now and in future.
  func interrupt()
}

/// Identifies a commit even if its number is unknown. A random number of 128 bits.
package struct CommitToken: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  package static func random() -> CommitToken {
    #if canImport(Darwin)
      // Only macOS has `getentropy`. Here, random numbers come without a system call.
      return CommitToken(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    #else
      var halves: (high: UInt64, low: UInt64) = (0, 0)
      // One system call for both halves; two random numbers would take two.
      let result = withUnsafeMutableBytes(of: &halves) { getentropy($0.baseAddress!, $0.count) }
      precondition(result == 0, "the system has no random numbers")
      return CommitToken(high: halves.high, low: halves.low)
    #endif
  }
}

extension CommitToken {
  /// 32 hexadecimal digits.
  package var text: String { String(hexadecimal: high, width: 16) + String(hexadecimal: low, width: 16) }

  /// `nil` for anything but 32 hexadecimal digits.
  package init?(text: some StringProtocol) { self.init(digits: Array(text.utf8)[...]) }

  /// `nil` for anything but 32 hexadecimal digits.
  package init?(digits: ArraySlice<UInt8>) {
    guard digits.count == 32, let high = UInt64(hexadecimal: digits.prefix(16)),
      let low = UInt64(hexadecimal: digits.suffix(16))
    else { return nil }
    self.init(high: high, low: low)
  }
}

/// What a commit means for the store's undo log.
package enum UndoEffect: String, Sendable {
  /// Nothing: the undo log continues from the commit before.
  case none
  /// The undo log has a step for this commit, under its token.
  case step
  /// The undo log ends here: what was done before can no longer be undone.
  case end
}

package enum CommitOutcome: Equatable, Sendable {
  /// It is in the log, and durable.
  case committed
  /// It is not in the log, and never will be.
  case absent
  case unknown
}

package enum LogNews: Sendable {
  case commits([LoggedCommit])
  /// The log has forgotten some of the commits, or another log has taken its place and ends before them. Everything
  /// must be read again. The log continues after this number.
  case forgotten(upTo: UInt64)
}

/// A table with all its commits up to some number.
package struct TableVersion: Sendable {
  package var state: TableState
  /// What the table was made from: its file, or the log's tables. Versions of one lineage differ only by the commits that
  /// they include. A checkpoint continues the lineage. Another program that saves the file begins a new one, and so does
  /// another log.
  package let lineage: Int
  /// The version includes all of the table's commits up to this one.
  package var through: UInt64

  package init(state: TableState, lineage: Int, through: UInt64) {
    (self.state, self.lineage, self.through) = (state, lineage, through)
  }
}

/// A transaction's changes, on their way into a log.
package struct NewCommit: Sendable {
  package let token: CommitToken
  package let date: Date
  package let undo: UndoEffect
  package let changes: [LoggedChange]
  /// The last commit that the transaction has seen. If a later one has changed something that it depends on, this one
  /// must not be appended.
  package let position: UInt64
  /// The tables that the transaction changes, each with its ``TableVersion/lineage``.
  package let tables: [TableKey: Int]
  /// The tables that the transaction only read.
  package let reads: Set<TableKey>
  /// Whether it depends on which tables exist.
  package let hasListedTables: Bool
  /// The tables with the transaction's changes.
  package let states: [TableKey: TableState]

  package init(
    token: CommitToken = .random(), undo: UndoEffect = .none,
    changes: [LoggedChange], position: UInt64, tables: [TableKey: Int],
    reads: Set<TableKey> = [], hasListedTables: Bool = false, states: [TableKey: TableState]
  ) {
    (self.token, self.undo) = (token, undo)
    date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    (self.changes, self.position, self.tables, self.states) = (changes, position, tables, states)
    (self.reads, self.hasListedTables) = (reads, hasListedTables)
  }

  /// The tables that it depends on.
  package var usedTables: Set<TableKey> { reads.union(tables.keys) }
}

/// A commit in a log.
package struct LoggedCommit: Sendable {
  package let sequence: UInt64
  package let date: Date
  /// A repaired commit may have none.
  package let token: CommitToken?
  package let changes: [LoggedChange]
  /// The tables that it changes, each with its ``TableVersion/lineage`` when the commit was appended; `nil` for a table
  /// that this log has not read.
  package let tables: [TableKey: Int?]

  package init(
    sequence: UInt64, date: Date, token: CommitToken?, changes: [LoggedChange], tables: [TableKey: Int?]
  ) {
    (self.sequence, self.date, self.token) = (sequence, date, token)
    (self.changes, self.tables) = (changes, tables)
  }

  package init(_ commit: NewCommit, sequence: UInt64) {
    self.init(
      sequence: sequence, date: commit.date, token: commit.token, changes: commit.changes,
      tables: commit.tables)
  }

  /// The changes of one table.
  package func changes(of table: TableKey) -> [LoggedChange] { changes.filter { $0.table == table } }
}

extension Collection<LoggedChange> {
  /// Whether other tables exist afterwards than before.
  package var changeTableList: Bool {
    contains { logged in
      switch logged.change {
      case .create, .drop: true
      default: false
      }
    }
  }
}
