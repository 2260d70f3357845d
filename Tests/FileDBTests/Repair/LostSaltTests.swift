import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// The beginning of a journal is lost, with the salt in it, and the text of a record looks like frames.
@Suite struct LostSaltTests {
  private static let journal = "/store/.filedb/journal"

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  /// Frames that would remove all records, at each distance from a multiple of 64.
  private var forgedText: String {
    var text: [UInt8] = []
    for number in 0..<64 as Range<UInt64> {
      let payload = Array("date 2026-03-01T09:30:00Z\ntable t\nremoveAll t\n".utf8)[...]
      let frame = JournalFrame(
        kind: .commit, sequence: 0xF000_0000_0000 + number, synced: 0, payload: payload)
      text += frame.bytes(salt: 0x1234_5678) + [UInt8(ascii: ".")]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// - Parameter place: the number of commits before the one with the forged text, of 20.
  private func makeDisk(forgedAfter place: Int) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["n": -1])
    try store.checkpoint()
    for number in 0..<20 as Range<Int64> {
      try store.table("t").add(["n": .integer(number), "text": number == place ? .string(forgedText) : ""])
    }
    return disk
  }

  /// Whatever is lost at the beginning, the commits after it are there, and nothing forged is carried out.
  @Test(arguments: [0, 5, 18, 19], [0x23, 0] as [UInt8]) func textDecidesNoSalt(place: Int, byte: UInt8)
    throws
  {
    let frames = JournalScan(try makeDisk(forgedAfter: place).read(Self.journal).bytes, at: 0, after: nil)
      .frames
    let commits = frames.filter { $0.frame.kind == .commit }.suffix(20)
    var doubtCount = 0
    for (index, (_, offset)) in commits.enumerated() {
      let disk = try makeDisk(forgedAfter: place)
      // The lines of this commit's frame and of all before it are lost.
      try disk.open(Self.journal).write([UInt8](repeating: byte, count: offset + 64), at: 0)
      let store = try open(disk)
      #expect(try store.checkJournal()?.error.code == .damagedJournal)
      let notes = try #require(try store.repairJournal()).notes
      let numbers = try store.table("t").lastSnapshot.map { $0.fields["n"] }
      let expected = [-1] + (Int64(index) + 1..<20).map { $0 }
      // If no frame of the journal is left, the forged ones may be all there is. But the user is told.
      if index == 19, place == 19 { continue }
      #expect(numbers == expected.map { .integer($0) }, "\(index) of 20 commits are lost: \(notes)")
      if notes.contains(where: { $0.contains("does not belong to the others") }) { doubtCount += 1 }
      #expect(try store.table("t").add(["n": 99]).rawValue > 21)
      try store.checkInvariants()
    }
    // The forged text is seen if its commit is the last that is lost.
    #expect(doubtCount == (place == 19 ? 0 : 1))
  }

  /// A frame without a start before it, as somebody may forge one.
  @Test func commitWithTheNumberZeroIsNone() throws {
    for kind in JournalFrame.Kind.allCases where kind != .start {
      let disk = try makeDisk(forgedAfter: 0)
      let payload = Array("date 2026-03-01T09:30:00Z\ntable t base absent\ncreate t\n".utf8)[...]
      let frame = JournalFrame(kind: kind, sequence: 0, synced: 0, payload: payload)
      var bytes = [UInt8](repeating: 0x23, count: 128) + frame.bytes(salt: 7)
      bytes += [UInt8](repeating: 0, count: Journal.allocation - bytes.count)
      _ = try disk.replace(Self.journal, with: bytes)
      let store = try open(disk)
      try store.repairJournal()
      #expect(try store.table("t").count == 1)
      try store.checkInvariants()
    }
  }
}
