import FileDB
import FileDBTables
import Foundation
import Synchronization

/// A log without files, like one that several machines share. If two write at the same time, the first one wins, and
/// the other's transaction runs again. The log can forget old commits, and some of its answers are lost.
package final class MemoryLog: CommitLog {
  /// The tables that no other commit may have changed. A correct log checks all of them.
  package enum Check: Sendable {
    case readAndWritten, written, nothing

    fileprivate func tables(of commit: NewCommit) -> Set<TableKey> {
      switch self {
      case .readAndWritten: commit.usedTables
      case .written: Set(commit.tables.keys)
      case .nothing: []
      }
    }
  }

  fileprivate struct State {
    var commits: [LoggedCommit] = []
    var start: UInt64 = 0
    var bases: [TableKey: TableVersion] = [:]
    var appendCount = 0
    var lostAnswers = 0

    var end: UInt64 { start + UInt64(commits.count) }
  }

  private struct Ticket: CommitTicket {
    let isLost: Bool

    func wait() throws(StoreError) {
      if isLost { throw StoreError(.outcomeUnknown, "the answer was lost") }
    }
  }

  private let state = Mutex(State())
  /// Every how many answers one is lost; 0 for never.
  private let lossEvery: Int
  private let check: Check
  /// Runs between a transaction's body and its append, when others may write first.
  private let interlude: @Sendable () -> Void
  private let willRead: @Sendable () -> Void

  package init(
    losingOneAnswerIn lossEvery: Int = 0, checking check: Check = .readAndWritten,
    interlude: @escaping @Sendable () -> Void = {}, willRead: @escaping @Sendable () -> Void = {}
  ) {
    (self.lossEvery, self.check) = (lossEvery, check)
    (self.interlude, self.willRead) = (interlude, willRead)
  }

  package var lostAnswerCount: Int { state.withLock(\.lostAnswers) }

  package func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    while true {
      guard let commit = try transact() else { return nil }
      interlude()
      let ticket = try state.withLock { state throws(StoreError) -> Ticket? in
        let position = commit.position
        let later = state.commits.filter { $0.sequence > position }
        for table in check.tables(of: commit) {
          if later.contains(where: { $0.tables[table] != nil }) || state.start > position { return nil }
        }
        if check == .readAndWritten, commit.hasListedTables {
          if later.contains(where: \.changes.changeTableList) || state.start > position { return nil }
        }
        state.appendCount += 1
        let isLost = lossEvery > 0 && state.appendCount % lossEvery == 0
        if isLost { state.lostAnswers += 1 }
        // For every other lost answer, the commit fails, too.
        if isLost, state.lostAnswers % 2 == 0 {
          throw StoreError(.outcomeUnknown, "the log did not answer")
        }
        let logged = LoggedCommit(
          sequence: state.end + 1, date: commit.date, token: commit.token, changes: commit.changes,
          tables: commit.tables)
        state.commits.append(logged)
        beforeOthersSee(logged)
        return Ticket(isLost: isLost)
      }
      if let ticket { return ticket }
    }
  }

  package func commits(after sequence: UInt64) -> LogNews {
    willRead()
    return state.withLock { state in
      sequence < state.start
        ? .forgotten(upTo: state.start) : .commits(state.commits.filter { $0.sequence > sequence })
    }
  }

  package func base(of table: TableKey, unless known: TableVersion?) -> TableVersion? {
    state.withLock { state in
      let base = state.bases[table]
      if let known, known.lineage == base?.lineage ?? 0 { return nil }
      return base ?? TableVersion(state: TableState(), lineage: 0, through: state.start)
    }
  }

  package func tables() throws(StoreError) -> Set<TableKey> {
    try state.withLock { state throws(StoreError) in
      Set(try state.newest().filter(\.value.exists).keys)
    }
  }

  package func droppedTables() throws(StoreError) -> Set<TableKey> {
    try state.withLock { state throws(StoreError) in
      Set(try state.newest().filter { !$0.value.exists && $0.value.counter > 0 }.keys)
    }
  }

  package func makeWatch() -> (any LogWatch)? { nil }

  package func outcome(of token: CommitToken) -> CommitOutcome {
    state.withLock { state in state.commits.contains { $0.token == token } ? .committed : .absent }
  }

  /// Applies all commits to the bases, and forgets them.
  package func forget() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      let end = state.end
      let changed = Set(state.commits.flatMap(\.tables.keys))
      for (table, newest) in try state.newest() {
        let old = state.bases[table]
        let lineage = changed.contains(table) ? (old?.lineage ?? 0) + 1 : old?.lineage ?? 0
        state.bases[table] = TableVersion(state: newest, lineage: lineage, through: end)
      }
      (state.start, state.commits) = (end, [])
    }
  }
}

extension MemoryLog.State {
  fileprivate func newest() throws(StoreError) -> [TableKey: TableState] {
    var tables = bases.mapValues(\.state)
    for commit in commits {
      for change in commit.changes { try tables[change.table, default: TableState()].apply(change) }
    }
    return tables
  }
}
