import FileDB
import FileDBEssentials
import FileDBTables

extension EtcdLog {
  /// The number of commits, and of parts, in one request.
  private static let batch = (commits: UInt64(512), parts: 8)
  /// If the base includes more commits than this, a new folder starts from the base. Otherwise it reads the commits.
  private static let fewCommits: UInt64 = 256

  /// A batch of commits that follow a known one.
  struct News {
    let state: EtcdState
    let commits: [EtcdCommit]
    /// Why this is not the log that the reader has followed so far. `nil` if it is.
    let difference: String?
  }

  // MARK: Looking

  /// Reads the state of the log and other ranges, all at the same revision.
  func look(_ ranges: [EtcdRange] = []) throws(StoreError) -> (
    state: EtcdState, ranges: [[EtcdPair]]
  ) {
    let own = [keys.head, keys.start, keys.base].map { EtcdRange($0) }
    let answer = try asking((own + ranges).map { .get($0) })
    let pairs = answer.ranges.prefix(own.count).compactMap(\.first)
    guard pairs.count == own.count else { throw missing() }
    let references = pairs.compactMap { EtcdCommitReference($0) }
    guard references.count == own.count else {
      throw StoreError(
        .damagedJournal, "etcd's keys under '\(keys.root)' do not tell where the commits begin and end")
    }
    let state = EtcdState(
      head: references[0], start: references[1], base: references[2], revision: answer.revision)
    guard state.isPossible else {
      throw StoreError(
        .damagedJournal,
        "in etcd, the store's commits end with \(state.head.sequence), but its tables are those of commit "
          + "\(state.base.sequence), and commits up to \(state.start.sequence) are forgotten")
    }
    try remember(state)
    return (state, Array(answer.ranges.dropFirst(own.count)))
  }

  /// Remembers the newest state.
  /// - Throws: ``StoreError/Code/conflict`` if etcd was restored from a backup that lacks commits which this process
  ///   has seen.
  private func remember(_ state: EtcdState) throws(StoreError) {
    try seen.withLock { seen throws(StoreError) in
      if let former = seen?.head, former.sequence >= state.head.sequence {
        // This answer was overtaken by a newer one of another thread.
        if former.revision > state.revision { return }
        guard former.sequence == state.head.sequence, former.token == state.head.token else {
          // Another folder may follow the restored log.
          seen = state
          throw .putBack(
            "it ends with commit \(state.head.sequence), but it had commit \(former.sequence) before"
          )
        }
      }
      seen = state
    }
  }

  /// Remembers a commit of this process.
  func remember(_ head: EtcdCommitReference) {
    seen.withLock { seen in
      guard let former = seen, former.head.revision < head.revision else { return }
      seen = EtcdState(head: head, start: former.start, base: former.base, revision: head.revision)
    }
  }

  func read(after last: FollowedCommit) throws(StoreError) -> News {
    let next = last.sequence + 1
    // A range without an end, but with a limit, would cost more the more commits there are: etcd 3.4 looks up all keys
    // of a range before it applies the limit (etcd issue 11057).
    var ranges = [EtcdRange(from: keys.commit(next), to: keys.commit(next + Self.batch.commits))]
    if let known = last.known { ranges.append(EtcdRange(keys.commit(known.sequence))) }
    let (state, found) = try look(ranges)
    let commits = try commits(found[0], after: last.sequence, state)
    let known = found.count > 1 ? found[1].first.flatMap { EtcdCommit($0)?.token } : nil
    return News(state: state, commits: commits, difference: difference(state, from: last, known))
  }

  /// The commits after `last`; none if some of them are forgotten.
  private func commits(
    _ pairs: [EtcdPair], after last: UInt64, _ state: EtcdState
  ) throws(StoreError) -> [EtcdCommit] {
    guard (state.start.sequence..<state.head.sequence).contains(last) else { return [] }
    let commits = try pairs.map { pair throws(StoreError) in try commit(pair) }
    let expected = (last + 1)...min(last + Self.batch.commits, state.head.sequence)
    guard commits.map(\.sequence).elementsEqual(expected) else {
      let present = Set(commits.map(\.sequence))
      let missing = expected.first { !present.contains($0) }
      throw StoreError(
        .damagedJournal,
        missing.map { "etcd lacks commit \($0)" } ?? "etcd's commits after \(last) are not in their order")
    }
    return commits
  }

  private func difference(
    _ state: EtcdState, from last: FollowedCommit, _ token: CommitToken?
  ) -> String? {
    if last.sequence > state.head.sequence {
      return
        "it ends with commit \(state.head.sequence), but it had commit \(last.sequence) before"
    }
    guard let known = last.known, known.sequence >= state.start.sequence else { return nil }
    let present = known.sequence == state.start.sequence ? state.start.token : token
    return present == known.token
      ? nil : "its commit \(known.sequence) is not the one that it had before"
  }

  private func commit(_ pair: EtcdPair) throws(StoreError) -> EtcdCommit {
    guard let commit = EtcdCommit(pair) else {
      throw StoreError(
        .damagedJournal, "etcd's key '\(String(decoding: pair.key, as: UTF8.self))' does not contain a commit"
      )
    }
    return commit
  }

  // MARK: Commits

  /// The decoded commits of a batch.
  /// - Parameter base: the value that ``begin(_:)`` returns for the log now.
  func commits(_ news: News, base: UInt64 = 0) throws(StoreError) -> [LoggedCommit] {
    try news.commits.map { commit throws(StoreError) in
      let payload =
        switch commit.content {
        case .whole(let payload): payload
        case .parts(let count):
          try bytes(under: keys.parts(of: commit.token.text), count: count, as: news.state.revision)
        }
      return try LoggedCommit(
        payload: payload, sequence: commit.sequence, depth: limits.depth, lineage: Int(base))
    }
  }

  /// Joins the bytes of several values.
  func bytes(under key: String, count: Int, as revision: Int64) throws(StoreError) -> [UInt8] {
    var (bytes, next): ([UInt8], Int) = ([], 0)
    while bytes.count < count {
      let range = EtcdRange(
        from: EtcdKeys.number(next, under: key), to: key.dropLast() + "0", limit: Self.batch.parts,
        revision: revision)
      let pairs = try asking([.get(range)]).ranges[0]
      guard pairs.contains(where: { !$0.value.isEmpty }) else { break }
      for pair in pairs { bytes += pair.value }
      next += pairs.count
    }
    guard bytes.count == count else {
      throw StoreError(.damagedJournal, "etcd lacks some of the values under '\(key)'")
    }
    return bytes
  }

  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    var (all, last): ([LoggedCommit], UInt64) = ([], sequence)
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      if let what = news.difference { throw .putBack(what) }
      let begin = begin(news.state)
      guard last >= begin else { return .forgotten(upTo: begin) }
      all += try commits(news, base: begin)
      last = all.last?.sequence ?? last
      if news.commits.isEmpty || last == news.state.head.sequence { return .commits(all) }
    }
  }

  package func news(after last: FollowedCommit) throws(StoreError) -> SharedNews {
    let next = nextBatch(after: last.sequence)
    let news = try read(after: last)
    if let what = news.difference { throw .putBack(what) }
    let state = news.state
    let isNew = last.sequence == 0 && state.base.sequence > Self.fewCommits
    if isNew || last.sequence < state.start.sequence { return .startOver }
    var (commits, head) = (try commits(news), state.head.sequence)
    // If the other read failed, the next call reads the same commits.
    if let next = try? next?.get(), let same = next.news.commits.first,
      same.sequence == news.commits.last?.sequence, same.token == news.commits.last?.token
    {
      commits += next.commits.dropFirst()
      head = next.news.state.head.sequence
    }
    return commits.isEmpty || commits.last?.sequence == head ? .commits(commits) : .more(commits)
  }

  /// Reads the batch after the next one in another thread, if there is one: etcd answers two requests at the same time
  /// almost as fast as one.
  ///
  /// It begins with the last commit of the batch before it. If that is another commit, etcd was restored between the
  /// two requests.
  private func nextBatch(after last: UInt64) -> PendingRead<(news: News, commits: [LoggedCommit])>? {
    let end = last + Self.batch.commits
    guard let head = seen.withLock({ $0 })?.head.sequence, head > end else { return nil }
    return PendingRead { [self] () throws(StoreError) in
      let news = try read(after: FollowedCommit(sequence: end - 1))
      return (news, try commits(news))
    }
  }

  /// The last commit that readers of single tables do not get.
  ///
  /// It stays the same while the log keeps the commits after it. So if a new base only rewrites tables, nobody has to
  /// read them again.
  func begin(_ state: EtcdState) -> UInt64 {
    floor.withLock { floor in
      let begin = max(floor ?? state.base.sequence, state.start.sequence)
      floor = begin
      return begin
    }
  }
}
