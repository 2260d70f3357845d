import Foundation
import Synchronization

/// An editor's table and the ids in it: makes edits for it, times them, checks them, and brings the table back to its
/// size, so that each run meets the same.
final class EditedTable {
  private let editor: any Editor
  private var ids: [Int]
  private var numbers = SplitMix(state: 1)
  /// Entries to add, told apart from the sample's.
  private let fresh = Sample.entries(1_000, seed: 99)

  private static let commits = 200
  private static let commitSeconds = 1.0
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

  func run(_ kind: EditKind, _ mode: EditMode) -> Run? {
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

  private func makeEdits(_ kind: EditKind, _ count: Int) -> [Edit] {
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

extension EditedTable {
  /// Many threads that add records at once, each with a commit for each; the time is that of a commit of all together.
  func runWriters() -> Run? {
    guard let editor = editor as? any SharedEditor else { return nil }
    return { [self] in
      let added = Mutex<[Int]>([])
      let failure = Mutex<(any Error)?>(nil)
      let edits = makeEdits(.bottom, min(EditedTable.commits / 2, ids.count))
      let whole = try seconds(
        of: {
          EditedTable.onThreads(Workload.writerCount) {
            do {
              let log = EditLog(limit: EditedTable.commitSeconds)
              try editor.commit(edits, log)
              added.withLock { $0 += log.ids }
            } catch { failure.withLock { $0 = error } }
          }
        },
        check: { if let error = failure.withLock({ $0 }) { throw error } })
      let new = added.withLock { $0 }
      try expect(Set(new).count == new.count, "ids given twice")
      try expect(try editor.count() == ids.count + new.count, "the number of records")
      try editor.transact(new.map { .delete($0) }, EditLog(limit: .infinity))
      try editor.settle()
      return whole / Double(new.count)
    }
  }

  /// Threads of its own: the system's pool has no more than there are cores.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      Thread {
        body()
        group.leave()
      }.start()
    }
    group.wait()
  }
}
