import TestSupport
import Testing

/// A sync that fails is reported once, and the system may drop the bytes while it still shows them. See
/// https://wiki.postgresql.org/wiki/Fsync_Errors.
@Suite struct FailedSyncTests {
  private static let failuresOfAWorkload = 4

  @Test(arguments: CrashWorkload.all + CrashWorkload.installations.suffix(1))
  func commitsNeverBuildOnLostWrites(workload: CrashWorkload) throws {
    var random = SeededRandom.fromEnvironment("failed syncs in '\(workload.name)'")
    let syncs = try CrashTrial.record(workload).sites.filter(\.call.isSync).sorted()
    for site in syncs.shuffled(using: &random).prefix(Self.failuresOfAWorkload) {
      var trial = CrashTrial(workload, detail: .oneCut, seed: random.seed)
      do { try trial.run(meddling: .init(failed: site)) } catch { Issue.record("failed \(site): \(error)") }
    }
  }
}
