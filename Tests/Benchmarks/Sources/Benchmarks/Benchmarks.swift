import ArgumentParser
import Foundation

@main
struct Benchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Measures FileDB beside its peers, on the same records, in one run.",
    subcommands: [
      Compare.self, CheckExport.self, MemoryOfOpening.self, CheckpointWaits.self, CheckpointLoop.self, BareLoop.self,
    ], defaultSubcommand: Compare.self)
}

struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print how long FileDB and its peers take, and the ratios.",
    discussion: """
      Workloads: \((Workload.allCases.map(\.name) + ["resident", "calls"]).joined(separator: " "))

      Peers: \(Peers.all.map { $0.name }.joined(separator: "; "))
      """)

  @Option(help: "Numbers of records, with commas between.")
  var sizes = "100,10000,100000"
  @Flag(help: "A table of 1,000,000 records as well. Takes long, and some GB of memory.")
  var million = false
  @Option(help: "The peers, by the beginning of their names. FileDB is always there.")
  var only: String?
  @Option(help: "The workloads, by the beginning of their names.")
  var workloads: String?
  @Option(help: "How often each is run.")
  var runs = Effort().runs
  @Option(help: "Seconds after which one peer's workload is not run once more.")
  var budget = Effort().budget
  @Option(help: "Where to write the chart, an SVG.")
  var chart: String?
  @Option(help: "Where to write all numbers, as JSON.")
  var json: String?

  func run() throws {
    let sizes = try chosenSizes()
    let peers = Peers.all.filter { isChosen($0.name, only) || $0 == FileDBPeer.self }
    let workloads = Workload.allCases.filter { isChosen($0.name, self.workloads) }
    guard !workloads.isEmpty || ["resident", "calls"].contains(where: { isChosen($0, self.workloads) }) else {
      throw ValidationError("No workload begins so.")
    }
    let scratch = Places.package.appendingPathComponent(".build/scratch")
    try? FileManager.default.removeItem(at: scratch)
    defer { try? FileManager.default.removeItem(at: scratch) }

    print(howToRead)
    var results = Results()
    for records in sizes {
      let sample = try Sample.make(in: scratch.appendingPathComponent(String(records)), records: records)
      results.fileBytes[records] = try printSample(sample)
      let instances = peers.map { $0.init(sample) }
      for workload in workloads where !workload.isSizeless || records == sizes.first {
        let measurements = measure(workload, instances, sample, Effort(runs: runs, budget: budget))
        printTable(workload, records, measurements)
        results.measurements += measurements
      }
      if isChosen("resident", self.workloads) {
        let memory = ResidentMemory.compare(instances, sample)
        let ofCommands = ResidentMemory.compareCommands(instances, sample)
        printMemory(memory, ofCommands)
        results.memory += memory
        results.commandMemory += ofCommands
      }
      if isChosen("calls", self.workloads) {
        SystemCalls.compare(instances, sample, &results)
        printCalls(results.calls.filter { $0.records == records })
      }
      try sample.remove()
      // After each size, so that a long run leaves its numbers whatever comes.
      if let json { try results.write(to: json) }
    }
    try report(results, workloads)
  }

  private var howToRead: String {
    """
    Each time is that of one operation: of the median run, of the quickest, of the slowest; then how many times as long \
    as FileDB's. What an operation leaves in memory is let go after the clock has stopped.

    FileDB, GRDB, SQLite by its C interface and sqlite3 (WAL, synchronous=FULL), LMDB and the bare write wait for the \
    disk in each commit. The property list and JSON peers, \
    TinyDB, recutils and wgFileDb do not. recutils and the workloads csv, script, first-line, command and start start a process for each operation; \
    elsewhere Python's start does not count. Miller has no store: its import makes JSON of the CSV. A peer that is not in a table cannot do such a thing.
    """
  }

  private func report(_ results: Results, _ workloads: [Workload]) throws {
    printGrowth(workloads, results)
    printFigures(results)
    if let chart { try Chart(results).svg.write(toFile: chart, atomically: true, encoding: .utf8) }
    if results.hasFailed || results.measurements.contains(where: \.hasFailed) { throw ExitCode.failure }
  }

  private func chosenSizes() throws -> [Int] {
    let sizes = try sizes.split(separator: ",").map { text in
      guard let size = Int(text), size >= 100 else {
        throw ValidationError("--sizes takes numbers from 100 on, with commas between.")
      }
      return size
    }
    return Set(sizes + (million ? [1_000_000] : [])).sorted()
  }

  private func isChosen(_ name: String, _ beginnings: String?) -> Bool {
    beginnings?.split(separator: ",").contains { name.hasPrefix($0) } ?? true
  }
}

/// What ``ResidentMemory`` starts for each peer.
struct MemoryOfOpening: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "memory", shouldDisplay: false)

  @Argument var peer: String
  @Argument var folder: String
  @Argument var records: Int
  @Argument var state: String

  func run() throws {
    guard let peer = Peers.all.first(where: { $0.name == self.peer }) else {
      throw ValidationError("No such peer.")
    }
    let sample = Sample(folder: URL(fileURLWithPath: folder), records: records)
    let instance = peer.init(sample)
    let growth =
      switch ResidentMemory.State(rawValue: state) {
      case .opened: try instance.memoryOfOpening()
      case .lookup: try instance.memoryOfLookup()
      case nil: throw ValidationError("No such state.")
      }
    print(String(decoding: try JSONEncoder().encode(growth), as: UTF8.self))
  }
}
