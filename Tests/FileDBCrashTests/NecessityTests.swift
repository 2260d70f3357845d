import TestSupport
import Testing

/// The search for bad states must find some in a store that leaves out a single sync, rename or removal: else it would
/// prove nothing about the store that does not.
@Suite struct NecessityTests {
  private static let syncOfAnEditorsFile = DurabilitySite(.syncData, "table", after: "nothing new")
  private static let syncOfWhatIsWritten = DurabilitySite(.syncData, "journal", after: "writing written")

  /// What no commit depends on, and why it is done all the same.
  static let redundant: [DurabilitySite: String] = [
    DurabilitySite(.syncFolder, "own folder", after: "rename of the .gitignore"):
      "a .gitignore that is lost is written again",
    DurabilitySite(.syncFolder, "store's folder", after: "making of the own folder"):
      "the first commit to a table syncs that folder again, and what others made needs it",
    syncOfAnEditorsFile: "these workloads write no file from outside; those with an editor need it",
    syncOfWhatIsWritten: "without an editor, the commits that seem to wait are in the file as well",
    DurabilitySite(.remove, "table's swap", after: ""):
      "the next checkpoint knows it for a former version, or keeps it among the backups",
    DurabilitySite(.exchange, "journal", after: ""):
      "the look at the former journal finds the draft, and the former journal goes on",
    DurabilitySite(.remove, "journal's swap", after: ""): "the next checkpoint finds its commits in the journal",
  ]
  private static let redundantInInstallations: [DurabilitySite: String] = [
    DurabilitySite(.remove, "shipped table", after: ""): "it is in nobody's way",
    DurabilitySite(.syncFolder, "own folder", after: "making of the shipped"):
      "the first commit to the record of the version syncs that folder again",
    DurabilitySite(.exchange, "installed.plist", after: ""):
      "the look at the former file finds the draft, and the table waits for the next checkpoint",
  ]

  /// Few of the states without a call are bad ones, and only some are tried: so what was not found is sought again.
  private static let rounds = 60

  @Test func everyDiskCallIsNeeded() throws {
    let missed = try unneeded(places(in: CrashWorkload.all), redundant: Self.redundant)
    #expect(missed == Set(Self.redundant.keys))
  }

  @Test func everyDiskCallAfterAnEditorsSavesIsNeeded() throws {
    let others = try places(in: CrashWorkload.all)
    let places = try places(in: CrashWorkload.edited).filter {
      others[$0.key] == nil || [Self.syncOfAnEditorsFile, Self.syncOfWhatIsWritten].contains($0.key)
    }
    #expect(!places.isEmpty)
    #expect(try unneeded(places, redundant: [:]).isEmpty)
  }

  @Test func everyDiskCallOfInstallationsIsNeeded() throws {
    let others = try places(in: CrashWorkload.all)
    // What syncs for a process that died is the making of a folder, which the others need as well. The swap of the
    // installed version is made and removed as those of tables are.
    let places = try places(in: CrashWorkload.installations).filter {
      others[$0.key] == nil && $0.key.cause != "nothing new" && $0.key.subject != "installed.plist's swap"
    }
    let missed = try unneeded(places, redundant: Self.redundantInInstallations)
    #expect(missed == Set(Self.redundantInInstallations.keys))
  }

  /// The calls that workloads make, and which do.
  private func places(in workloads: [CrashWorkload]) throws -> [DurabilitySite: [CrashWorkload]] {
    var places: [DurabilitySite: [CrashWorkload]] = [:]
    for workload in workloads {
      for site in try CrashTrial.record(workload).sites { places[site, default: []].append(workload) }
    }
    return places
  }

  /// The calls without which no bad state is found.
  private func unneeded(
    _ places: [DurabilitySite: [CrashWorkload]], redundant: [DurabilitySite: String]
  ) throws -> Set<DurabilitySite> {
    var random = SeededRandom.fromEnvironment("necessity")
    var missed: Set<DurabilitySite> = []
    for (site, workloads) in places.sorted(by: { $0.key < $1.key }) {
      let rounds = redundant[site] == nil ? Self.rounds : 1
      let isFound = try (0..<rounds).contains { _ in
        try workloads.contains { try isMissed($0, without: site, seed: random.next()) }
      }
      if !isFound { missed.insert(site) }
    }
    for site in missed.sorted() { print("no bad state found without the \(site)") }
    return missed
  }

  /// Whether a bad state is found in a workload that leaves this call out.
  private func isMissed(_ workload: CrashWorkload, without site: DurabilitySite, seed: UInt64) throws -> Bool
  {
    let record = try CrashTrial.record(workload)
    return meddlings(without: site, eventCount: record.events.count).contains { meddling in
      var trial = CrashTrial(workload, detail: .oneCut, seed: seed)
      do { try trial.run(meddling: meddling) } catch {
        print("\(workload.name), \(meddling): found after \(trial.counts.tried) states")
        return true
      }
      return false
    }
  }

  /// A call that makes nothing durable of what its own process wrote is there for one that died.
  private func meddlings(without site: DurabilitySite, eventCount: Int) -> [RecordingDisk.Meddling] {
    guard site.cause == "nothing new" else { return [RecordingDisk.Meddling(omitted: site)] }
    return (1...eventCount).map { RecordingDisk.Meddling(omitted: site, killedAfter: $0) }
  }
}
