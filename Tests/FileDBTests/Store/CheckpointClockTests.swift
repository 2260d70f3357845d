import Testing

@testable import FileDB

@Suite struct CheckpointClockTests {
  @Test func firstCommitAfterAPauseAsksForALook() {
    let clock = CheckpointClock()
    #expect(!clock.hasCommits)
    #expect(clock.commitWasMade())
    #expect(!clock.commitWasMade())
    #expect(clock.hasCommits)
    #expect(!clock.isQuiet(for: .seconds(3_600)), "the pause has only begun")
    #expect(!clock.commitWasMade(), "whoever looked will look again")
    #expect(clock.isQuiet(for: .zero))
    #expect(clock.commitWasMade())
    clock.checkpointBegan()
    #expect(!clock.hasCommits)
    clock.checkpointFailed()
    #expect(clock.hasCommits)
  }

  private let least = CheckpointClock.smallestSize

  private func sizes(_ journal: Int, files: Int = 0, largestFile: Int = 0) -> JournalSizes {
    JournalSizes(journal: journal, files: files, largestFile: largestFile)
  }

  private func isOutgrown(_ sizes: JournalSizes) -> Bool { CheckpointClock().beginRun(sizes) }

  @Test func journalIsOutgrownAtHalfTheFilesAndNotBelowTheLeastSize() {
    #expect(!isOutgrown(sizes(least - 1)))
    #expect(isOutgrown(sizes(least)))
    #expect(!isOutgrown(sizes(3 * least, files: 8 * least)))
    #expect(isOutgrown(sizes(4 * least, files: 8 * least)))
  }

  /// However large the files are: 4 MB at least, an eighth of the largest file, 32 MB at most.
  @Test(arguments: [(10, 4), (100, 12), (1_000, 32)]) func journalHasALimit(file: Int, limit: Int) {
    let (file, limit) = (file << 20, limit << 20)
    #expect(!isOutgrown(sizes(limit - 1, files: 10 * file, largestFile: file)))
    #expect(isOutgrown(sizes(limit + (1 << 20), files: 10 * file, largestFile: file)))
  }

  @Test func oneRunAtATime() {
    let clock = CheckpointClock()
    #expect(clock.beginRun(sizes(least)))
    #expect(!clock.beginRun(sizes(2 * least)))
    clock.checkpointEnded(sizes(0))
    clock.endRun()
    #expect(clock.beginRun(sizes(least)))
  }

  @Test func runThatLeavesALongJournalIsRepeatedAtTwiceTheSize() {
    let clock = CheckpointClock()
    #expect(clock.beginRun(sizes(least)))
    clock.checkpointEnded(sizes(least))
    clock.endRun()
    #expect(!clock.beginRun(sizes(2 * least - 1)))
    #expect(clock.beginRun(sizes(2 * least)))
    clock.checkpointEnded(sizes(0))
    clock.endRun()
    #expect(clock.beginRun(sizes(least)))
  }
}
