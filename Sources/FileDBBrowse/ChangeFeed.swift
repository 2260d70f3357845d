import Dispatch
import FileDB
import Synchronization

/// Tells the pages about changes in the store, whichever program makes them.
final class ChangeFeed: Sendable {
  private let site: Site
  private let streams: EventStreams
  private let thread = OwnThread("FileDBBrowse.ChangeFeed")
  /// `nil` after it was stopped.
  private let tasks = Mutex<[Task<Void, Never>]?>([])
  private let toldState = Mutex<[UInt8]>([])

  init(of site: Site, to streams: EventStreams) { (self.site, self.streams) = (site, streams) }

  /// Reads the tables, and then follows their changes.
  ///
  /// All of this happens on a thread of its own. Reading large tables takes seconds, and the threads of Swift's tasks
  /// may all be busy.
  func start() {
    thread.queue.async { [self] in
      site.tables.readAll { tellTables() }
      follow()
    }
  }

  func stop() {
    let running = tasks.withLock { tasks in
      defer { tasks = nil }
      return tasks
    }
    for task in running ?? [] { task.cancel() }
  }

  private func follow() {
    toldState.withLock { $0 = site.sharedState.bytes }
    // From here on, nothing is missed, even if the tasks start later.
    let (changes, errors) = (site.store.changes(), site.store.observationErrors())
    let copies = site.store.newConflictCopies()
    tasks.withLock { tasks in
      guard tasks != nil else { return }
      tasks = [
        Task(executorPreference: thread) { [self] in for await change in changes { tell(change) } },
        // When a table breaks or is repaired, its records do not change, so this is needed, too.
        Task(executorPreference: thread) { [self] in for await _ in errors { tellTables() } },
        Task(executorPreference: thread) { [self] in for await _ in copies { tellTables() } },
      ]
    }
    tellVersions()
    streams.begin()
  }

  /// Pages may have asked for a table before this followed its changes. They compare the version and read the table
  /// again.
  private func tellVersions() {
    for (name, table) in site.tables.seen { tell(name, table, ids: .array([]), .here) }
  }

  private func tell(_ change: StoreChange) {
    for name in change.tables {
      guard let change = change.change(of: .records(name)) else { continue }
      let origin = site.ownWrites.take(change, of: name)
      guard streams.areWatched, let table = try? site.tables[name] else { continue }
      tell(name, table, ids: ids(of: change.steps), origin)
    }
    tellTables()
  }

  private func tell(_ name: String, _ table: WatchedTable, ids: JSON, _ origin: OwnWrites.Origin) {
    streams.send(
      "change",
      .object([
        ("table", .string(name)), ("version", .string(table.version)),
        ("count", .number(table.snapshot.count)),
        ("ids", ids), ("origin", .string(origin.rawValue)),
      ]))
  }

  private func tellTables() {
    guard streams.areWatched, let overview = try? site.overview() else { return }
    streams.send("tables", .object(overview))
  }

  /// Tells whether edited files wait. While the server of a shared store cannot be reached, an edit is no change.
  func tellSharedState() {
    thread.queue.async { [self] in
      guard streams.areWatched else { return }
      let state = site.sharedState.bytes
      let isNew = toldState.withLock { told in
        defer { told = state }
        return told != state
      }
      if isNew { tellTables() }
    }
  }

  /// The ids of the changed records; `null` if there are too many.
  private func ids(of steps: ListSteps) -> JSON {
    // A record may be both moved and updated.
    guard steps.insertions.count + steps.moves.count + steps.updates.count <= 1_000 else { return .null }
    let ids = Set(steps.insertions.map(\.id) + (steps.moves + steps.updates).map(\.id))
    return ids.count <= 500 ? JSON(ids: ids.sorted()) : .null
  }
}

/// Runs tasks one after another, on a thread that no other tasks use.
private final class OwnThread: TaskExecutor {
  let queue: DispatchQueue

  init(_ name: String) { queue = DispatchQueue(label: name) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
