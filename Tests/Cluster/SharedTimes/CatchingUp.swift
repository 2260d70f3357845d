import FileDB
import FileDBCluster
import Foundation

/// A machine that was away for many commits. Each of them replaces a record.
struct CatchingUp {
  private let engine: Engine
  private let folder: URL
  private let count: Int

  init(_ engine: Engine, _ folder: URL, _ count: Int) {
    (self.engine, self.folder, self.count) = (engine, folder, count)
  }

  func measure() throws {
    let store = try engine.machine("catching up", in: folder, .whenAsked)
    let table = try store.table("t")
    let ids = try store.write { tx in
      try (0..<100).map { try tx["t"].add(SharedTimes.fields($0)) }
    }
    let away = try (0..<SharedTimes.rounds).map { _ in
      try engine.machine("catching up", in: folder, .whenAsked)
    }
    for number in 0..<count { try table.set(SharedTimes.fields(number), of: ids[number % ids.count]) }
    let log = try engine.log("catching up").log
    var (ours, read): ([Double], [Double]) = ([], [])
    for machine in away {
      read.append(rate(try SharedTimes.milliseconds { try readLog(log) }))
      ours.append(rate(try SharedTimes.milliseconds { try machine.catchUp() }))
      guard try machine.table("t").snapshot()[id: ids[0]] == table.snapshot()[id: ids[0]] else {
        throw StoreError(.invalidValue, "the machine has not caught up")
      }
    }
    SharedTimes.tell(
      "catching up over \(count) commits", "commits/s", ours, beside: "reading and decoding them", read)
    if engine.kind == .postgres {
      let bare = try BarePostgres(engine.connection)
      let plain = try (0..<SharedTimes.rounds).map { _ in
        rate(try SharedTimes.milliseconds { try readPayloads(bare) })
      }
      SharedTimes.tell("the same", "commits/s", ours, beside: "a plain `SELECT` of them", plain)
    }
  }

  private func rate(_ milliseconds: Double) -> Double { Double(count) / milliseconds * 1_000 }

  private func readLog(_ log: any SharedCommitLog) throws {
    var last = FollowedCommit(sequence: 1)
    while case .more(let commits) = try log.news(after: last) {
      last = FollowedCommit(sequence: commits.last?.sequence ?? last.sequence)
    }
  }

  private func readPayloads(_ bare: BarePostgres) throws {
    var last = 1
    while case let payloads = try bare.payloads(after: last, of: "catching up"), !payloads.isEmpty {
      last += payloads.count
    }
  }
}

/// Reading on a machine that shares its store, and in a plain folder with the same tables.
struct LocalReads {
  private static let count = 10_000
  private let engine: Engine
  private let folder: URL

  init(_ engine: Engine, _ folder: URL) { (self.engine, self.folder) = (engine, folder) }

  func measure() throws {
    let shared = try engine.machine("local reads", in: folder)
    let plain = try RecordStore(at: folder.appendingPathComponent("plain"))
    let ids = try fill(shared)
    _ = try fill(plain)
    let stores = [shared, plain]
    var (snapshots, records, all): ([[Double]], [[Double]], [[Double]]) = ([[], []], [[], []], [[], []])
    for _ in 0..<SharedTimes.rounds {
      for (index, store) in stores.enumerated() {
        let table = try store.table("t")
        let snapshot = try table.snapshot()
        snapshots[index].append(
          try SharedTimes.milliseconds { for _ in 0..<Self.count { _ = try table.snapshot() } } / 10)
        records[index].append(
          SharedTimes.milliseconds { for id in ids { _ = snapshot[id: id]?.fields["number"] } } / 10)
        all[index].append(SharedTimes.milliseconds { for record in snapshot { _ = record.fields["number"] } })
      }
    }
    func tell(_ what: String, _ unit: String, _ times: [[Double]]) {
      SharedTimes.tell(what, unit, times[0], beside: "a plain folder", times[1])
    }
    tell("a new snapshot", "µs", snapshots)
    tell("a field of a record by id", "µs", records)
    tell("a field of each of \(Self.count) records", "ms", all)
    try shared.close()
    try plain.close()
  }

  private func fill(_ store: RecordStore) throws -> [RecordID<Fields>] {
    try store.write { tx in
      try (0..<Self.count).map { try tx["t"].add(SharedTimes.fields($0)) }
    }
  }
}
