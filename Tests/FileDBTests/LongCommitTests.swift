import FileDBPlist
import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Commits that are written piece by piece, and cut out of the journal without being built.
@Suite struct LongCommitTests {
  private static let place = URL(fileURLWithPath: "/store")
  private static let journal = "/store/.filedb/journal"

  private func open(_ disk: any Disk, journalPiece: Int = 1 << 20) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.journalPiece = journalPiece
    return try RecordStore(at: Self.place, disk: disk, options: options)
  }

  /// Some commits with changes of all kinds.
  private func write(_ store: RecordStore, seed: UInt64) throws {
    for step in CrashWorkload.random(seed: seed, tables: CrashWorkload.randomTables, commits: 10).steps {
      if case .commit(let body) = step { try store.write(body) }
    }
  }

  private func payloads(on disk: any Disk) throws -> [ArraySlice<UInt8>] {
    JournalScan(try disk.read(Self.journal).bytes, at: 0, after: nil).frames.map(\.frame)
      .filter { $0.kind == .commit }.map(\.payload)
  }

  @Test func aCommitIsTheSameInPiecesOfAnyLength() throws {
    var random = SeededRandom.fromEnvironment("pieces of a commit")
    for _ in 0..<20 {
      let disk = MemoryDisk()
      try write(try open(disk), seed: random.next())
      for payload in try payloads(on: disk) {
        let commit = try LoggedCommit(payload: payload, depth: 256)
        for length in [1, 40, 300, 2_000] {
          var pieces: [[UInt8]] = []
          CommitEncoder(commit: commit, pieceLength: length).writePayload { pieces.append($0) }
          #expect(pieces.flatMap(\.self)[...] == payload)
          #expect(pieces.dropLast().allSatisfy { $0.count >= length })
          #expect(length > 1 || pieces.count > commit.changes.count)
        }
      }
    }
  }

  @Test func whatIsCutOutIsWhatTheParserReads() throws {
    var random = SeededRandom.fromEnvironment("cut out commits")
    for _ in 0..<20 {
      let disk = MemoryDisk()
      try write(try open(disk), seed: random.next())
      for payload in try payloads(on: disk) {
        let cut = try #require(CanonicalCommit.decode(payload, limits: PlistLimits()))
        let parsed = try LoggedCommit.parse(payload, limits: PlistLimits())
        #expect(cut.payload[...] == payload && parsed.payload[...] == payload)
        #expect(cut.bases == parsed.bases && cut.changes.map(\.table) == parsed.changes.map(\.table))
      }
    }
  }

  /// A byte that is wrong anywhere is read by both alike, or by the parser alone.
  @Test func whatIsNotCanonicalIsLeftToTheParser() throws {
    let disk = MemoryDisk()
    try write(try open(disk), seed: 7)
    var random = SeededRandom.fromEnvironment("wrong bytes in a commit")
    for payload in try payloads(on: disk) {
      for _ in 0..<300 {
        var wrong = Array(payload)
        wrong[Int.random(in: wrong.indices, using: &random)] = UInt8.random(in: 9..<128, using: &random)
        guard let cut = CanonicalCommit.decode(wrong[...], limits: PlistLimits()) else { continue }
        let parsed = try LoggedCommit.parse(wrong[...], limits: PlistLimits())
        #expect(cut.payload == parsed.payload && cut.payload == wrong)
      }
    }
  }

  /// Another program's property list says the same in other bytes.
  @Test func aCommitThatSomebodyElseWroteIsRead() throws {
    let disk = MemoryDisk()
    try write(try open(disk), seed: 3)
    let expected = try StoreContents(of: open(disk))
    var bytes: [UInt8] = []
    for (frame, _) in JournalScan(try disk.read(Self.journal).bytes, at: 0, after: nil).frames {
      let text = String(decoding: frame.payload, as: UTF8.self)
      let payload = frame.kind == .commit ? text.replacing("<dict>\n", with: "<dict> <!-- else -->\n") : text
      bytes +=
        JournalFrame(
          kind: frame.kind, sequence: frame.sequence, synced: frame.synced, payload: Array(payload.utf8)[...]
        ).bytes
    }
    _ = try disk.replace(Self.journal, with: bytes + [UInt8](repeating: 0, count: Journal.allocation))
    #expect(try StoreContents(of: open(disk)) == expected)
  }

  /// No piece is much longer than it should be, and there is one sync for all of them.
  @Test func aLongCommitIsNeverWholeInMemory() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    let store = try open(disk, journalPiece: 1 << 12)
    try store.table("t").add(["n": 0])
    let before = disk.verbs.count
    try store.table("t").add(contentsOf: (1...400).map { ["n": .integer($0), "text": "a short text"] })
    // Makes the journal longer first.
    let parts = disk.verbs[before...].split(separator: .syncData)
    #expect(parts.count == 2 && disk.verbs.last == .syncData)
    let pieces = disk.written[.writeAt]!.suffix(parts.last!.count { $0 == .writeAt })
    #expect(pieces.max()! < 1 << 13 && pieces.count > 10)
    #expect(try StoreContents(of: open(disk)) == StoreContents(of: store))
    try store.checkInvariants()
  }

  /// Many records share memory; each is itself all the same.
  @Test func recordsThatComeTogetherAreWhole() throws {
    var random = SeededRandom.fromEnvironment("records in blocks")
    for count in [1, 2, 300, 3_000] {
      let records = (1...count).map { number in
        let text = String(repeating: "\(number),", count: .random(in: 0..<60, using: &random))
        return (id: RecordID(counted: Int64(number)), record: Record(fields: ["text": .string(text)]))
      }
      var encoder = RecordEncoder()
      for _ in 0..<2 { #expect(encoder.encode(records) == records.map(StoredRecord.init)) }
      #expect(encoder.encode([]).isEmpty)
      for (id, record) in records {
        #expect(encoder.encode(record, id: id) == StoredRecord(id: id, record: record))
      }
    }
  }
}
