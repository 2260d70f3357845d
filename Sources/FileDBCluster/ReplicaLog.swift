import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

/// The log of a store that several machines share: a shared log, and a folder of this machine that follows it.
///
/// Writes go to the shared log, and from there into the folder's journal. All reading uses the folder, so it never
/// waits for the network.
package final class ReplicaLog: CommitLog {
  private struct Ticket: CommitTicket {
    /// The shared log has already confirmed that the commit is durable.
    func wait() {}
  }

  package let shared: any SharedCommitLog
  package let folder: FileLog
  /// The identity of the log that the folder follows.
  private let identity: String
  private let isChecked = Atomic<Bool>(false)
  /// Whether other machines have probably written since the folder last took over their commits. Then a write reads the
  /// log first.
  private let expectsNews = Atomic<Bool>(true)
  /// What this process's commits mean for the undo log, until the commits are in the folder's journal.
  private let ownUndoEffects = Mutex<[CommitToken: UndoEffect]>([:])
  private let settled = Mutex<[SettledCommit]>([])

  package var notes: ReplicaNotes { ReplicaNotes(folder: folder.folder) }

  package init(_ shared: any SharedCommitLog, identity: String, into folder: FileLog) {
    (self.shared, self.identity, self.folder) = (shared, identity, folder)
  }

  package func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    // Processes on this machine wait for their turn here, not at the shared log.
    try folder.whileLocked(timeout: timeout) {
      try settle()
      let start = folder.end
      var (own, appended): (NewCommit?, LoggedCommit?) = (nil, nil)
      do {
        let ticket = try shared.append(timeout: timeout, after: { try position(beforeSending: own) }) {
          own = try make(transact)
          return own
        } beforeOthersSee: {
          appended = $0
        }
        try ticket?.wait()
      } catch let error as StoreError where error.code == .outcomeUnknown {
        guard let own else { throw error }
        keepUndoEffect(of: own)
        throw error.naming(own.token)
      } catch {
        // The log does not have it. If this fails, the next write finds that out once more.
        try? notes.removeSentCommit()
        throw error
      }
      let hadNews = folder.end > start
      var isTaken = true
      if let own, let appended {
        keepUndoEffect(of: own)
        // The commit is in the shared log. If the folder cannot take it over now, it does so before the next write.
        isTaken = (try? takeOver(appended)) != nil
        if isTaken { beforeOthersSee(LoggedCommit(own, sequence: appended.sequence)) }
      }
      // It is known what became of all that was sent, also if the last try had nothing to commit.
      try? notes.removeSentCommit()
      guard isTaken else { return Ticket() }
      expectsNews.store(hadNews, ordering: .relaxed)
      return appended.map { _ in Ticket() }
    }
  }

  /// Makes a commit. If probably nobody else has written, this does not read the log first: the log refuses a commit
  /// that was made from old records, and then this is called again.
  private func make(_ transact: () throws -> NewCommit?) throws -> NewCommit? {
    // Until a write has ended well, each try reads the log first.
    let early = expectsNews.exchange(true, ordering: .relaxed) ? nil : Result { try transact() }
    if case .success(let commit?) = early { return commit }
    // The log cannot check the rest: no commit, and an error, may come from old records, too.
    let end = folder.end
    try follow()
    if let early, folder.end == end { return try early.get() }
    return try transact()
  }

  private func keepUndoEffect(of commit: NewCommit) {
    if commit.undo != .none { ownUndoEffects.withLock { $0[commit.token] = commit.undo } }
  }

  /// Takes over a commit of this process into the folder, with the commits before it.
  private func takeOver(_ commit: LoggedCommit) throws(StoreError) {
    if commit.sequence == folder.end + 1 { try take([commit]) } else { try follow() }
  }

  /// Takes over the commits of the shared log that the folder lacks. Call it with the folder's lock.
  /// - Parameters:
  ///   - first: the news that were read before this call.
  ///   - isWanted: asked after the log has answered, and before the folder takes anything over.
  private func follow(_ first: ReadNews? = nil, while isWanted: () -> Bool = { true }) throws(StoreError) {
    try checkIdentity()
    var read = first
    while true {
      let position = position()
      // Another process may have moved the folder on in the meantime.
      let news =
        if let read, read.position == position { try read.news.get() } else {
          try shared.news(after: position)
        }
      read = nil
      guard isWanted() else { return }
      switch news {
      case .commits(let commits): return try take(commits)
      case .more(let commits):
        // Read the next commits while the folder takes over these.
        read = commits.last.map { readNews(after: FollowedCommit($0.sequence, $0.token)) }
        try take(commits)
      case .startOver: try startOver()
      }
    }
  }

  /// Reads the log in another thread.
  private func readNews(after position: FollowedCommit) -> ReadNews {
    ReadNews(
      position: position,
      news: PendingRead { [shared] () throws(StoreError) in try shared.news(after: position) })
  }

  /// The folder's last commit.
  private func position() -> FollowedCommit {
    let last = folder.last
    return FollowedCommit(last.sequence, last.token)
  }

  /// The same, once a commit that will be sent is written down.
  private func position(beforeSending commit: NewCommit?) throws(StoreError) -> FollowedCommit {
    let position = position()
    if let commit { try notes.write(SentCommit(commit, after: position.sequence)) }
    return position
  }

  // MARK: Commits with an unknown outcome

  /// Finds out what became of a commit if the write that sent it did not hear. Call it with the folder's lock.
  private func settle() throws(StoreError) {
    guard let sent = try notes.sentCommit() else { return }
    try checkIdentity()
    let outcome = try shared.settle(sent.token, after: sent.last)
    if outcome == .committed {
      if sent.undo != .none { ownUndoEffects.withLock { $0[sent.token] = sent.undo } }
      try follow()
    }
    try notes.removeSentCommit()
    settled.withLock { $0.append(SettledCommit(commit: sent, outcome: outcome)) }
  }

  /// The same without the lock.
  func settle(timeout: Duration) throws {
    guard try notes.sentCommit() != nil else { return }
    try folder.whileLocked(timeout: timeout) { try settle() }
  }

  /// The commits whose outcome was found out since the last call. Their writes did not hear of it.
  func takeSettled() -> [SettledCommit] {
    settled.withLock { settled in
      defer { settled = [] }
      return settled
    }
  }

  package func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome {
    let outcome = try shared.outcome(of: token)
    switch outcome {
    // The write that asked for this reads it next.
    case .committed: _ = try? catchUp(timeout: folder.lockTimeout)
    case .absent: ownUndoEffects.withLock { $0[token] = nil }
    case .unknown: return .unknown
    }
    _ = try? folder.whileLocked(timeout: folder.lockTimeout) {
      if try notes.sentCommit()?.token == token { try notes.removeSentCommit() }
    }
    return outcome
  }

  // MARK: Following

  private func take(_ commits: [LoggedCommit]) throws(StoreError) {
    if commits.isEmpty { return }
    let effects = ownUndoEffects.withLock { $0 }
    try folder.take(commits) { token in token.flatMap { effects[$0] } ?? .none }
    if !effects.isEmpty {
      ownUndoEffects.withLock { effects in for commit in commits { commit.token.map { effects[$0] = nil } } }
    }
  }

  /// Starts over: replaces the folder's tables with those of the shared log.
  private func startOver() throws(StoreError) {
    let former = folder.end
    var last = FollowedCommit(sequence: former)
    try folder.startOver { take throws(StoreError) in
      last = try shared.bases(take)
      return (last.sequence, last.known.flatMap { $0.sequence == last.sequence ? $0.token : nil })
    }
    if former > 0 { try notes.writeStart(from: former, to: last.sequence) }
  }

  private func checkIdentity() throws(StoreError) {
    if isChecked.load(ordering: .relaxed) { return }
    guard try shared.identity() == identity else {
      throw StoreError(.conflict, "this folder belongs to another shared log", file: folder.folder.path)
    }
    isChecked.store(true, ordering: .relaxed)
  }

  /// Takes over the commits of others.
  /// - Parameter isWanted: asked before each step. If it is false, the folder stays as it is.
  /// - Returns: whether there were any.
  package func catchUp(timeout: Duration, while isWanted: () -> Bool = { true }) throws -> Bool {
    try folder.readOn()
    let position = position()
    let news = try shared.news(after: position)
    // Another process on this machine may do it. Then there is nothing left, and its lock is not needed.
    if case .commits(let commits) = news, commits.isEmpty { return false }
    guard isWanted() else { return false }
    try folder.whileLocked(timeout: timeout) {
      try follow(ReadNews(position: position, news: PendingRead(news)), while: isWanted)
    }
    return true
  }

  /// The same for a write that follows. It does not read the log first again.
  func catchUpToWrite(timeout: Duration) throws {
    try checkIdentity()
    try settle(timeout: timeout)
    _ = try catchUp(timeout: timeout)
    expectsNews.store(false, ordering: .relaxed)
  }

  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    try folder.commits(after: sequence)
  }

  package func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion? {
    try folder.base(of: table, unless: known)
  }

  package func tables() throws(StoreError) -> Set<TableKey> { try folder.tables() }

  package func droppedTables() throws(StoreError) -> Set<TableKey> { try folder.droppedTables() }

  /// Watches the folder; ``makeSharedWatch()`` watches what the folder follows.
  package func makeWatch() throws(StoreError) -> (any LogWatch)? { try folder.makeWatch() }

  func makeSharedWatch() throws(StoreError) -> (any LogWatch)? { try shared.makeWatch() }
}

extension FollowedCommit {
  fileprivate init(_ sequence: UInt64, _ token: CommitToken?) {
    self.init(sequence: sequence, known: token.map { Known(sequence: sequence, token: $0) })
  }
}

/// The news of a shared log for a folder with a certain last commit.
private struct ReadNews {
  let position: FollowedCommit
  let news: PendingRead<SharedNews>
}
