import Testing

@testable import FileDBStorage

/// The time on a disk that another machine serves.
@Suite struct FileClockTests {
  private let second: Int64 = 1_000_000_000

  @Test func deviceOfThisMachineHasItsTime() {
    let clocks = FileClocks()
    clocks.learn(5, on: 1, steady: 0)
    #expect(clocks.now(on: 1, own: (100, 7)) { true } == 100)
    clocks.learn(5, on: 1, steady: 0)
    #expect(clocks.now(on: 1, own: (200, 9)) { nil } == 200)
  }

  @Test func clockOfAnotherMachineIsUnknownUntilAFileIsCreatedThere() {
    let clocks = FileClocks()
    clocks.learn(5, on: 1, steady: 0)
    #expect(clocks.now(on: 1, own: (100, 7)) { false } == nil)
    clocks.learn(5, on: 2, steady: 6)
    #expect(clocks.now(on: 1, own: (100, 7)) { false } == nil)
    clocks.learn(5, on: 1, steady: 6)
    #expect(clocks.now(on: 1, own: (100, 16)) { false } == 15)
    #expect(clocks.now(on: 2, own: (100, 16)) { nil } == nil)
  }

  /// The server's clock is ten seconds behind. An editor saves twice within one of its seconds.
  @Test func fileThatHasJustChangedIsNotSettledByAnEarlierClock() throws {
    let (clocks, start) = (FileClocks(), 1_000 * second)
    func isSettled(after seconds: Int64) -> Bool? {
      let now = clocks.now(on: 1, own: (start + (10 + seconds) * second, seconds * second)) { false }
      return now.map { FileStamp.isSettled(modified: start, changed: start, now: $0) }
    }
    #expect(isSettled(after: 0) == nil)
    clocks.learn(start, on: 1, steady: 0)
    #expect(isSettled(after: 0) == false)
    #expect(isSettled(after: 2) == false)
    #expect(isSettled(after: 3) == true)
  }

  @Test func clockOfAPathIsFound() throws {
    try withScratchFolder { folder in
      #expect(FileClocks.isOwn(at: folder) != nil)
      #expect(FileClocks.isOwn(at: "\(folder)/none") == nil)
    }
  }
}
