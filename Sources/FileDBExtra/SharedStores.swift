import FileDB
import FileDBCluster
import FileDBCommand
import FileDBEssentials

/// Stores that several machines share.
extension AllExtras {
  func openStore(at address: String, options: StoreOptions) throws -> RecordStore {
    let address = try SharedAddress(address)
    let name = try address.storeName
    let log = try log(at: address, history: .fromNow)
    _ = try log.identity()  // Report a wrong address at once.
    var components = URLComponents()
    (components.scheme, components.path) = (address.engine == .etcd ? "etcd" : "postgres", name)
    guard let url = components.url else {
      throw StoreError(.invalidTableName, "the name '\(name)' of the store cannot be part of an address")
    }
    return RecordStore(at: url, log: log, options: options)
  }

  func openReplica(_ folder: URL, for use: StoreUse) throws -> RecordStore {
    guard let link = try ReplicaLink.read(shown(folder)),
      let address = JoinedStores().address(of: link.identity)
    else {
      throw StoreError(
        .unreachable,
        "this folder follows a shared store that you have not joined on this machine; 'filedb shared join ADDRESS "
          + "DIR' does that. FileDB connects to no address that came with a folder",
        file: folder.path)
    }
    return try replica(folder, of: SharedAddress(address), for: use)
  }

  func catchUpToWrite(_ store: RecordStore) throws { try store.catchUpToWrite() }

  func makeStore(_ name: String, at address: String) throws -> MadeStore {
    let address = try SharedAddress(address).naming(name)
    let log = try log(at: address)
    let made = try log.make()
    return MadeStore(
      hasMadeTables: made.tables, hasMadeStore: made.store, address: try log.address() ?? "")
  }

  func join(_ address: String, _ folder: URL) throws -> FolderProgress {
    let address = try SharedAddress(address)
    let log = try log(at: address)
    try ReplicaLink.check(shown(folder), follows: log)
    if let kept = try log.address() { try JoinedStores().add(kept, of: log.identity()) }
    return try synchronize(replica(folder, of: address, for: .once))
  }

  func synchronize(_ store: RecordStore) throws -> FolderProgress {
    let before = try store.replicaStatus()
    // If one file cannot be read, the others are brought up to date all the same.
    let caughtUp = Result { try store.catchUp() }
    let written = Result { try store.checkpoint() }
    let closed = Result { try store.close() }
    for result in [caughtUp, written, closed] { try result.get() }
    guard let now = try store.replicaStatus() else { return FolderProgress(last: 0, start: nil) }
    return FolderProgress(last: now.last, start: now.start == before?.start ? nil : now.start.map(text))
  }

  func forgetCommits(of store: RecordStore, olderThan age: Duration) throws -> Int {
    try store.sharedLog?.forgetCommits(olderThan: age) ?? 0
  }

  func status(of store: RecordStore) throws -> StoreStatus {
    guard let log = store.sharedLog as? any EngineLog else { return StoreStatus() }
    var status = StoreStatus()
    status.add("store", .string(log.name))
    status.add("address", try log.address().map { .string($0) })
    // Without a connection, the status says so.
    try? store.settleSentCommit()
    let folder = try store.replicaStatus()
    if let folder {
      status.add("identity", try ReplicaLink.read(shown(folder.folder)).map { .string($0.identity) })
    }
    do throws(StoreError) {
      if folder == nil { status.add("identity", .string(try log.identity())) }
      add(try log.status(), to: &status, folder)
    } catch {
      status.failure = error
    }
    if let folder {
      status.add("folder", .string(folder.folder.path))
      status.add("folder_commit", .integer(Int64(folder.last)))
      status.add("started_over", folder.start.map { .string(text($0)) })
      status.add("unknown_commit", folder.sent.map { .string(text($0)) })
    }
    return status
  }

  func settledCommands(of store: RecordStore) -> [String] {
    store.takeSettledCommits().map { settled in
      let name = store.undoLog.name(of: settled.commit.token).map { " (\($0))" } ?? ""
      let command =
        "the command of \(settled.commit.date.ISO8601Format())\(name), whose outcome was not known,"
      return switch settled.outcome {
      case .committed: "\(command) was carried out"
      case .absent: "\(command) was not carried out, and never will be; you can run it again"
      case .unknown:
        "\(command) may have been carried out: the store no longer knows. Look before you run it again"
      }
    }
  }

  private func text(_ commit: SentCommit) -> String {
    "\(commit.token.text) of \(commit.date.ISO8601Format())"
  }

  private func add(_ shared: SharedStatus, to status: inout StoreStatus, _ folder: ReplicaStatus?) {
    status.add("server", .string(shared.server))
    switch shared.servers {
    case .standbys(let isStandby, let all, let synchronous, let lag):
      status.add("standby", .bool(isStandby))
      status.add("standbys", .integer(all))
      status.add("synchronous_standbys", .integer(synchronous))
      status.add("standby_lag_bytes", lag.map { .integer($0) })
    case .members(let count, let leader):
      status.add("members", .integer(count))
      status.add("leader", .string(leader ?? "none"))
    }
    status.add("last_commit", .integer(Int64(shared.head)))
    status.add("committed", shared.committed.map { .string($0.ISO8601Format()) })
    status.add("kept_commits", .integer(Int64(shared.head - shared.start)))
    status.add("commit_bytes", .integer(shared.commitBytes))
    status.add("tables", .integer(shared.tables))
    status.add("records", .integer(shared.records))
    status.add("database_bytes", .integer(shared.databaseBytes))
    status.add("behind", folder.map { .integer(Int64(shared.head) - Int64($0.last)) })
  }

  private func text(_ start: StartOver) -> String {
    "\(start.date.ISO8601Format()): the folder had commit \(start.lastCommitBefore), but the log no longer had the "
      + "commits after it, so all tables were read again, up to commit \(start.commitAfter)"
  }

  private func replica(
    _ folder: URL, of address: SharedAddress, for use: StoreUse
  ) throws -> RecordStore {
    var options = StoreOptions()
    options.lockTimeout = use.options.lockTimeout
    return try RecordStore(
      at: folder, sharedBy: SharedLog(log(at: address)), following: use == .untilEnd ? .always : .whenAsked,
      options: options)
  }

  private func shown(_ folder: URL) throws(StoreError) -> StoreFolder {
    try StoreFolder.find(folder.standardizedFileURL.path)
  }

  /// The log of the store at an address.
  private func log(
    at address: SharedAddress, history: PostgresLog.History = .whole
  ) throws(StoreError) -> any EngineLog {
    let name = try address.storeName
    return switch address.engine {
    case .postgreSQL:
      PostgresLog(address.connection, store: name, timeout: timeout, history: history)
    case .etcd: try EtcdLog(address.connection, store: name, timeout: timeout)
    }
  }

  private var timeout: Duration { StoreUse.timeout }
}
