import FileDB
import FileDBCluster
import FileDBEssentials
import FileDBTables
import Synchronization

/// A log in etcd. The keys are in `EtcdKeys.swift`.
package final class EtcdLog: EngineLog {
  /// A commit that a majority of etcd's members has written to the disk.
  private struct Ticket: CommitTicket {
    func wait() {}
  }

  /// What became of an attempt to append.
  private enum Attempt {
    case done
    /// Somebody has changed the log meanwhile.
    case late
  }

  /// Larger commits are split into parts.
  static let wholeBytes = 64 << 10
  /// The bytes of a part, and of a piece of a table. etcd takes requests of 1.5 MB unless it is told otherwise.
  static let partBytes = 1 << 20

  /// The store's name.
  package let name: String
  let client: EtcdClient
  let keys: EtcdKeys
  let limits: PlistLimits
  /// After how many commits the log is compacted.
  let interval: UInt64
  /// The newest state that this process has seen.
  let seen = Mutex<EtcdState?>(nil)
  /// What this log takes for forgotten; see ``begin(_:)``.
  let floor = Mutex<UInt64?>(nil)
  /// What the log was when a commit was sent whose outcome is not known yet.
  private let unsettled = Mutex<[CommitToken: EtcdMark]>([:])

  /// - Parameters:
  ///   - address: such as `etcd://host:port,host:port/prefix`.
  ///   - store: the name of the store.
  ///   - timeout: how long an endpoint may take for an answer.
  ///   - interval: after how many commits the log is compacted.
  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address.
  package init(
    _ address: String, store name: String, timeout: Duration, limits: PlistLimits = PlistLimits(),
    compactingEvery interval: UInt64 = 1_000
  ) throws(StoreError) {
    (self.name, self.interval) = (name, interval)
    client = EtcdClient(try EtcdAddress(address), timeout: timeout)
    keys = EtcdKeys(prefix: client.address.prefix, store: name)
    // They were checked when they were written.
    self.limits = PlistLimits(depth: limits.depth, valueBytes: .max, fileBytes: .max)
  }

  package func make() throws(StoreError) -> (tables: Bool, store: Bool) {
    let nothing = EtcdMark(sequence: 0).text
    let answer = try explaining { () throws(EtcdFailure) in
      try client.change(
        EtcdTransaction(
          compare: [.unchanged(keys.head, since: 0)],
          success: [
            .put(keys.format, EtcdKeys.format), .put(keys.identity, UUID().uuidString.lowercased()),
            .put(keys.head, nothing), .put(keys.start, nothing), .put(keys.base, nothing),
            .put(keys.tables, ""), .put(keys.keep, "604800"),
          ]))
    }
    _ = try identity()
    return (tables: false, store: answer.isMet)
  }

  package func identity() throws(StoreError) -> String {
    let answer = try asking([.get(EtcdRange(keys.format)), .get(EtcdRange(keys.identity))])
    guard let format = answer.ranges[0].first, let identity = answer.ranges[1].first else {
      throw missing()
    }
    guard format.text == EtcdKeys.format else {
      throw StoreError(.newerFormat, "another version of FileDB made the store '\(name)' in etcd")
    }
    return identity.text
  }

  package func address() -> String? { client.address.text(of: name) }

  func missing() -> StoreError {
    StoreError(.unreachable, "etcd has no store '\(name)' under '\(client.address.prefix)'")
  }

  // MARK: Appending

  package func append(
    timeout: Duration, _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let commit = try makeCommit() else { return nil }
      if let sequence = try append(commit, until: deadline) {
        taking(LoggedCommit(commit, sequence: sequence))
        compactWhenDue(sequence)
        return Ticket()
      }
      guard .now < deadline else { throw Self.others }
    }
  }

  private static let others = StoreError(
    .locked, "other machines kept writing to the same store; try again")

  /// - Returns: the commit's number; `nil` where somebody else was quicker with one of its tables.
  private func append(
    _ commit: NewCommit, until deadline: ContinuousClock.Instant
  ) throws(StoreError) -> UInt64? {
    let draft = EtcdDraft(commit, payload: commit.payload())
    let known = seen.withLock(\.self)
    var head: EtcdMark
    // As a rule, this process has just read the log to its end, for the commit's body.
    if let known, commit.position ?? known.head.sequence == known.head.sequence {
      head = known.head
    } else {
      guard let next = try headBehind(commit) else { return nil }
      head = next
    }
    try write(draft)
    while true {
      switch try attempt(draft, behind: head) {
      case .done: return head.sequence + 1
      case .late: break
      }
      guard let next = try headBehind(commit) else {
        remove(draft)
        return nil
      }
      // Something that swept the log may have taken the parts.
      if next == head { try write(draft) }
      head = next
      if .now >= deadline {
        remove(draft)
        throw Self.others
      }
    }
  }

  /// The log's head, where no commit behind the one that `commit` was made for changed what it read or wrote.
  private func headBehind(_ commit: NewCommit) throws(StoreError) -> EtcdMark? {
    var last = commit.position ?? 0
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      guard commit.position != nil else { return news.state.head }
      if let what = news.difference { throw .putBack(what) }
      if last < news.state.start.sequence { return nil }
      for other in try commits(news) {
        let isInTheWay = commit.expectedSequences.contains {
          other.sequence > $0.value && other.tables[$0.key] != nil
        }
        if isInTheWay { return nil }
        last = other.sequence
      }
      if last == news.state.head.sequence { return news.state.head }
      if news.commits.isEmpty { throw StoreError(.damagedJournal, "etcd lacks commit \(last + 1)") }
    }
  }

  /// The commit point: one transaction, which does nothing where anybody has written the head since it was read.
  private func attempt(_ draft: EtcdDraft, behind head: EtcdMark) throws(StoreError) -> Attempt {
    let next = EtcdMark(sequence: head.sequence + 1, token: draft.token)
    var transaction = EtcdTransaction(
      compare: [.unchanged(keys.head, since: head.revision)],
      success: [.put(keys.head, next.text), .put(keys.commit(next.sequence), draft.value)])
    if draft.isSplit {
      // A sweep takes all parts at once.
      transaction.compare.append(
        .exists(EtcdKeys.number(0, under: keys.parts(of: draft.token.text))))
      transaction.success.append(.put(keys.split(draft.token.text), "\(next.sequence)"))
    }
    do throws(EtcdFailure) {
      let answer = try client.change(transaction)
      guard answer.isMet else { return .late }
      note(EtcdMark(sequence: next.sequence, token: draft.token, revision: answer.revision))
      return .done
    } catch {
      guard case .lost(let message) = error else {
        remove(draft)
        throw StoreError(error)
      }
      unsettled.withLock { $0[draft.token] = head }
      throw StoreError(.outcomeUnknown, "\(message); nobody knows yet whether the commit is there")
    }
  }

  // MARK: Parts

  /// Writes the parts of a commit that is too large for one value. Nobody reads them before the commit is there.
  private func write(_ draft: EtcdDraft) throws(StoreError) {
    if !draft.isSplit { return }
    try checkSpace(for: draft.payload.count)
    do throws(StoreError) {
      try write(draft.payload, under: keys.parts(of: draft.token.text))
    } catch {
      remove(draft)
      throw error
    }
  }

  /// Writes bytes in as many values as they need.
  func write(_ bytes: [UInt8], under key: String) throws(StoreError) {
    for (index, start) in stride(from: 0, to: bytes.count, by: Self.partBytes).enumerated() {
      let part = bytes[start..<min(start + Self.partBytes, bytes.count)]
      _ = try asking([.put(EtcdKeys.number(index, under: key), Array(part))])
    }
  }

  /// Where that fails, a sweep does it later.
  private func remove(_ draft: EtcdDraft) {
    if draft.isSplit {
      _ = try? asking([.delete(EtcdRange(under: keys.parts(of: draft.token.text)))])
    }
  }

  /// etcd refuses all writes of everybody once it has no space left.
  private func checkSpace(for bytes: Int) throws(StoreError) {
    guard let page = try? client.page("/metrics") else { return }
    func number(_ name: String) -> Double? {
      page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
        Double($0.dropFirst(name.count + 1))
      }
    }
    guard let quota = number("etcd_server_quota_backend_bytes"),
      let used = number("etcd_mvcc_db_total_size_in_use_in_bytes"), used + Double(2 * bytes) > quota
    else { return }
    throw StoreError(
      .diskFull,
      "a commit of \(bytes) bytes is too large for what etcd has left: \(Int(used)) bytes of \(Int(quota)) are in use "
        + "(its option --quota-backend-bytes)")
  }

  // MARK: Outcomes

  /// A commit that was sent behind some head is there as the next one, or the head has not changed. Then the head is
  /// written anew, as it is: so the commit does not come later either.
  package func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome {
    guard let head = unsettled.withLock({ $0[token] }) else {
      return try find(token) ? .committed : .unknown
    }
    let deadline = ContinuousClock.now + client.timeout
    while true {
      do throws(EtcdFailure) {
        if let outcome = try settle(token, sentBehind: head) {
          unsettled.withLock { $0[token] = nil }
          if outcome == .absent {
            _ = try? asking([.delete(EtcdRange(under: keys.parts(of: token.text)))])
          }
          return outcome
        }
      } catch {
        if case .refused = error { throw StoreError(error) }
        if .now >= deadline { return .unknown }
      }
      usleep(50_000)
    }
  }

  /// - Returns: `nil` where somebody has changed the log between two looks at it.
  func settle(_ token: CommitToken, sentBehind head: EtcdMark) throws(EtcdFailure) -> CommitOutcome? {
    let answer = try client.ask([
      .get(EtcdRange(keys.head)), .get(EtcdRange(keys.start)),
      .get(EtcdRange(keys.commit(head.sequence + 1))),
    ])
    if let commit = answer.ranges[2].first.flatMap({ EtcdCommit($0) }) {
      return commit.token == token ? .committed : .absent
    }
    guard let now = answer.ranges[0].first.flatMap({ EtcdMark($0) }),
      let start = answer.ranges[1].first.flatMap({ EtcdMark($0) }), start.sequence <= head.sequence
    else { return .unknown }
    let answered = try client.change(
      EtcdTransaction(
        compare: [.unchanged(keys.head, since: now.revision)], success: [.put(keys.head, now.text)])
    )
    return answered.isMet ? .absent : nil
  }

  private func find(_ token: CommitToken) throws(StoreError) -> Bool {
    var last = try look().state.start.sequence
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      if news.commits.contains(where: { $0.token == token }) { return true }
      guard let next = news.commits.last?.sequence else { return false }
      last = next
    }
  }

  // MARK: Asking

  func asking(_ operations: [EtcdOperation]) throws(StoreError) -> EtcdAnswer {
    try explaining { () throws(EtcdFailure) in try client.ask(operations) }
  }

  func explaining<Result>(_ body: () throws(EtcdFailure) -> Result) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error) }
  }
}

/// A commit on its way into the log.
private struct EtcdDraft {
  let token: CommitToken
  let payload: [UInt8]
  /// What the commit's key gets.
  let value: [UInt8]
  let isSplit: Bool

  init(_ commit: NewCommit, payload: [UInt8]) {
    (token, self.payload) = (commit.token, payload)
    isSplit = payload.count > EtcdLog.wholeBytes
    let head = "\(commit.token.text) \(Int(commit.date.timeIntervalSince1970))"
    value = isSplit ? Array("\(head) \(payload.count)\n".utf8) : Array("\(head)\n".utf8) + payload
  }
}

extension NewCommit {
  /// The last commit that its tables were read after; `nil` for a commit that neither reads nor writes one.
  fileprivate var position: UInt64? { expectedSequences.values.min() }
}
