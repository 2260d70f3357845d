import TestSupport
import Testing

/// The search for bad states must find some in a store that leaves out a single sync, rename or removal: else it would
/// prove nothing about the store that does not.
@Suite struct NecessityTests {
  /// What no commit depends on, and why it is done all the same.
  static let redundant: [DurabilitySite: String] = [
    DurabilitySite(.syncFolder, "own folder", after: "rename of the .gitignore"):
      "a .gitignore that is lost is written again",
    DurabilitySite(.syncFolder, "store's folder", after: "making of the own folder"):
      "the first commit to a table syncs that folder again, and what others made needs it",
    DurabilitySite(.syncData, "journal", after: "writing zeros"):
      "ext4 may return from another process's sync before a new length is durable; no such disk is made here",
    DurabilitySite(.syncData, "table", after: "nothing new"):
      "a file from outside may not be synced; no workload writes one",
  ]

  @Test func everyCallIsNeeded() throws {
    let seed = SeededRandom.fromEnvironment("necessity").seed
    var needed: Set<DurabilitySite> = []
    var all: Set<DurabilitySite> = []
    for workload in CrashWorkload.all {
      let record = try CrashTrial.record(workload)
      all.formUnion(record.sites)
      for site in record.sites.sorted() where !needed.contains(site) {
        for meddling in meddlings(without: site, eventCount: record.events.count) {
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

  /// A call that makes nothing durable of what its own process wrote is there for one that died.
  private func meddlings(without site: DurabilitySite, eventCount: Int) -> [RecordingDisk.Meddling] {
    guard site.cause == "nothing new" else { return [RecordingDisk.Meddling(omitted: site)] }
    return (1...eventCount).map { RecordingDisk.Meddling(omitted: site, killedAfter: $0) }
  }
}
