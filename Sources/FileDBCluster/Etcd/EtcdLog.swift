import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

/// A log in etcd. `EtcdKeys.swift` lists the keys.
package final class EtcdLog: EngineLog {
  /// A commit that a majority of etcd's members has already written to disk.
  private struct Ticket: CommitTicket {
    func wait() {}
  }

  /// The result of an attempt to append.
  private enum Attempt {
    case done
    /// Another writer has changed the log in the meantime.
    case late
  }

  /// Larger commits are split into parts.
  static let wholeBytes = 64 << 10
  /// The maximum size of a part of a commit, and of a piece of a table. By default, etcd accepts requests of 1.5 MB.
  static let partBytes = 1 << 20

  /// The store's name.
  package let name: String
  let client: EtcdClient
  let keys: EtcdKeys
  let limits: PlistLimits
  /// The number of commits between two compactions.
  let interval: UInt64
  /// The newest state of the log that this process has seen.
  let seen = Mutex<EtcdState?>(nil)
  /// The last result of ``begin(_:)``.
  let floor = Mutex<UInt64?>(nil)
  /// The commits with an unknown outcome. Each has the last commit of the log that it was sent after.
  private let unsettled = Mutex<[CommitToken: UInt64]>([:])

  /// - Parameters:
  ///   - address: such as `etcd://host:port,host:port/prefix`.
  ///   - store: the name of the store.
  ///   - timeout: how long to wait for an endpoint's answer.
  ///   - interval: the number of commits between two compactions.
  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address.
  package init(
    _ address: String, store name: String, timeout: Duration, limits: PlistLimits = PlistLimits(),
    compactingEvery interval: UInt64 = 1_000
  ) throws(StoreError) {
    (self.name, self.interval) = (name, interval)
    client = EtcdClient(try EtcdAddress(address), timeout: timeout)
    keys = EtcdKeys(prefix: client.address.prefix, store: name)
    // The writer has already checked the sizes.
    self.limits = PlistLimits(depth: limits.depth, valueBytes: .max, fileBytes: .max)
  }

  package func make() throws(StoreError) -> (tables: Bool, store: Bool) {
    let nothing = EtcdCommitReference(sequence: 0).value
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
    timeout: Duration, after last: () throws -> FollowedCommit?,
    _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let commit = try transact() else { return nil }
      if let sequence = try append(commit, knowing: try last()?.known, until: deadline) {
        beforeOthersSee(LoggedCommit(commit, sequence: sequence))
        compactWhenDue(sequence)
        return Ticket()
      }
      guard .now < deadline else { throw Self.others }
    }
  }

  private static let others = StoreError(
    .locked, "other machines kept writing to the same store; try again")

  /// - Returns: the commit's number; `nil` if another writer has changed one of its tables first.
  private func append(
    _ commit: NewCommit, knowing known: FollowedCommit.Known?, until deadline: ContinuousClock.Instant
  ) throws(StoreError) -> UInt64? {
    let draft = EtcdDraft(commit, payload: commit.payload())
    let seen = seen.withLock(\.?.head)
    var head: EtcdCommitReference
    // Usually this process has seen the log's last commit, and the transaction has read it.
    if let seen, seen.isLast(for: commit, knowing: known) {
      head = seen
    } else {
      guard let next = try headBehind(commit, knowing: known) else { return nil }
      head = next
    }
    try write(draft)
    while true {
      switch try attempt(draft, behind: head) {
      case .done: return head.sequence + 1
      case .late: break
      }
      guard let next = try headBehind(commit, knowing: known) else {
        remove(draft)
        return nil
      }
      // The head is unchanged, so the parts are missing: a sweep may have removed them.
      if next == head { try write(draft) }
      head = next
      if .now >= deadline {
        remove(draft)
        throw Self.others
      }
    }
  }

  /// The newest head of the log.
  ///
  /// - Returns: `nil` if a newer commit changed a table that `commit` read or wrote.
  private func headBehind(
    _ commit: NewCommit, knowing known: FollowedCommit.Known?
  ) throws(StoreError) -> EtcdCommitReference? {
    var last = commit.dependsOnOthers ? commit.position : 0
    while true {
      let news = try read(after: FollowedCommit(sequence: last, known: known))
      guard commit.dependsOnOthers else { return news.state.head }
      if let what = news.difference { throw .putBack(what) }
      if last < news.state.start.sequence { return nil }
      for other in try commits(news) {
        if other.isInTheWay(of: commit) { return nil }
        last = other.sequence
      }
      if last == news.state.head.sequence { return news.state.head }
    }
  }

  /// The commit point: one transaction. It does nothing if another writer has written the head since it was read.
  private func attempt(_ draft: EtcdDraft, behind head: EtcdCommitReference) throws(StoreError) -> Attempt {
    let next = EtcdCommitReference(sequence: head.sequence + 1, token: draft.token)
    var transaction = EtcdTransaction(
      // The text, too: after etcd was restored from a backup, its revisions occur again.
      compare: [.unchanged(keys.head, since: head.revision), .holds(keys.head, head.value)],
      success: [.put(keys.head, next.value), .put(keys.commit(next.sequence), draft.value)])
    if draft.isSplit {
      // It is enough to check for the first part, because a sweep removes all of them at once.
      transaction.compare.append(
        .exists(EtcdKeys.number(0, under: keys.parts(of: draft.token.text))))
      transaction.success.append(.put(keys.split(draft.token.text), "\(next.sequence)"))
    }
    do throws(EtcdFailure) {
      let answer = try client.change(transaction)
      guard answer.isMet else { return .late }
      remember(EtcdCommitReference(sequence: next.sequence, token: draft.token, revision: answer.revision))
      return .done
    } catch {
      switch error {
      case .lost(let message): throw unknownOutcome(of: draft, behind: head, message)
      case .refused(.noSpace, let message):
        guard let found = try? client.ask([.get(EtcdRange(keys.commit(next.sequence)))]).ranges[0] else {
          throw unknownOutcome(of: draft, behind: head, message)
        }
        if found.first.flatMap({ EtcdCommit($0) })?.token == draft.token { return .done }
      case .refused, .unreachable: break
      }
      remove(draft)
      throw StoreError(error)
    }
  }

  private func unknownOutcome(
    of draft: EtcdDraft, behind head: EtcdCommitReference, _ message: String
  ) -> StoreError {
    unsettled.withLock { $0[draft.token] = head.sequence }
    return .outcomeUnknown(message)
  }

  // MARK: Parts

  /// Writes the parts of a commit that is too large for one value. Nobody reads them before the commit is in the log.
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

  /// Splits bytes into as many values as they need, and writes these.
  func write(_ bytes: [UInt8], under key: String) throws(StoreError) {
    for (index, start) in stride(from: 0, to: bytes.count, by: Self.partBytes).enumerated() {
      let part = bytes[start..<min(start + Self.partBytes, bytes.count)]
      _ = try asking([.put(EtcdKeys.number(index, under: key), Array(part))])
    }
  }

  /// Removes the parts of a commit that failed. If this fails too, a sweep removes them later.
  private func remove(_ draft: EtcdDraft) {
    if draft.isSplit {
      _ = try? asking([.delete(EtcdRange(under: keys.parts(of: draft.token.text)))])
    }
  }

  /// Refuses to write bytes that would fill etcd, because a full etcd refuses the writes of all its clients.
  func checkSpace(for bytes: Int) throws(StoreError) {
    guard let page = try? client.page("/metrics") else { return }
    func number(_ name: String) -> Double? {
      page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
        Double($0.dropFirst(name.count + 1))
      }
    }
    guard let quota = number("etcd_server_quota_backend_bytes"),
      let size = number("etcd_mvcc_db_total_size_in_bytes"),
      let used = number("etcd_mvcc_db_total_size_in_use_in_bytes"),
      // For each request, etcd compares its whole size with the limit, even if parts of that are free.
      max(size, used + Double(2 * bytes)) + Double(Self.partBytes) > quota
    else { return }
    let isInUse = used + Double(2 * bytes) + Double(Self.partBytes) > quota
    let help =
      isInUse ? "start it with a larger --quota-backend-bytes" : "'etcdctl defrag' gives back the rest"
    throw StoreError(
      .diskFull,
      "etcd has too little space left for \(bytes) bytes: it has \(Int(size)) of \(Int(quota)) bytes, and \(Int(used)) "
        + "of them are in use; \(help)")
  }

  // MARK: Outcomes

  package func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome {
    guard let last = unsettled.withLock({ $0[token] }) else {
      return try find(token) ? .committed : .unknown
    }
    let deadline = ContinuousClock.now + client.timeout
    while true {
      do throws(StoreError) {
        let outcome = try settle(token, after: last)
        unsettled.withLock { $0[token] = nil }
        return outcome
      } catch {
        if .now >= deadline || error.code != .unreachable { return .unknown }
      }
      usleep(50_000)
    }
  }

  /// If the log does not have the commit, this writes its head again, unchanged. From then on, etcd refuses the commit
  /// if it still arrives, because the revision of the head is no longer the expected one.
  package func settle(_ token: CommitToken, after last: UInt64) throws(StoreError) -> CommitOutcome {
    var (end, isWhole) = (last, true)
    while true {
      let news = try read(after: FollowedCommit(sequence: end))
      let (start, head) = (news.state.start, news.state.head)
      if start.token == token || news.commits.contains(where: { $0.token == token }) { return .committed }
      if end < start.sequence {
        (end, isWhole) = (start.sequence, false)
        continue
      }
      end = news.commits.last?.sequence ?? end
      guard end >= head.sequence, try renew(head) else { continue }
      _ = try? asking([.delete(EtcdRange(under: keys.parts(of: token.text)))])
      return isWhole ? .absent : .unknown
    }
  }

  /// - Returns: false if another writer changed the log since the head was read.
  private func renew(_ head: EtcdCommitReference) throws(StoreError) -> Bool {
    try explaining { () throws(EtcdFailure) in
      try client.change(
        EtcdTransaction(
          compare: [.unchanged(keys.head, since: head.revision)], success: [.put(keys.head, head.value)]))
    }.isMet
  }

  /// Settles commits with an unknown outcome that nobody asks about any longer. Afterwards, none of them can arrive.
  package func confirmLeader() throws(StoreError) {
    for token in unsettled.withLock({ Array($0.keys) }) {
      if try outcome(of: token) == .unknown { return }
    }
  }

  private func find(_ token: CommitToken) throws(StoreError) -> Bool {
    var last = try look().state.start.sequence
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      if news.commits.contains(where: { $0.token == token }) { return true }
      // Another machine may forget commits in the meantime.
      last = max(news.commits.last?.sequence ?? last, news.state.start.sequence)
      if last >= news.state.head.sequence { return false }
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

/// A commit that is about to be appended.
private struct EtcdDraft {
  let token: CommitToken
  let payload: [UInt8]
  /// The value for the commit's key.
  let value: [UInt8]
  let isSplit: Bool

  init(_ commit: NewCommit, payload: [UInt8]) {
    (token, self.payload) = (commit.token, payload)
    isSplit = payload.count > EtcdLog.wholeBytes
    let head = "\(commit.token.text) \(Int(commit.date.timeIntervalSince1970))"
    value = isSplit ? Array("\(head) \(payload.count)\n".utf8) : Array("\(head)\n".utf8) + payload
  }
}

extension EtcdCommitReference {
  /// Whether the transaction has read everything up to this commit.
  fileprivate func isLast(for commit: NewCommit, knowing known: FollowedCommit.Known?) -> Bool {
    if let known, known.sequence == sequence, known.token != token { return false }
    return !commit.dependsOnOthers || commit.position == sequence
  }
}

extension LoggedCommit {
  /// Whether it changed something that the other one has read or written.
  fileprivate func isInTheWay(of commit: NewCommit) -> Bool {
    if sequence <= commit.position { return false }
    if commit.hasListedTables, changes.changeTableList { return true }
    return commit.usedTables.contains { tables[$0] != nil }
  }
}

extension NewCommit {
  /// Whether it depends on what earlier commits have done.
  fileprivate var dependsOnOthers: Bool { hasListedTables || !usedTables.isEmpty }
}
