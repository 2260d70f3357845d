import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Where commits go, and where they come from. All that a store knows of what is below it: the folder with its journal
/// and files (``FileLog``), or another log that keeps the same promises.
///
/// Commits have numbers, from 1, without gaps. A log may forget the first of them once its bases include them.
package protocol CommitLog: Sendable {
  /// Appends a commit. It is durable once ``CommitTicket/wait()`` has returned.
  ///
  /// Nobody else's commit to the same tables comes between `makeCommit` and the end of this: either a lock keeps the
  /// others out, or the log sees by ``NewCommit/tables`` and ``NewCommit/reads`` that somebody was quicker, and calls
  /// `makeCommit` again. A log without a lock may take commits to other tables in between.
  /// - Parameters:
  ///   - timeout: how long to wait for those who write at the same time.
  ///   - makeCommit: makes the commit from what the log holds by then; `nil` for none.
  ///   - taking: called with the commit as it was appended, before anybody who reads the log can see it.
  /// - Returns: `nil` if there was no commit.
  /// - Throws: what `makeCommit` throws: then nothing happened; ``StoreError/Code/locked``; ``StoreError/Code/closed``
  ///   once a sync has failed; ``StoreError/Code/outcomeUnknown`` if the log did not say whether the commit is
  ///   there.
  func append(
    timeout: Duration, _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)?

  /// The commits behind the one with the number `sequence`, whoever made them.
  func commits(after sequence: UInt64) throws(StoreError) -> LogNews

  /// A table as the log holds it apart from its commits, and how many of them are in it.
  /// - Parameter known: the ``TableBase/number`` of the base that the caller has.
  /// - Returns: `nil` if that one is still the newest.
  /// - Throws: ``StoreError/Code/conflict`` if the log's commits do not belong to what is there; what reading it
  ///   throws.
  func base(of table: TableKey, unless known: Int?) throws(StoreError) -> TableBase?

  /// The tables that exist.
  func tables() throws(StoreError) -> Set<TableKey>

  /// Tells of what others do; `nil` for a log that only this process can reach.
  func makeWatch() throws(StoreError) -> (any LogWatch)?

  /// What became of a commit whose ``append(timeout:_:taking:)`` or ``CommitTicket/wait()`` threw
  /// ``StoreError/Code/outcomeUnknown``.
  func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome
}

/// A commit that is in the log.
package protocol CommitTicket: Sendable {
  /// Returns once the commit survives a power cut.
  /// - Throws: ``StoreError/Code/outcomeUnknown``.
  func wait() throws(StoreError)
}

/// Waits for changes that others make to a log.
package protocol LogWatch: Sendable {
  /// Makes ready to be told of what happens from here on.
  /// - Returns: false if the caller has to look now and then.
  func prepare() -> Bool
  /// Waits for news, an interruption, or until `timeout` has passed; `nil` waits for ever. There may be none all the
  /// same.
  func wait(upTo timeout: Duration?)
  /// Ends ``wait(upTo:)``, for good.
  func interrupt()
}

/// Tells a commit from all others, also if its number is not known. A random number of 128 bits.
package struct CommitToken: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  package static func random() -> CommitToken {
    var halves: (high: UInt64, low: UInt64) = (0, 0)
    // One call of the system; two random numbers are two.
    let result = withUnsafeMutableBytes(of: &halves) { getentropy($0.baseAddress!, $0.count) }
    precondition(result == 0, "the system has no random numbers")
    return CommitToken(high: halves.high, low: halves.low)
  }
}

extension CommitToken {
  /// 32 hexadecimal digits.
  package var text: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// `nil` for anything but 32 hexadecimal digits.
  package init?(text: some StringProtocol) {
    guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}

/// What a commit means to the store's undo log.
package enum UndoMark: Equatable, Sendable {
  /// Nothing: the log goes on from the commit before.
  case none
  /// The log has a step for it, under its token.
  case step
  /// The log ends: what was done before cannot be taken back any more.
  case end
}

package enum CommitOutcome: Equatable, Sendable {
  /// It is in the log, and durable.
  case committed
  /// It is not there, and never will be.
  case absent
  case unknown
}

package enum LogNews: Sendable {
  case commits([LoggedCommit])
  /// The log has forgotten some of them, or is another log by now, which ends before them: what was read before must be
  /// read again. It goes on after this number.
  case forgotten(upTo: UInt64)
}

/// A table in a log, without the commits behind ``sequence``.
package struct TableBase: Sendable {
  package let state: TableState
  /// The last commit that it includes.
  package let sequence: UInt64
  /// Tells this base from others of the same table, for as long as the log is open.
  package let number: Int
  /// The last commit that was in the log when this was the newest base. All up to it may be carried out on it; a later
  /// one only if it was made for it, as ``LoggedCommit/Former/base`` says.
  package let end: UInt64
  /// Whether this is a file that another program saved, with the waiting commits carried out on it.
  package let isMerged: Bool

  package init(state: TableState, sequence: UInt64, number: Int, end: UInt64, isMerged: Bool = false) {
    (self.state, self.sequence, self.number) = (state, sequence, number)
    (self.end, self.isMerged) = (end, isMerged)
  }
}

/// A transaction's changes on their way into a log.
package struct NewCommit: Sendable {
  /// What a table must still be when the commit is appended.
  package struct Expectation: Sendable {
    /// No commit behind this one may have changed it.
    package let sequence: UInt64
    /// The ``TableBase/number`` of what it was read from.
    package let base: Int

    package init(sequence: UInt64, base: Int) { (self.sequence, self.base) = (sequence, base) }
  }

  package let token: CommitToken
  package let date: Date
  package let undo: UndoMark
  package let changes: [LoggedChange]
  /// Each table that is changed.
  package let tables: [TableKey: Expectation]
  /// Each table that the transaction only looked at: no commit behind this one may have changed it.
  package let reads: [TableKey: UInt64]
  /// The tables as they will be.
  package let states: [TableKey: TableState]

  package init(
    token: CommitToken = .random(), undo: UndoMark = .none,
    changes: [(table: TableKey, applied: AppliedChange)], tables: [TableKey: Expectation],
    reads: [TableKey: UInt64] = [:], states: [TableKey: TableState]
  ) {
    (self.token, self.undo) = (token, undo)
    date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    self.changes = changes.map { LoggedChange($0.applied, of: $0.table) }
    (self.tables, self.reads, self.states) = (tables, reads, states)
  }

  /// The last commit that each table may have been changed by, so that this one may be appended.
  package var expectedSequences: [TableKey: UInt64] { reads.merging(tables.mapValues(\.sequence)) { $1 } }
}

/// A commit as it is in a log.
package struct LoggedCommit: Sendable {
  package let sequence: UInt64
  package let date: Date
  /// `nil` for one of a journal of format 1.
  package let token: CommitToken?
  package let changes: [LoggedChange]
  package let tables: [TableKey: Former]

  /// What a table was when the commit was appended.
  package struct Former: Sendable {
    /// The ``TableBase/number`` of what it was read from; `nil` if this log has not read that.
    package var base: Int?

    package init(base: Int?) { self.base = base }
  }

  package init(
    sequence: UInt64, date: Date, token: CommitToken?, changes: [LoggedChange], tables: [TableKey: Former]
  ) {
    (self.sequence, self.date, self.token) = (sequence, date, token)
    (self.changes, self.tables) = (changes, tables)
  }

  package init(_ commit: NewCommit, sequence: UInt64) {
    self.init(
      sequence: sequence, date: commit.date, token: commit.token, changes: commit.changes,
      tables: commit.tables.mapValues { Former(base: $0.base) })
  }

  /// The changes of one table.
  package func changes(of table: TableKey) -> [LoggedChange] { changes.filter { $0.table == table } }
}
