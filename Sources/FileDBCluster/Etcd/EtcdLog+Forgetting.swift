import FileDB
import FileDBEssentials
import FileDBTables

extension EtcdLog {
  /// Renews the base and forgets old commits, if there are many commits since the last time.
  ///
  /// The commit that triggers this is already in the log, so failures are ignored. A later commit tries again.
  func compactWhenDue(_ sequence: UInt64) {
    guard sequence.isMultiple(of: max(1, interval / 10)), let base = seen.withLock({ $0?.base.sequence }),
      sequence >= base + interval
    else { return }
    guard let found = try? asking([.get(EtcdRange(keys.keep))]).ranges[0] else { return }
    // If it is not a number, commits are kept forever.
    let seconds = found.first.flatMap { Int64($0.text) } ?? .max
    _ = try? forgetCommits(olderThan: .seconds(seconds))
  }

  package func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int {
    let limit = Date().addingTimeInterval(-TimeInterval(age.components.seconds))
    let old: EtcdState?
    do throws(StoreError) { old = try renewBase() } catch {
      // What the present base includes can be forgotten without any room.
      guard error.code == .diskFull, let count = try? forget(while: { $0.date <= limit }), count > 0 else {
        throw error
      }
      try sweep()
      compactHistory(before: try look().state)
      return count
    }
    guard let old else { return 0 }
    let count = try forget { $0.date <= limit }
    try sweep()
    // Without new commits, the former base is still the present one, and somebody may be reading it.
    if old.head.sequence > old.base.sequence { compactHistory(before: old) }
    return count
  }

  /// Forgets the oldest commits, up to the first one for which `isOld` is false.
  private func forget(while isOld: (EtcdCommit) -> Bool) throws(StoreError) -> Int {
    let state = try look().state
    var end = state.start
    while end.sequence < state.base.sequence {
      let commits = try read(after: FollowedCommit(sequence: end.sequence)).commits
      let old = commits.prefix { $0.sequence <= state.base.sequence && isOld($0) }
      if let last = old.last { end = EtcdCommitReference(sequence: last.sequence, token: last.token) }
      if old.count < commits.count || commits.isEmpty { break }
    }
    if end.sequence == state.start.sequence { return 0 }
    let answer = try explaining { () throws(EtcdFailure) in
      try client.change(
        EtcdTransaction(
          compare: [.unchanged(keys.start, since: state.start.revision)],
          success: [
            .put(keys.start, end.value),
            .delete(EtcdRange(from: keys.commits, to: keys.commit(end.sequence + 1))),
          ]))
    }
    return answer.isMet ? Int(end.sequence - state.start.sequence) : 0
  }

  /// Removes parts that belong to no commit, and pieces that belong to no table.
  ///
  /// Forgotten commits leave them, and so do machines that fail in the middle of a commit.
  private func sweep() throws(StoreError) {
    let (base, (_, ranges)) = (
      try base(),
      try look([
        EtcdRange(under: keys.parts).withoutValues, EtcdRange(under: keys.split),
        EtcdRange(under: keys.pieces).withoutValues,
      ])
    )
    let owners = Dictionary(ranges[1].map { ($0.key.suffix(32), $0) }) { $1 }
    func isOld(_ pair: EtcdPair) -> Bool { pair.created.value < base.state.base.revision }
    for token in Set(ranges[0].filter(isOld).compactMap { Self.parent(of: $0, under: keys.parts) }) {
      let owner = owners[Data(token.utf8)]
      let number = owner.flatMap { UInt64($0.text) } ?? 0
      if number <= base.state.start.sequence { try removeParts(token, owner) }
    }
    let used = Set(base.tables.compactMap(\.file?.id))
    let unused = Set(ranges[2].filter(isOld).compactMap { Self.parent(of: $0, under: keys.pieces) })
    for id in unused.subtracting(used) {
      _ = try asking([.delete(EtcdRange(under: keys.pieces(of: id)))])
    }
  }

  /// Removes the parts of a commit, unless the commit was appended after `owner` was read.
  ///
  /// If the commit is appended later, its writer notices that the parts are missing, and writes them again.
  /// - Parameter owner: the key with the number of the commit that the parts belong to; `nil` if there was none.
  func removeParts(_ token: String, _ owner: EtcdPair?) throws(StoreError) {
    let transaction = EtcdTransaction(
      compare: [.unchanged(keys.split(token), since: owner?.modified.value ?? 0)],
      success: [.delete(EtcdRange(under: keys.parts(of: token))), .delete(EtcdRange(keys.split(token)))])
    _ = try explaining { () throws(EtcdFailure) in try client.change(transaction) }
  }

  /// The token or id that a part or a piece belongs to. `nil` for a key of another store, whose prefix may begin with
  /// the same characters.
  private static func parent(of pair: EtcdPair, under start: String) -> String? {
    let words = String(decoding: pair.key, as: UTF8.self).dropFirst(start.count).split(
      separator: "/", omittingEmptySubsequences: false)
    guard words.count == 2, words[1].utf8.count == 16, CommitToken(text: words[0]) != nil else { return nil }
    return String(words[0])
  }

  private struct Compaction: Encodable {
    let revision: EtcdNumber
  }

  /// Tells etcd to drop old values of keys. Otherwise, it keeps all of them.
  ///
  /// A reader that reads at a fixed revision has had the time between two bases to finish. A failure is ignored:
  /// another client of etcd may have compacted further already.
  private func compactHistory(before old: EtcdState) {
    let compaction = Compaction(revision: EtcdNumber(old.base.revision))
    let _: EtcdNothing? = try? client.ask("/v3/kv/compaction", compaction)
  }
}
