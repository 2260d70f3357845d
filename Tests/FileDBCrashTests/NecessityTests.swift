import TestSupport
import Testing

/// The search for bad states must find some in a store that leaves out a single sync, rename or removal: else it would
/// prove nothing about the store that does not.
@Suite struct NecessityTests {
  /// What no commit depends on, and why it is done all the same.
  static let redundant: [DurabilitySite: String] = [:]

  @Test func everyCallIsNeeded() throws {
    let seed = SeededRandom.fromEnvironment("necessity").seed
    var needed: Set<DurabilitySite> = []
    var all: Set<DurabilitySite> = []
    for workload in CrashWorkload.all {
      let record = try CrashTrial.record(workload)
      all.formUnion(record.sites)
      for site in record.sites.sorted() where !needed.contains(site) {
        // Some calls are there for what a process leaves that dies.
        let meddlings =
          [RecordingDisk.Meddling(omitted: site)]
          + (1...record.events.count).map { RecordingDisk.Meddling(omitted: site, killedAfter: $0) }
        for meddling in site.cause == "nothing new" ? meddlings : [meddlings[0]] {
          var trial = CrashTrial(workload, detail: .oneCut, seed: seed)
          do { try trial.run(meddling: meddling) } catch {
            needed.insert(site)
            print("\(workload.name), \(meddling): found after \(trial.counts.tried) states")
            break
          }
        }
      }
    }
    let missed = all.subtracting(needed)
    for site in missed.sorted() { print("no bad state found without the \(site)") }
    #expect(missed == Set(Self.redundant.keys))
  }
}
