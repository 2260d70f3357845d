import TestSupport
import Testing

/// A sample of the states that a power cut may leave. `Tests/crash` tries a million.
@Suite struct CrashStateTests {
  @Test(arguments: CrashWorkload.all + CrashWorkload.waiting + CrashWorkload.ruled)
  func storeRecoversFromEveryCrashState(workload: CrashWorkload) throws {
    try recover(from: workload, .quick)
  }

  @Test(arguments: CrashWorkload.edited + CrashWorkload.editedAmongCommits)
  func storeRecoversFromCrashesAroundAnEditorsSaves(workload: CrashWorkload) throws {
    try recover(from: workload, .quick)
  }

  /// After each state the installation can be repeated or completed.
  @Test(arguments: CrashWorkload.installations)
  func installationRecoversFromEveryCrashState(workload: CrashWorkload) throws {
    try recover(from: workload, .oneCut)
  }

  /// Each undo leads to what was there before the step, or says that a power cut took the step's files.
  @Test(arguments: CrashWorkload.undo)
  func undoLogRecoversFromEveryCrashState(workload: CrashWorkload) throws {
    try recover(from: workload, .fewNames)
  }

  private func recover(from workload: CrashWorkload, _ detail: CrashDetail) throws {
    let seed = SeededRandom.fromEnvironment(workload.name).seed
    var trial = CrashTrial(workload, detail: detail, seed: seed)
    try trial.run()
    print("\(workload.name): \(trial.counts)")
  }

  /// The power is cut once. `Tests/crash` cuts it a second time during the recovery.
  @Test func randomWorkloadsRecoverFromCrashes() throws {
    var random = SeededRandom.fromEnvironment("random workloads")
    var sum = CrashCounts()
    while sum.tried < 10_000 {
      let workload = CrashWorkload.random(seed: random.next(), tables: CrashWorkload.randomTables, commits: 3)
      var trial = CrashTrial(workload, detail: .oneCut, seed: random.seed)
      try trial.run()
      sum += trial.counts
    }
    print("random workloads: \(sum)")
  }
}
