import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Commits whose numbers are as high as a journal can hold.
@Suite struct CommitNumberTests {
  private static let journal = "/store/.filedb/journal"
  private static let highest = JournalFrame.highestSequence

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  /// A store whose journal begins after this commit.
  private func makeDisk(after sequence: UInt64) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["n": 0])
    try store.checkpoint()
    try store.close()
    let folder = StoreDisk(disk)
    try folder.syncFolder(folder.install(folder.stageJournal(Self.journal, after: sequence)))
    return disk
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func lastNumbersAreWrittenAsTheyAre(left: UInt64) throws {
    let disk = try makeDisk(after: Self.highest - left)
    let store = try open(disk)
    for number in 0..<left { try store.table("t").add(["n": .integer(Int64(number))]) }
    #expect(
      JournalScan(try disk.read(Self.journal).bytes, at: 0, after: nil).frames.last?.frame.sequence
        == Self.highest)
    #expect(storeError { try store.table("t").add(["n": 9]) }?.code == .damagedJournal)
    #expect(try open(disk).table("t").count == Int(left) + 1)
    #expect(try open(disk).checkJournal()?.error.code == .damagedJournal)
    // A checkpoint needs no number.
    try open(disk).checkpoint()
    #expect(try #require(try open(disk).repairJournal()).lostCount == 0)
    let repaired = try open(disk)
    #expect(try repaired.table("t").count == Int(left) + 1)
    try repaired.table("t").add(["n": 10])
    try repaired.checkInvariants()
    try repaired.checkNothingIsLeftBehind()
  }

  @Test func repairOfWaitingCommitsBeginsAgain() throws {
    let disk = try makeDisk(after: Self.highest - 2)
    let store = try open(disk)
    for number in 0..<2 { try store.table("t").add(["n": .integer(Int64(number))]) }
    try store.repairJournal()
    #expect(try open(disk).table("t").count == 3)
    try open(disk).table("t").add(["n": 10])
    try open(disk).checkInvariants()
  }

  @Test(arguments: [highest + 1, .max]) func journalAfterAHigherNumberIsRefused(sequence: UInt64) throws {
    #expect(storeError { _ = try makeDisk(after: sequence) }?.code == .unrepresentableValue)
  }

  /// No sum of what journals name may trap.
  @Test func hugeSizesOfFilesAreOnlyNumbers() throws {
    let disk = MemoryDisk()
    var options = StoreOptions()
    options.checkpointPause = .seconds(1_000)
    let store = try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
    try store.table("t").add(["n": 0])
    try store.checkpoint()
    let payload = """
      date 2026-03-01T09:30:00Z
      table a base 9223372036854775807:00000000
      table b base 9223372036854775807:00000000
      create a
      create b

      """
    let staged = try Journal.stage(
      Self.journal, on: disk, after: 9, frames: [(.commit, Array(payload.utf8))])
    try disk.syncFolder(disk.install(staged))
    try store.table("t").add(["n": 1])
    #expect(try store.table("t").count == 2)
  }
}
