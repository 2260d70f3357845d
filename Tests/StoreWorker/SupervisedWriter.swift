import FileDB
import Foundation

/// The ids that the store has given, so that none is given twice.
final class GivenIDs {
  private var owners: [[RecordID<WorkRow>: String]] = workTables.map { _ in [:] }

  func note(_ id: RecordID<WorkRow>, of owner: String, in table: Int) throws {
    let old = owners[table].updateValue(owner, forKey: id)
    try require(
      old == nil || old == owner,
      "\(workTables[table].text): id \(id) was given to \(old ?? "") and to \(owner)")
  }
}

/// A writer that is killed and started again, and all that it was told is done.
final class SupervisedWriter {
  let name: String
  private let folder: URL
  private let scratch: URL
  private let tablesPerCommit: Int
  let given: GivenIDs
  private(set) var child: ChildProcess?
  /// What must be in the store.
  private var model: WriterModel
  /// What may be in the store, whole or not at all.
  private var pending: Commit?

  private(set) var acknowledged = 0
  /// The tables that acknowledged commits have changed since somebody emptied this.
  var changedTables: Set<Int> = []
  /// Kills that hit it between the plan and the acknowledgement, and those of them whose commit is in the store.
  private(set) var cutOff = (all: 0, stored: 0)
  /// Commits that failed and left nothing.
  private(set) var undone = 0

  /// - Parameter sighting: what the store holds of this writer by now.
  init(
    name: String, folder: URL, scratch: URL, tablesPerCommit: Int, given: GivenIDs, sighting: Sighting? = nil
  ) {
    self.name = name
    self.folder = folder
    self.scratch = scratch
    self.tablesPerCommit = tablesPerCommit
    self.given = given
    model = sighting.map { WriterModel(name: name, seenIn: $0) } ?? WriterModel(name: name)
  }

  func start(seed: UInt64, commits: Int? = nil) throws {
    let limit = commits.map { ["--commits", "\($0)"] } ?? []
    try start("writer", seed: seed, options: limit)
  }

  /// Starts a process in another role, which says the same.
  func start(
    _ role: String, seed: UInt64, options: [String], environment: [String: String] = [:]
  ) throws {
    child = try ChildProcess(
      [role, folder.path, name, "\(seed)", "--tables", "\(tablesPerCommit)"] + options,
      environment: environment, scratch: scratch)
  }

  /// Takes in what the process has said since.
  func listen() throws {
    for line in try child?.newLines() ?? [] {
      switch try JSONDecoder().decode(WriterLine.self, from: line) {
      case .plan(let commit):
        try require(
          pending == nil && commit.sequence == model.sequence + 1,
          "\(name) goes on with commit \(commit.sequence), but \(model.sequence) is its last")
        pending = commit
      case .done(let sequence, let ids):
        guard let commit = pending, commit.sequence == sequence else {
          throw Fault("\(name) did commit \(sequence), which it never planned")
        }
        try accept(commit, ids: ids)
        acknowledged += 1
        changedTables.formUnion(commit.changes.map(\.table))
      case .undone(let sequence):
        try require(pending?.sequence == sequence, "\(name) undid commit \(sequence), which it never planned")
        pending = nil
        undone += 1
      case .opened(let sequence): try settle(at: sequence)
      }
    }
  }

  /// Waits until the process has acknowledged this many commits more.
  /// - Throws: ``Fault`` if it ends, or gets nowhere: someone killed must not block it.
  func wait(commits: Int) throws {
    let goal = acknowledged + commits
    while acknowledged < goal {
      let before = acknowledged
      try waitUntil("\(name) acknowledges a commit") {
        try listen()
        if acknowledged == before { try requireRunning() }
        return acknowledged > before
      }
    }
  }

  /// Waits until the process has ended by itself, with no complaint.
  func waitForEnd() throws {
    try waitUntil("\(name) ends") { child?.hasEnded != false }
    try require(child?.status == 0, "\(name) ended with \(child?.complaint ?? "")")
  }

  func requireRunning() throws {
    try requireNotStopped()
    if child?.hasEnded == true { throw Fault("\(name) ended with \(child?.complaint ?? "")") }
  }

  func kill() throws {
    child?.kill()
    try listen()
  }

  /// Compares with what the store holds now that the process is gone.
  /// - Throws: ``Fault`` if an acknowledged commit is missing, or one is there in part.
  func settle(_ sighting: Sighting) throws {
    try settle(at: WriterModel(name: name, seenIn: sighting).sequence)
    try model.compare(with: sighting)
    // The ids of a commit that was cut off are known only now.
    for (table, records) in sighting.records(of: name).enumerated() {
      for seen in records { try note(seen.id, of: seen.row.key, in: table) }
    }
    child?.remove()
    child = nil
  }

  /// Takes a commit that was cut off for done if it is the last one in the store.
  private func settle(at stored: Int) throws {
    if let commit = pending {
      cutOff.all += 1
      if stored == commit.sequence {
        cutOff.stored += 1
        try accept(commit, ids: [])
      }
    }
    pending = nil
    try require(
      stored == model.sequence,
      "\(name) is at commit \(stored) in the store, but \(model.sequence) was acknowledged")
  }

  private func accept(_ commit: Commit, ids: [WriterLine.GivenID]) throws {
    model.apply(commit)
    pending = nil
    for new in ids { try note(new.id, of: new.key, in: new.table) }
  }

  private func note(_ id: RecordID<WorkRow>, of key: Int, in table: Int) throws {
    try given.note(id, of: "\(name)/\(key)", in: table)
    model.set(id, of: key, in: table)
  }
}
