import TestSupport
import Testing

/// What a killed process wrote and did not sync is visible to the next process, but gone after a power cut: the next
/// process must sync it before it builds on it.
@Suite struct KilledProcessTests {
  private static let killsOfAWorkload = 4

  @Test(arguments: CrashWorkload.all + CrashWorkload.installations.suffix(1))
  func storeRecoversFromKillFollowedByPowerCut(workload: CrashWorkload) throws {
    var random = SeededRandom.fromEnvironment("kills in '\(workload.name)'")
    let events = try CrashTrial.record(workload).events
    for kill in (1...events.count).shuffled(using: &random).prefix(Self.killsOfAWorkload).sorted() {
      var trial = CrashTrial(workload, detail: .oneCut, seed: random.seed)
      do { try trial.run(meddling: .init(killedAfter: kill)) } catch {
        Issue.record("killed after operation \(kill): \(error)")
      }
    }
  }
}
