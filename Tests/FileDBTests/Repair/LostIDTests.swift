import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A repair leaves out the last commit of a journal. Records that are added later get other ids than those that the
/// commit gave.
@Suite struct LostIDTests {
  private static let journal = "/store/.filedb/journal"

  enum Commit: CaseIterable {
    case oneRecord, tenRecords, twoTables, manyCommits, inAFileOfRecords
  }

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 5_000
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  private func makeDisk(_ commit: Commit) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    for table in ["a", "b"] { try store.table(table).add(contentsOf: [["n": 1], ["n": 2]]) }
    try store.checkpoint()
    try store.table("a").set(["n": 3], of: 1)
    switch commit {
    case .oneRecord: try store.table("a").add(["text": "new"])
    case .tenRecords: try store.table("a").add(contentsOf: (0..<10).map { ["n": .integer($0)] })
    case .twoTables:
      try store.write { tx in
        try tx["a"].add(["text": "new"])
        try tx["b"].add(contentsOf: (0..<5).map { ["n": .integer($0)] })
      }
    case .manyCommits: for _ in 0..<5 { try store.table("a").add(["text": "new"]) }
    case .inAFileOfRecords: try store.table("a").add(contentsOf: (0..<100).map { ["n": .integer($0)] })
    }
    return disk
  }

  /// The last frames that add records.
  private func places(_ commit: Commit, _ bytes: [UInt8]) -> Range<Int> {
    let frames = JournalScan(bytes, at: 0, after: nil).frames
    let first = frames[frames.count - (commit == .manyCommits ? 5 : 1)].offset
    let last = frames[frames.count - 1]
    return first..<last.offset + 64 + last.frame.payload.count
  }

  @Test(arguments: Commit.allCases) func lostIDsAreNotGivenAgain(commit: Commit) throws {
    let sound = try makeDisk(commit)
    let given = try ["a", "b"].map { try open(sound).table($0).lastSnapshot.counter }
    let bytes = try sound.read(Self.journal).bytes
    let range = places(commit, bytes)
    var lostCount = 0
    for place in stride(from: range.lowerBound, to: range.upperBound, by: 7) {
      for length in [12, 200, 700] {
        let disk = try makeDisk(commit)
        let end = min(place + length, range.upperBound)
        try disk.open(Self.journal).write([UInt8](repeating: 0x23, count: end - place), at: place)
        let store = try open(disk)
        // The line feeds between frames are nobody's.
        guard let report = try store.repairJournal() else { continue }
        for (table, highest) in zip(["a", "b"], given) {
          let id = try store.table(table).add(["text": "after"])
          #expect(id.rawValue > highest, "\(table): byte \(place), \(length) bytes")
          #expect(id.rawValue < highest + 1_000, "\(table): byte \(place), \(length) bytes")
        }
        if report.lostCount > 0 {
          lostCount += 1
          #expect(report.notes.contains { $0.contains("stay unused") }, "\(report.notes)")
        }
        try store.checkInvariants()
      }
    }
    #expect(lostCount > 30)
  }

  /// Damage must not use up the ids.
  @Test func incredibleIDIsIgnored() {
    var lost = LostIDs()
    let text =
      "\t\t<dict>\n\t\t\t<key>wgFileDbSecretId</key>\n\t\t\t<string>9223372036854775807</string>\n\t\t</dict>\n"
    lost.add(records: Array(text.utf8), of: nil)
    #expect(lost.counter(of: TableKey("t"), after: 4) == 5)
    for _ in 0..<2_000 { lost.add(recordCount: .max, in: [TableKey("t")]) }
    #expect(lost.counter(of: TableKey("t"), after: 4) < 1 << 54)
    #expect(lost.counter(of: TableKey("t"), after: .max) == .max)
  }
}
