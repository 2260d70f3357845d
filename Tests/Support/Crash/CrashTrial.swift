import FileDB
import FileDBStorage
import Foundation

/// How thoroughly to look.
package struct CrashDetail: Sendable {
  /// At most this many contents of one file are tried at each moment.
  package var imagesOfAFile: Int
  /// At most this many sets of names are tried at each moment.
  package var namingsAtAMoment: Int
  /// About how many states are tried at each moment.
  package var statesAtAMoment: Int
  /// In one of this many distinct states the power is cut again while the store recovers; 0 for none.
  package var secondCutEvery: Int

  package init(
    imagesOfAFile: Int, namingsAtAMoment: Int = .max, statesAtAMoment: Int, secondCutEvery: Int
  ) {
    self.imagesOfAFile = imagesOfAFile
    self.namingsAtAMoment = namingsAtAMoment
    self.statesAtAMoment = statesAtAMoment
    self.secondCutEvery = secondCutEvery
  }

  package static let quick = CrashDetail(imagesOfAFile: 12, statesAtAMoment: 24, secondCutEvery: 400)
  package static let oneCut = CrashDetail(imagesOfAFile: 8, statesAtAMoment: 24, secondCutEvery: 0)
  /// For the undo log, whose files are never synced: there would be tens of thousands of states at each moment.
  package static let fewNames = CrashDetail(
    imagesOfAFile: 3, namingsAtAMoment: 4, statesAtAMoment: 16, secondCutEvery: 0)
  package static let full = CrashDetail(imagesOfAFile: 3_000, statesAtAMoment: 4_000, secondCutEvery: 50)
}

/// How many states were tried.
package struct CrashCounts: Sendable, CustomStringConvertible {
  package var tried = 0
  /// No two of these have the same names and bytes; each was recovered. Any other tried state is one of them at another
  /// moment.
  package var distinct = 0
  /// How many of those are of a second power cut.
  package var afterSecondCut = 0

  package init() {}

  package static func += (sum: inout Self, other: Self) {
    sum.tried += other.tried
    sum.distinct += other.distinct
    sum.afterSecondCut += other.afterSecondCut
  }

  package var description: String {
    "\(tried) states tried, \(distinct) of them distinct, \(afterSecondCut) of these after a second power cut"
  }
}

/// A state of the disk from which the store does not come back as it must.
package struct CrashViolation: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Runs a workload and tries what a power cut after each of its operations may leave.
package struct CrashTrial {
  package private(set) var counts = CrashCounts()
  /// The hash of each state that was tried.
  package private(set) var digests: Set<Int> = []
  private let workload: CrashWorkload
  private let detail: CrashDetail
  private let seed: UInt64
  private let recovery: Recovery
  private var random: SeededRandom
  private var history: CrashWorkload.History = []
  /// For each state that was tried, the commits whose contents it recovers to.
  private var outcomes: [Int: ClosedRange<Int>] = [:]
  /// How many states are recovered before the one whose recovery is cut off as well.
  private var untilSecondCut: Int

  package init(_ workload: CrashWorkload, detail: CrashDetail, seed: UInt64) {
    self.workload = workload
    self.detail = detail
    self.seed = seed
    recovery = Recovery(keptBytes: workload.keptBytes)
    random = SeededRandom(seed: seed)
    // The first states are those of an empty disk, in each workload.
    untilSecondCut = .random(in: 0..<max(1, min(50, detail.secondCutEvery)), using: &random)
  }

  /// What the workload tells a disk on which nothing fails.
  package static func record(_ workload: CrashWorkload) throws -> RecordingDisk {
    let disk = RecordingDisk(workload.before, storeFolder: CrashWorkload.storeFolder)
    _ = try workload.run(on: disk)
    return disk
  }

  /// - Throws: ``CrashViolation`` for the first state that is wrong, and what the workload throws.
  package mutating func run(meddling: RecordingDisk.Meddling = RecordingDisk.Meddling()) throws {
    let recorder = RecordingDisk(workload.before, storeFolder: CrashWorkload.storeFolder, meddling: meddling)
    history = try workload.run(on: recorder)
    let events = recorder.events
    var disk = UnsyncedDisk(workload.before)
    var progress = Progress()
    for number in 0...events.count {
      if number > 0 {
        disk.apply(events[number - 1])
        progress.note(events[number - 1])
      }
      if number < recorder.failure ?? 0 { continue }  // As if nothing had been meddled with.
      if progress.isIn(workload.unsyncedEdits) { continue }
      try tryStates(of: disk, at: Moment(events: events[..<number], progress: progress))
    }
  }

  /// Which commits may be there after a power cut.
  private struct Progress {
    var acknowledged = 0
    var issued = 0

    /// Whether one of these may be there, and no commit that builds on it was acknowledged.
    func isIn(_ edits: Set<Int>) -> Bool { edits.contains { acknowledged < $0 && $0 <= issued } }

    mutating func note(_ event: DiskEvent) {
      switch event {
      case .issued(let number): issued = number
      case .acknowledged(let number): acknowledged = number
      default: break
      }
    }
  }

  private struct Moment {
    let events: ArraySlice<DiskEvent>
    let progress: Progress
  }

  private mutating func tryStates(of disk: UnsyncedDisk, at moment: Moment) throws {
    let states = CrashStates(
      of: disk,
      detail: .init(
        imagesOfAFile: detail.imagesOfAFile, namings: detail.namingsAtAMoment, states: detail.statesAtAMoment),
      random: &random)
    var order = SeededRandom(seed: random.next())
    try states.forEach(random: &order) { digest, make in
      counts.tried += 1
      do {
        let outcome = try outcomes[digest] ?? recover(make().image, digest)
        outcomes[digest] = outcome
        let (least, most) = (moment.progress.acknowledged, moment.progress.issued)
        if outcome.upperBound < least {
          throw BrokenInvariant(description: "commit \(least) was acknowledged and is lost")
        }
        if outcome.lowerBound > most {
          throw BrokenInvariant(description: "commit \(outcome.lowerBound) is there before it was issued")
        }
      } catch {
        throw CrashViolation(
          description: """
            \(workload.name): a power cut after operation \(moment.events.count): \(error)
              commits: \(moment.progress.acknowledged) acknowledged, \(moment.progress.issued) issued
              before it:
            \(moment.events.story)
              \(make().text)
              FILEDB_SEED=\(seed)
            """)
      }
    }
  }

  /// Recovers the store from a state that was not tried before.
  /// - Returns: the commits that it may be at.
  private mutating func recover(_ image: DiskImage, _ digest: Int) throws -> ClosedRange<Int> {
    if digests.insert(digest).inserted { counts.distinct += 1 }
    let found = try recovery.check(image)
    // A table that was saved while commits waited for it is in conflict with them.
    if !found.isSound, let conflicts = workload.conflicts { return conflicts }
    guard let first = history.firstIndex(of: found), let last = history.lastIndex(of: found) else {
      throw BrokenInvariant(description: "what is there was never committed: \(found)")
    }
    if let targets = workload.undoTargets(after: first) {
      try recovery.checkUndo(image, leadsTo: targets.map { history[$0] })
    }
    if workload.isResumable {
      let end = try workload.resume(after: last, on: MemoryDisk(image))
      guard end == history.last else {
        throw BrokenInvariant(description: "going on from commit \(last) leads to \(end)")
      }
    }
    if detail.secondCutEvery > 0 {
      if untilSecondCut == 0 { try cutAgain(image, expecting: found) }
      untilSecondCut = (untilSecondCut == 0 ? detail.secondCutEvery : untilSecondCut) - 1
    }
    return first...last
  }

  /// Cuts the power after each operation of the recovery and of the commit that follows it: what was there stays.
  private mutating func cutAgain(_ image: DiskImage, expecting found: StoreContents) throws {
    let recorder = RecordingDisk(image, storeFolder: CrashWorkload.storeFolder)
    let after = try recovery.goOn(on: recorder)
    var disk = UnsyncedDisk(image)
    var seen: [Int: StoreContents] = [:]
    var isAcknowledged = false
    for (number, event) in recorder.events.enumerated() {
      disk.apply(event)
      if case .acknowledged = event { isAcknowledged = true }
      let states = CrashStates(of: disk, detail: .init(imagesOfAFile: 12, states: 24), random: &random)
      var order = SeededRandom(seed: random.next())
      try states.forEach(random: &order) { digest, make in
        counts.tried += 1
        if digests.insert(digest).inserted {
          counts.distinct += 1
          counts.afterSecondCut += 1
        }
        do {
          let again = try seen[digest] ?? recovery.check(make().image)
          seen[digest] = again
          if again == after || (again == found && !isAcknowledged) { return }
          throw BrokenInvariant(description: "there is neither what was before nor after: \(again)")
        } catch {
          throw BrokenInvariant(
            description: """
              the store recovers to \(found), but not after a second power cut: \(error)
                before the second cut:
              \(recorder.events.prefix(number + 1).story)
                after it: \(make().text)
                first:
              """)
        }
      }
    }
  }
}
