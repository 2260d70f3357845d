import Foundation

/// A line of the table of figures to reach, in the project's design.
struct Figure {
  typealias Reached = (text: String, isEnough: Bool)

  /// What the figure is about, and what is to be reached.
  let what: String
  /// The size it is for.
  let records: Int
  /// What was reached at a size, in words, and whether it is enough; `nil` if the run did not measure it.
  let reached: (Results, Int) -> Reached?

  static var all: [Figure] { processes + commits + reads + files + memory }
}

/// Whole processes of `filedb`.
extension Figure {
  private static var processes: [Figure] {
    [
      Figure(what: "filedb --version: 2 ms", records: 10_000) { results, records in
        results.median(.start, FileDBPeer.self, at: records).map { (duration($0), $0 <= 2e-3) }
      },
      Figure(
        what: "filedb get, count, show --limit 20: the program's start and 2× sqlite3's time",
        records: 1_000_000,
        reached: readingCommands),
      Figure(
        what: "filedb get, count, show --limit 20: within 2× from 10,000 to 1,000,000", records: 1_000_000,
        reached: growthOfCommands),
      Figure(
        what: "filedb add, set, move: 5 syncs at most", records: 10_000,
        reached: { results, records in
          mostCalls(results, records, \.syncs).map { ("\($0.count) (\($0.verb))", $0.count <= 5) }
        }),
      Figure(
        what: "filedb add, set, move: no rewrite of a file above 16 MB", records: 100_000, reached: rewrite),
      Figure(
        what: "filedb add, set, move: 3× sqlite3's time, and a bare write of the file", records: 10_000,
        reached: writingCommands),
      Figure(
        what: "filedb add, set, move: 3× sqlite3's time", records: 1_000_000, reached: writingCommands),
    ]
  }

  /// How many times as long as sqlite3's the time without the start is, at most.
  private static func readingCommands(_ results: Results, _ records: Int) -> Reached? {
    guard let size = results.sizes(.start).first,
      let start = results.median(.start, FileDBPeer.self, at: size)
    else { return nil }
    return most(CommandVerb.reading, records, results) { $0 - start }.map {
      ("\(ratio($0.ratio)) beside the start (\($0.verb))", $0.ratio <= 2)
    }
  }

  private static func writingCommands(_ results: Results, _ records: Int) -> Reached? {
    guard let bytes = results.fileBytes[records] else { return nil }
    let isRewritten = bytes < 16 << 20
    let write = isRewritten ? results.median(.checkpoint, BareWritePeer.self, at: records) : 0
    guard let write else { return nil }
    return most(CommandVerb.writing, records, results) { $0 - write }.map {
      ("\(ratio($0.ratio))\(isRewritten ? " beside that write" : "") (\($0.verb))", $0.ratio <= 3)
    }
  }

  /// The most times as long as sqlite3 that `filedb` takes, after what does not count was taken off.
  private static func most(
    _ verbs: [CommandVerb], _ records: Int, _ results: Results, counting: (Double) -> Double
  ) -> (verb: CommandVerb, ratio: Double)? {
    verbs.compactMap { verb -> (verb: CommandVerb, ratio: Double)? in
      guard let ours = results.median(.command(verb), FileDBPeer.self, at: records),
        let theirs = results.median(.command(verb), SQLiteCommandPeer.self, at: records)
      else { return nil }
      return (verb, max(0, counting(ours)) / theirs)
    }.max { $0.ratio < $1.ratio }
  }

  private static func growthOfCommands(_ results: Results, _ records: Int) -> Reached? {
    let sizes = results.sizes(.command(.get)).filter { $0 >= 10_000 && $0 <= records }
    guard sizes.count > 1 else { return nil }
    return CommandVerb.reading.compactMap { verb -> (verb: CommandVerb, growth: Double)? in
      let times = sizes.compactMap { results.median(.command(verb), FileDBPeer.self, at: $0) }
      guard let least = times.min(), let most = times.max() else { return nil }
      return (verb, most / least)
    }.max { $0.growth < $1.growth }.map {
      ("\(ratio($0.growth)) (\($0.verb)) from \(grouped(sizes[0])) on", $0.growth <= 2)
    }
  }

  private static func mostCalls(
    _ results: Results, _ records: Int, _ count: (SystemCalls) -> Int
  ) -> (verb: CommandVerb, count: Int)? {
    results.calls.filter {
      $0.peer == FileDBPeer.name && $0.records == records && CommandVerb.writing.contains($0.verb)
    }.map { (verb: $0.verb, count: count($0.calls)) }.max { $0.count < $1.count }
  }

  private static func rewrite(_ results: Results, _ records: Int) -> Reached? {
    guard let bytes = results.fileBytes[records], bytes >= 16 << 20,
      let written = mostCalls(results, records, \.bytesWritten)
    else { return nil }
    return ("\(grouped(written.count)) bytes written (\(written.verb))", written.count < bytes)
  }
}

/// Commits.
extension Figure {
  private static var commits: [Figure] {
    [
      Figure(
        what: "one durable commit: 1.3× a bare write and fdatasync of the same bytes", records: 100_000,
        reached: commit),
      Figure(what: "the same without the sync: 12 µs of CPU", records: 100_000) { results, records in
        results.median(.processorTime, FileDBPeer.self, at: records).map { (duration($0), $0 <= 12e-6) }
      },
      together("eight writers, the rate of one: 3×", .edit(.bottom, .commit), .writers, 3),
      together("64 tasks in await write, the rate of one: 3×", .edit(.bottom, .commit), .tasks, 3),
      together("eight writers, \(SlowDisk.title): 6×", .slow(.one), .slow(.writers), 6),
      together("64 tasks in await write, \(SlowDisk.title): 6×", .slow(.one), .slow(.tasks), 6),
    ]
  }

  /// The kind of commit that takes most beside the bare write, with what others take for it.
  private static func commit(_ results: Results, _ records: Int) -> Reached? {
    func share(_ kind: EditKind, _ peer: any Peer.Type) -> Double? {
      guard let time = results.median(.edit(kind, .commit), peer, at: records),
        let bare = results.median(.edit(kind, .commit), BareWritePeer.self, at: records)
      else { return nil }
      return time / bare
    }
    let shares = EditKind.allCases.compactMap { kind in share(kind, FileDBPeer.self).map { (kind, $0) } }
    guard let (kind, most) = shares.max(by: { $0.1 < $1.1 }) else { return nil }
    let others: [any Peer.Type] = [SQLitePeer.self, LMDBPeer.self, GRDBPeer.self]
    let beside = others.compactMap { peer in share(kind, peer).map { "\(peer.name) \(ratio($0))" } }
    return ("\(ratio(most)) (\(([kind.title] + beside).joined(separator: "; ")))", most <= 1.3)
  }

  /// How many times the rate of one it is when many commit.
  private static func together(_ what: String, _ one: Workload, _ many: Workload, _ target: Double) -> Figure
  {
    func gain(_ peer: any Peer.Type, _ results: Results, _ records: Int) -> Double? {
      guard let alone = results.median(one, peer, at: records),
        let each = results.median(many, peer, at: records)
      else { return nil }
      return alone / each
    }
    return Figure(what: what, records: 100_000) { results, records in
      gain(FileDBPeer.self, results, records).map { ours in
        let theirs = gain(GRDBPeer.self, results, records).map { " (GRDB's own: \(ratio($0)))" } ?? ""
        return (ratio(ours) + theirs, ours >= target)
      }
    }
  }
}

/// Reading.
extension Figure {
  private static var reads: [Figure] {
    [
      Figure(
        what: "opening a table that is scanned: 0.4× memchr's rate, each core counted", records: 100_000,
        reached: shareOfMemchr),
      faster("all records, typed, in order, from open: 3× GRDB", .rows, GRDBPeer.self, 3),
      faster("a predicate, first time: as fast as SQLite's scan", .predicate, SQLitePeer.self, 1),
      faster("a predicate, again: 5× SQLite's scan", .predicateAgain, SQLitePeer.self, 5),
      faster("a closure: at least half as fast as SQLite's scan", .filter, SQLitePeer.self, 0.5),
      faster("all records in the order of two keys, a view: 2× GRDB", .sortedView, GRDBPeer.self, 2),
    ]
  }

  private static func faster(
    _ what: String, _ workload: Workload, _ peer: any Peer.Type, _ target: Double
  ) -> Figure {
    Figure(what: what, records: 100_000) { results, records in
      results.ratio(workload, peer, at: records).map { (ratio($0), $0 >= target) }
    }
  }

  private static func shareOfMemchr(_ results: Results, _ records: Int) -> Reached? {
    results.ratio(.open, MemchrPeer.self, at: records).map { ratioOfTimes in
      let share = ratioOfTimes / Double(ProcessInfo.processInfo.activeProcessorCount)
      return (ratio(share), share >= 0.4)
    }
  }
}

/// In and out.
extension Figure {
  private static var files: [Figure] {
    [
      Figure(
        what: "import of CSV, whole process: at most 1.5× sqlite3's time", records: 100_000,
        reached: { results, records in
          slower(results, .csv(.import), SQLiteCommandPeer.self, records, most: 1.5)
        }),
      Figure(
        what: "import of CSV, whole process: faster than Miller", records: 100_000,
        reached: { results, records in slower(results, .csv(.import), MillerPeer.self, records, most: 1) }),
      Figure(
        what: "filedb batch of 10,000 adds: at most 3× the time of filedb import", records: 10_000,
        reached: script),
      Figure(what: "first line of filedb show: 50 ms", records: 1_000_000) { results, records in
        results.median(.firstLine, FileDBPeer.self, at: records).map { (duration($0), $0 <= 0.05) }
      },
    ]
  }

  /// How many times as long as a peer FileDB takes.
  private static func slower(
    _ results: Results, _ workload: Workload, _ peer: any Peer.Type, _ records: Int, most: Double
  ) -> Reached? {
    results.ratio(workload, peer, at: records).map { (ratio(1 / $0), 1 / $0 <= most) }
  }

  /// At a size of which all records are in the script.
  private static func script(_ results: Results, _ records: Int) -> Reached? {
    guard records <= Workload.transactionLength,
      let script = results.median(.script, FileDBPeer.self, at: records),
      let imported = results.median(.csv(.import), FileDBPeer.self, at: records)
    else { return nil }
    return (ratio(script / imported), script <= 3 * imported)
  }
}

/// Memory.
extension Figure {
  private static var memory: [Figure] {
    [
      resident("resident memory, opened and read once: 1.2× the file", .opened, 1.2),
      resident("resident memory, with a lookup: 1.4× the file", .lookup, 1.4),
      Figure(
        what: "resident memory of filedb get and add: 30 MB", records: 1_000_000, reached: commandMemory),
    ]
  }

  private static func resident(_ what: String, _ state: ResidentMemory.State, _ most: Double) -> Figure {
    Figure(what: what, records: 100_000) { results, records in
      results.memory.first { $0.peer == FileDBPeer.name && $0.records == records && $0.state == state }.map {
        (ratio($0.timesTheFile), $0.timesTheFile <= most)
      }
    }
  }

  private static func commandMemory(_ results: Results, _ records: Int) -> Reached? {
    results.commandMemory.filter { $0.peer == FileDBPeer.name && $0.records == records }
      .max { $0.peakBytes < $1.peakBytes }.map {
        ("\(short(Double($0.peakBytes) / 1e6)) MB (\($0.verb))", $0.peakBytes <= 30_000_000)
      }
  }
}

/// Prints what of the figures this run has reached: at their size, else at the largest that was measured.
func printFigures(_ results: Results) {
  print("\n## The figures to reach\n")
  let sizes = Set(results.fileBytes.keys).sorted(by: >)
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
