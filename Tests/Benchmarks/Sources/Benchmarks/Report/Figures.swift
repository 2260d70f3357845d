import Foundation

/// A line of the table of figures to reach, in the project's design.
struct Figure {
  /// What the figure is about, and what is to be reached.
  let what: String
  /// The size it is for.
  let records: Int
  /// What was reached at a size, in words, and whether it is enough; `nil` where the run did not measure it.
  let reached: (Results, Int) -> (text: String, isEnough: Bool)?
}

extension Figure {
  static var all: [Figure] {
    [
      faster("open, count, first record: 4× faster than an empty SAX2 pass", .open, EmptySAXPeer.self, 4),
      faster("open, count, first record: 30× PropertyListDecoder", .open, PropertyListCoderPeer.self, 30),
      Figure(
        what: "open, count, first record: 0.4× memchr's rate, each core counted", records: 100_000,
        reached: shareOfMemchr),
      faster("all rows, typed, in order, from open: 3× GRDB", .rows, GRDBPeer.self, 3),
      faster("a predicate, first time: as fast as SQLite's scan", .predicate, SQLitePeer.self, 1),
      faster("a predicate, again: 5× SQLite's scan", .predicateAgain, SQLitePeer.self, 5),
      faster("a closure: at least half as fast as SQLite's scan", .filter, SQLitePeer.self, 0.5),
      faster("all rows, typed, in the order of two keys: 2× GRDB", .sortedView, GRDBPeer.self, 2),
      faster("write the whole table: 10× PropertyListEncoder", .checkpoint, PropertyListCoderPeer.self, 10),
      faster(
        "write the whole table: 100× PropertyListSerialization", .checkpoint,
        PropertyListSerializationPeer.self,
        100),
      Figure(
        what: "one durable commit: 1.5× GRDB's rate, the least of six verbs", records: 100_000,
        reached: leastCommit),
      Figure(
        what: "one durable commit at 1,000,000: within 1.3× of 100,000, the most of six verbs",
        records: 1_000_000,
        reached: { results, records in mostGrowth(results, .commit, from: 100_000, to: records, most: 1.3) }),
      Figure(what: "eight writers at once: 4× the rate of one", records: 100_000, reached: writersRate),
      faster("one record by id, decoded: 20× GRDB", .record, GRDBPeer.self, 20),
      Figure(
        what: "add on top, move, delete in memory: each under 10 µs", records: 1_000_000,
        reached: slowestInMemory),
      Figure(
        what: "add on top, move, delete in memory: growing slower than √n", records: 1_000_000,
        reached: { results, records in mostGrowth(results, .memory, from: 10_000, to: records, most: 10) }),
      Figure(what: "resident memory, opened: under 1.5× the file", records: 100_000, reached: memory),
      Figure(
        what: "import of CSV, whole process: at most 1.5× sqlite3's time", records: 100_000,
        reached: { results, records in
          slower(results, .csv(.import), SQLiteCommandPeer.self, records, most: 1.5)
        }),
      Figure(
        what: "import of CSV, whole process: faster than Miller", records: 100_000,
        reached: { results, records in slower(results, .csv(.import), MillerPeer.self, records, most: 1) }),
      Figure(
        what: "filedb batch of 10,000 additions: at most 3× the time of filedb import", records: 10_000,
        reached: script),
      Figure(
        what: "first line of filedb show: 50 ms", records: 1_000_000,
        reached: { results, records in
          results.median(.firstLine, FileDBPeer.self, at: records).map { (duration($0), $0 <= 0.05) }
        }),
      Figure(what: "filedb get, whole process: under 3× sqlite3's", records: 10_000, reached: command),
    ]
  }

  private static func faster(
    _ what: String, _ workload: Workload, _ peer: any Peer.Type, _ target: Double
  ) -> Figure {
    Figure(what: what, records: 100_000) { results, records in
      results.ratio(workload, peer, at: records).map { (ratio($0), $0 >= target) }
    }
  }

  private static func kinds(_ mode: EditMode) -> [EditKind] {
    EditKind.allCases.filter { Workload.allCases.contains(.edit($0, mode)) }
  }

  private static func leastCommit(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    kinds(.commit).compactMap { kind in
      results.ratio(.edit(kind, .commit), GRDBPeer.self, at: records).map { (kind, $0) }
    }.min { $0.1 < $1.1 }.map { ("\(ratio($0.1)) (\($0.0.title))", $0.1 >= 1.5) }
  }

  private static func mostGrowth(
    _ results: Results, _ mode: EditMode, from small: Int, to large: Int, most: Double
  ) -> (text: String, isEnough: Bool)? {
    kinds(mode).compactMap { kind -> (EditKind, Double)? in
      guard let before = results.median(.edit(kind, mode), FileDBPeer.self, at: small),
        let after = results.median(.edit(kind, mode), FileDBPeer.self, at: large), small < large
      else { return nil }
      return (kind, after / before)
    }.max { $0.1 < $1.1 }.map {
      ("\(ratio($0.1)) (\($0.0.title)) from \(grouped(small)) to \(grouped(large))", $0.1 <= most)
    }
  }

  private static func shareOfMemchr(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    results.ratio(.open, MemchrPeer.self, at: records).map { ratioOfTimes in
      let share = ratioOfTimes / Double(ProcessInfo.processInfo.activeProcessorCount)
      return (ratio(share), share >= 0.4)
    }
  }

  private static func writersRate(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    func gain(_ peer: any Peer.Type) -> Double? {
      guard let one = results.median(.edit(.bottom, .commit), peer, at: records),
        let many = results.median(.writers, peer, at: records)
      else { return nil }
      return one / many
    }
    return gain(FileDBPeer.self).map { ours in
      (ratio(ours) + (gain(GRDBPeer.self).map { " (GRDB's own: \(ratio($0)))" } ?? ""), ours >= 4)
    }
  }

  private static func slowestInMemory(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    kinds(.memory).compactMap { kind in
      results.median(.edit(kind, .memory), FileDBPeer.self, at: records).map { (kind, $0) }
    }.max { $0.1 < $1.1 }.map { ("\(duration($0.1)) (\($0.0.title))", $0.1 < 10e-6) }
  }

  private static func memory(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    results.memory.first { $0.peer == FileDBPeer.name && $0.records == records }.map {
      (ratio($0.timesTheFile), $0.timesTheFile < 1.5)
    }
  }

  /// How many times as long as a peer FileDB takes.
  private static func slower(
    _ results: Results, _ workload: Workload, _ peer: any Peer.Type, _ records: Int, most: Double
  ) -> (text: String, isEnough: Bool)? {
    results.ratio(workload, peer, at: records).map { (ratio(1 / $0), 1 / $0 <= most) }
  }

  /// At a size of which all records are in the script.
  private static func script(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    guard records <= Workload.transactionLength,
      let script = results.median(.script, FileDBPeer.self, at: records),
      let imported = results.median(.csv(.import), FileDBPeer.self, at: records)
    else { return nil }
    return (ratio(script / imported), script <= 3 * imported)
  }

  private static func command(_ results: Results, _ records: Int) -> (text: String, isEnough: Bool)? {
    results.ratio(.command(.get), SQLiteCommandPeer.self, at: records).map { (ratio(1 / $0), 1 / $0 < 3) }
  }
}

/// Prints what of the figures this run has reached: at their size, else at the largest that was measured.
func printFigures(_ results: Results) {
  print("\n## The figures to reach\n")
  let sizes = Set(results.measurements.map(\.records)).sorted(by: >)
  for figure in Figure.all {
    let size = ([figure.records] + sizes).first { figure.reached(results, $0) != nil }
    guard let size, let (text, isEnough) = figure.reached(results, size) else {
      print("  –    \(figure.what): not measured in this run")
      continue
    }
    let place =
      size == figure.records ? "" : ", at \(grouped(size)) records instead of \(grouped(figure.records))"
    print("  \(isEnough ? "yes" : "no ")  \(figure.what): \(text)\(place)")
  }
}
