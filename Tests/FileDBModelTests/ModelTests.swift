import FileDB
import Foundation
import TestSupport
import Testing

private struct Regret: Error {}

@Suite struct ModelTests {
  /// After every verb the table in memory, and the same store opened anew, hold what a plain array holds.
  @Test(arguments: [(StorePlace.memory, 9_000), (.disk, 1_000)])
  func verbsAgreeWithAPlainArray(place: StorePlace, count: Int) throws {
    var run = RandomVerbs(random: .fromEnvironment("verbs in \(place)"), tables: ["t"], size: 12)
    try withStore(place) { store in
      for verb in 0..<count {
        try store.write { tx in try run.step(&tx) }
        do {
          try run.compare(with: store)
          try run.compare(with: RecordStore(at: store.url, disk: store.disk, options: store.options))
        } catch {
          Issue.record("verb \(verb), seed \(run.random.seed): \(error)")
          return
        }
      }
    }
  }

  /// Transactions of several verbs over three tables, a third of which are given up at the end.
  @Test func transactionsAgreeWithPlainArrays() throws {
    var run = RandomVerbs(random: .fromEnvironment("transactions"), tables: ["a", "b", "c"], size: 20)
    try withStore { store in
      for turn in 0..<400 {
        let before = run.plain
        do {
          try store.write { tx in
            for _ in 0..<Int.random(in: 1...12, using: &run.random) { try run.step(&tx) }
            if turn % 3 == 0 { throw Regret() }
          }
        } catch is Regret {
          run.plain = before
        }
        do {
          try run.compare(with: store)
          try run.compare(with: RecordStore(at: store.url, disk: store.disk, options: store.options))
        } catch {
          Issue.record("transaction \(turn), seed \(run.random.seed): \(error)")
          return
        }
      }
    }
  }
}
