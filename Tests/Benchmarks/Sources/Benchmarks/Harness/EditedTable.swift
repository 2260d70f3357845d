/// An editor's table and the ids in it: makes edits for it, times them, checks them, and brings the table back to its
/// size, so that each run meets the same.
final class EditedTable {
  let editor: any Editor
  private(set) var ids: [Int]
  private var numbers = SplitMix(state: 1)
  /// Entries to add, told apart from the sample's.
  private let fresh = Sample.entries(1_000, seed: 99)

  static let commits = 200
  static let commitSeconds = 1.0
  private static let transactionSeconds = 10.0

  /// A store's first commit does what the later ones need not do: it is not timed.
  init(_ editor: any Editor, records: Int) throws {
    self.editor = editor
    ids = Array(1...records)
    if editor is any SharedEditor {
      try editor.commit([.update(records, amount: 0)], EditLog(limit: .infinity))
      try editor.settle()
    }
  }

  /// Its way to do one of the workloads that change a table; `nil` for others, and if the editor cannot.
  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .edit(let kind, let mode): run(kind, mode)
    case .processorTime: runOnProcessor()
    case .writers: runWriters()
    case .tasks: runTasks()
    case .slow(.one): try SlowDisk.running(run(.bottom, .commit))
    case .slow(.writers): try SlowDisk.running(runWriters())
    case .slow(.tasks): try SlowDisk.running(runTasks())
    default: nil
    }
  }

  private func run(_ kind: EditKind, _ mode: EditMode) -> Run? {
    guard mode == .commit || editor.hasTransactions else { return nil }
    return { [self] in
      let most = mode == .commit ? EditedTable.commits : Workload.transactionLength
      let edits = makeEdits(kind, min(most, ids.count))
      let log = EditLog(
        limit: mode == .commit ? EditedTable.commitSeconds : EditedTable.transactionSeconds)
      let whole = try seconds(
        of: { try mode == .commit ? editor.commit(edits, log) : editor.transact(edits, log) }, check: {})
      try check(edits[log.pace.done - 1], id: log.ids[log.pace.done - 1], kind, done: log.pace.done)
      try restore(kind, log)
      return mode == .transaction ? whole / Double(log.pace.done) : log.pace.secondsEach
    }
  }

  /// Adds at the bottom, each with a commit; the time is the processor's, of all threads together.
  private func runOnProcessor() -> Run {
    { [self] in
      let edits = makeEdits(.bottom, min(10 * EditedTable.commits, ids.count))
      let log = EditLog(limit: EditedTable.commitSeconds)
      let spent = try processorSeconds { try editor.commit(edits, log) }
      try check(edits[log.pace.done - 1], id: log.ids[log.pace.done - 1], .bottom, done: log.pace.done)
      try restore(.bottom, log)
      return spent / Double(log.pace.done)
    }
  }

  /// How many bytes this process writes for one edit with its commit, which most of several have.
  func bytesOfCommit(_ kind: EditKind) throws -> Int {
    var bytes: [Int] = []
    for edit in makeEdits(kind, min(21, ids.count)) {
      let log = EditLog(limit: .infinity)
      let before = try WrittenBytes.ofProcess()
      try editor.commit([edit], log)
      bytes.append(try WrittenBytes.ofProcess() - before)
      try restore(kind, log)
    }
    return bytes.sorted()[bytes.count / 2]
  }

  func makeEdits(_ kind: EditKind, _ count: Int) -> [Edit] {
    let chosen = ids.indices.shuffled(using: &numbers).prefix(count)
    return zip(chosen, 0...).map { row, number in
      let entry = fresh[number % fresh.count]
      return switch kind {
      case .top: .add(entry, .top)
      case .bottom: .add(entry, .bottom)
      case .middle: .add(entry, .after(ids[row]))
      case .move: .move(ids[row], after: ids[(row + 1 + number % (ids.count - 1)) % ids.count])
      case .update: .update(ids[row], amount: -1 - number)
      case .delete: .delete(ids[row])
      }
    }
  }

  /// Checks the number of records, and that the last edit is there.
  private func check(_ last: Edit, id: Int, _ kind: EditKind, done: Int) throws {
    let added = kind == .delete ? -done : kind == .move || kind == .update ? 0 : done
    try expect(try editor.count() == ids.count + added, "the number of records")
    switch last {
    case .add(let entry, let place):
      try expect(try editor.entry(id) == entry, "the added record")
      let neighbours = try editor.neighbours(of: id)
      switch place {
      case .top: try expect(neighbours.above == nil, "it is not on top")
      case .bottom: try expect(neighbours.below == nil, "it is not at the bottom")
      case .after(let other): try expect(neighbours.above == other, "the added record's place")
      }
    case .move(_, let other):
      try expect(try editor.neighbours(of: id).above == other, "the moved record's place")
    case .update(_, let amount): try expect(try editor.entry(id)?.amount == amount, "the new amount")
    case .delete: try expect(try editor.entry(id) == nil, "the record is still there")
    }
  }

  private func restore(_ kind: EditKind, _ log: EditLog) throws {
    let back: [Edit] =
      switch kind {
      case .top, .bottom, .middle: log.ids.map { .delete($0) }
      case .delete: log.ids.indices.map { .add(fresh[$0 % fresh.count], .bottom) }
      case .move, .update: []
      }
    let restoring = EditLog(limit: .infinity)
    if !back.isEmpty {
      try editor.hasTransactions ? editor.transact(back, restoring) : editor.commit(back, restoring)
    }
    if kind == .delete {
      let deleted = Set(log.ids)
      ids = ids.filter { !deleted.contains($0) } + restoring.ids
    }
    try editor.settle()
  }
}
