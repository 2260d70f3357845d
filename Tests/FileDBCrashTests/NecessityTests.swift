import TestSupport
import Testing

/// The search for bad states must find some in a store that leaves out a single sync, rename or removal: else it would
/// prove nothing about the store that does not.
@Suite struct NecessityTests {
  /// What the store could do without, and why it does it all the same.
  static let redundant: [DurabilitySite: String] = [
    DurabilitySite("commit", .syncFolder, "own folder"): "a .gitignore that is lost is written again"
  ]

  @Test func everyCallIsNeeded() throws {
    let seed = SeededRandom.fromEnvironment("necessity").seed
    var needed: Set<DurabilitySite> = []
    var all: Set<DurabilitySite> = []
    for workload in CrashWorkload.all {
      let sites = try CrashTrial.record(workload).sites
      all.formUnion(sites)
      for site in sites where !needed.contains(site) {
        var trial = CrashTrial(workload, detail: .oneCut, seed: seed)
        do { try trial.run(meddling: .omit(site)) } catch {
          needed.insert(site)
          print(
            "\(site): found in '\(workload.name)' after \(trial.counts.tried) states: \(error)".prefix(300))
        }
      }
    }
    let missed = all.subtracting(needed)
    for site in missed.sorted() { print("NOT FOUND \(site)") }
    #expect(missed == Set(Self.redundant.keys))
  }
}
