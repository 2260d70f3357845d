import Testing

@testable import FileDB

@Suite struct CheckpointClockTests {
  @Test func firstCommitAfterAPauseAsksForALook() {
    let clock = CheckpointClock()
    #expect(!clock.hasCommits)
    #expect(clock.noteCommit())
    #expect(!clock.noteCommit())
    #expect(clock.hasCommits)
    #expect(!clock.isQuiet(for: .seconds(3_600)), "the pause has only begun")
    #expect(!clock.noteCommit(), "whoever looked will look again")
    #expect(clock.isQuiet(for: .zero))
    #expect(clock.noteCommit())
    clock.noteCheckpoint()
    #expect(!clock.hasCommits)
  }

  @Test func journalIsOutgrownAtHalfTheFilesAndNotBelowTheLeastSize() {
    let clock = CheckpointClock()
    let least = CheckpointClock.smallestSize
    #expect(!clock.isOutgrown(least - 1, files: 0))
    #expect(clock.isOutgrown(least, files: 0))
    #expect(!clock.isOutgrown(3 * least, files: 8 * least))
    #expect(clock.isOutgrown(4 * least, files: 8 * least))
  }

  @Test func failedCheckpointIsTriedAgainAtTwiceTheSize() {
    let clock = CheckpointClock()
    let least = CheckpointClock.smallestSize
    clock.noteFailure(size: least)
    #expect(!clock.isOutgrown(2 * least - 1, files: 0))
    #expect(clock.isOutgrown(2 * least, files: 0))
    clock.noteCheckpoint()
    #expect(clock.isOutgrown(least, files: 0))
  }
}
