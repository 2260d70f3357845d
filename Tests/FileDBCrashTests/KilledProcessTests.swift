import TestSupport
import Testing

/// What a process wrote and did not sync is there for the next one, and gone after a power cut: nothing may be built on
/// it before it is synced.
@Suite struct KilledProcessTests {
  private static let killsOfAWorkload = 4

  @Test(arguments: CrashWorkload.all + CrashWorkload.installations.suffix(1))
  func anotherProcessGoesOn(workload: CrashWorkload) throws {
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
