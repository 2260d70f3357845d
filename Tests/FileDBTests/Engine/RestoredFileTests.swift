import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Somebody puts a table's file back to what it was before a checkpoint, for example with git.
@Suite struct RestoredFileTests {
  private static let file = "/store/t.plist"

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  private func numbers(_ store: RecordStore) throws -> [Int64] {
    try store.table("t").snapshot().compactMap { $0["n"]?.integer }
  }

  /// The idle process knows a file with the same content as the one that was put back. But the commit that it has not
  /// seen yet is no longer in that file.
  @Test(arguments: [false, true]) func processThatKnowsTheSameContentSeesThatACommitIsGone(
    hasCheckpointAfterwards: Bool
  ) throws {
    let disk = MemoryDisk()
    let (busy, idle) = (try open(disk), try open(disk))
    for number in 1...2 {
      try busy.table("t").add(["n": .integer(Int64(number))])
      try busy.checkpoint()
      #expect(try numbers(idle).count == number)
    }
    let former = try disk.read(Self.file).bytes
    try busy.table("t").add(["n": 3])
    try busy.checkpoint()
    _ = try disk.replace(Self.file, with: former)
    try busy.table("t").add(["n": 4])
    if hasCheckpointAfterwards { try busy.checkpoint() }
    #expect(try numbers(busy) == [1, 2, 4])
    #expect(try numbers(idle) == [1, 2, 4])
    try idle.table("t").add(["n": 5])
    try idle.checkpoint()
    for store in [busy, idle, try open(disk)] {
      #expect(try numbers(store) == [1, 2, 4, 5])
      try store.checkInvariants()
    }
  }

  /// While the table was in conflict, the next journal parked a commit that the idle process has not seen.
  @Test func processThatKnowsTheFileSeesWhatWasParkedMeanwhile() throws {
    let disk = MemoryDisk()
    let (busy, idle) = (try open(disk), try open(disk))
    try busy.write { tx in for table in ["t", "other"] { try tx[table].add(["n": 1]) } }
    try busy.checkpoint()
    #expect(try numbers(idle) == [1])
    try busy.table("t").set(["n": 2], of: 1)
    try disk.rename(Self.file, to: "/store/away")
    _ = try disk.replace(Self.file, with: Array("<plist><dict/></plist>".utf8))
    for _ in 0..<2 {
      try busy.table("other").add(["text": .string(String(repeating: "long ", count: 20_000))])
      #expect(storeError { try busy.checkpoint() }?.code == .conflict)
    }
    try disk.rename("/store/away", to: Self.file)
    #expect(try numbers(idle) == [2])
    try idle.table("t").add(["n": 3])
    for store in [busy, idle, try open(disk)] {
      #expect(try numbers(store) == [2, 3])
      try store.checkInvariants()
    }
  }
}
