import TestSupport
import Testing

/// A sync that fails is reported once, and the system may drop the bytes while it still shows them. See
/// https://wiki.postgresql.org/wiki/Fsync_Errors.
@Suite struct FailedSyncTests {
  @Test(arguments: CrashWorkload.all)
  func nothingIsBuiltOnALostWrite(workload: CrashWorkload) throws {
    let seed = SeededRandom.fromEnvironment("a failed sync in '\(workload.name)'").seed
    for site in try CrashTrial.record(workload).sites.sorted() where site.call.isSync {
      var trial = CrashTrial(workload, detail: .oneCut, seed: seed)
      do { try trial.run(meddling: .fail(site)) } catch { Issue.record("failed \(site): \(error)") }
    }
  }
}
