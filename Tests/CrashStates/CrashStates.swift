import Foundation
import TestSupport

/// Cuts the power in each workload, and then in random ones, until enough different states of the disk were tried.
@main
enum CrashStates {
  static func main() throws {
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--trace" {
      return try TracedRun.run(in: CommandLine.arguments[2])
    }
    var arguments = CommandLine.arguments.dropFirst()
    var seed = UInt64.random(in: 0 ... .max)
    var states = 1_000_000
    let all =
      CrashWorkload.all + CrashWorkload.waiting + CrashWorkload.ruled + CrashWorkload.undo
      + CrashWorkload.edited
      + CrashWorkload.editedAmongCommits
      + CrashWorkload.installations
    var workloads = all
    while let argument = arguments.popFirst() {
      if argument == "--seed", let value = arguments.popFirst().flatMap(UInt64.init) {
        seed = value
      } else if argument == "--workload", let name = arguments.popFirst() {
        workloads = all.filter { $0.name == name }
      } else if let value = Int(argument), value > 0 {
        states = value
      } else {
        report("usage: CrashStates [STATES] [--seed NUMBER] [--workload NAME]")
        exit(2)
      }
    }
    report("seed \(seed)")
    do {
      let counts = try run(workloads, states: states, seed: seed)
      report("all: \(counts)")
    } catch {
      report("VIOLATION: \(error)")
      report("again: Tests/crash \(states) --seed \(seed)")
      exit(1)
    }
  }

  private static func run(_ workloads: [CrashWorkload], states: Int, seed: UInt64) throws -> CrashCounts {
    var random = SeededRandom(seed: seed)
    var fixed = workloads[...]
    var sum = CrashCounts()
    var digests: Set<Int> = []
    while !fixed.isEmpty || digests.count < states {
      let workload = fixed.popFirst() ?? .random(seed: random.next(), tables: CrashWorkload.randomTables)
      let start = ContinuousClock.now
      var counts = CrashCounts()
      for (meddling, detail) in try trials(of: workload) {
        var trial = CrashTrial(workload, detail: detail, seed: random.next())
        do { try trial.run(meddling: meddling) } catch {
          throw CrashViolation(description: "\(meddling): \(error)")
        }
        counts += trial.counts
        digests.formUnion(trial.digests)
      }
      sum += counts
      let time = (ContinuousClock.now - start).formatted(
        .units(allowed: [.seconds], fractionalPart: .show(length: 1)))
      report("\(workload.name): \(counts), \(time)")
    }
    sum.distinct = digests.count  // Two workloads may begin alike.
    return sum
  }

  /// Where it fails, the bytes may be gone, and no later sync tells: only the editor can save them again.
  private static let syncOfAnEditorsFile = DurabilitySite(.syncData, "table", after: "nothing new")

  /// A workload as it is, with a kill after each operation, and with each sync failing once.
  private static func trials(
    of workload: CrashWorkload
  ) throws -> [(RecordingDisk.Meddling, CrashDetail)] {
    var meddlings = [RecordingDisk.Meddling()]
    let record = try CrashTrial.record(workload)
    if workload.conflicts == nil {
      meddlings += (1...record.events.count).map { RecordingDisk.Meddling(killedAfter: $0) }
    }
    // A commit whose sync failed may be lost, and the save that follows it be there.
    if !workload.savesAmongCommits {
      meddlings += record.sites.sorted().filter { $0.call.isSync && $0 != Self.syncOfAnEditorsFile }
        .map { RecordingDisk.Meddling(failed: $0) }
    }
    return meddlings.enumerated().map { index, meddling in
      (meddling, workload.usesUndoLog ? .fewNames : index == 0 ? .full : .oneCut)
    }
  }
}

/// Prints a line at once, so that a long run shows how far it is, to a file too.
private func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
