import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Writing and reading the payload of a commit's frame.
@Suite struct JournalCommitTests {
  private static let place = URL(fileURLWithPath: "/store")
  private static let journal = "/store/.filedb/journal"

  private func open(_ disk: any Disk, longestFrame: Int = 1 << 20) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = longestFrame
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

  private func text(_ payload: some Collection<UInt8>) -> String { String(decoding: payload, as: UTF8.self) }

  @Test func payloadRoundTripsByteForByte() throws {
    var random = SeededRandom.fromEnvironment("payloads of commits")
    for _ in 0..<20 {
      let disk = MemoryDisk()
      try write(try open(disk), seed: random.next())
      for payload in try payloads(on: disk) {
        let commit = try JournalCommit(payload: payload, depth: 256, records: nil)
        #expect(text(commit.payload()) == text(payload))
      }
    }
  }

  /// The text of each kind of change in the journal.
  @Test func eachChangeIsWrittenWithChecksumOfWhatItReplaces() throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    let name = "a b%\n"
    try store.write { tx in
      try tx[name].add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
    }
    let before = try store.table(name).lastSnapshot.state.records
    func checksum(_ index: Int) -> String { String(hexadecimal: Checksum.of(before[index].bytes), width: 8) }
    try store.write { tx in
      try tx[name].set(["n": 9], of: 2)
      try tx[name].move(3, to: .top)
      try tx[name].delete(1)
      try tx[name].sort(by: [.descending("n")])
      try tx[name].deleteAll()
      try tx[name].drop()
    }
    let payloads = try payloads(on: disk)
    let lines = payloads.map { text($0).split(separator: "\n").filter { !$0.hasPrefix("\t") } }
    #expect(lines[0].count == 5 && lines[0][0].hasPrefix("date ") && lines[0][1].hasPrefix("token "))
    #expect(
      lines[0][2...] == [
        "table a%20b%25%0a at 0 base absent", "create a%20b%25%0a", "insert a%20b%25%0a 3 index 0 below -",
      ])
    let all = before.reduce(into: Checksum()) { sum, record in record.bytes.withUnsafeBytes { sum.update($0) }
    }
    #expect(all.value != 0)
    #expect(
      lines[1][2...6] == [
        "table a%20b%25%0a at 1", "replace a%20b%25%0a was \(checksum(1)):1",
        "move a%20b%25%0a 3 index 0 below - was \(checksum(2)):2",
        "remove a%20b%25%0a were 1:\(checksum(0)):3",
        "reorder a%20b%25%0a 2 3",
      ])
    #expect(lines[1][7].hasPrefix("removeAll a%20b%25%0a were 2 ") && lines[1][7].hasSuffix(" counter 3"))
    #expect(lines[1][8] == "drop a%20b%25%0a were 0 00000000 counter 3")
  }

  @Test func damagedPayloadIsRefusedOrIsAnotherValidOne() throws {
    let disk = MemoryDisk()
    try write(try open(disk), seed: 7)
    var random = SeededRandom.fromEnvironment("wrong bytes in a commit")
    var faults = 0
    for payload in try payloads(on: disk) {
      for _ in 0..<300 {
        var wrong = Array(payload)
        wrong[Int.random(in: wrong.indices, using: &random)] = UInt8.random(in: 9..<128, using: &random)
        do throws(PayloadFault) {
          let commit = try JournalCommit(payload: wrong[...], depth: 256, records: nil)
          #expect(text(commit.payload()) == text(wrong))
        } catch {
          faults += 1
        }
      }
    }
    #expect(faults > 100)
  }

  @Test func truncatedPayloadIsRefused() throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["n": 1])
    try store.table("t").move(1, to: .bottom)
    let payload = try payloads(on: disk)[0]
    let changes = text(payload).range(of: "create")!.lowerBound.utf16Offset(in: text(payload))
    for length in 0..<payload.count
    where !(length >= changes && text(payload.prefix(length)).hasSuffix("create t\n")) {
      guard length != changes else { continue }
      #expect(throws: PayloadFault.self, "\(length)") {
        try JournalCommit(payload: payload.prefix(length), depth: 256, records: nil)
      }
    }
  }

  @Test func largeInsertUsesRecordsFileUntilCheckpoint() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    let store = try open(disk, longestFrame: 1 << 12)
    try store.table("t").add(["n": 0])
    try store.table("t").add(contentsOf: (1...400).map { ["n": .integer($0), "text": "a short text"] })
    let payload = try #require(try payloads(on: disk).last)
    let file = try #require(try JournalCommit.recordsFile(of: payload))
    #expect(payload.count < 300 && file.count == 400)
    #expect(try disk.list("/store/.filedb").contains(file.name))
    #expect(try StoreContents(of: open(disk)) == StoreContents(of: store))
    try store.checkInvariants()
    try store.checkpoint()
    #expect(try !disk.list("/store/.filedb").contains(file.name))
    #expect(try StoreContents(of: open(disk)) == StoreContents(of: store))
  }

  @Test(arguments: [false, true]) func changedRecordsFileIsReportedAsDamage(isCutOff: Bool) throws {
    let disk = MemoryDisk()
    let store = try open(disk, longestFrame: 1 << 8)
    try store.table("t").add(contentsOf: (1...40).map { ["n": .integer($0)] })
    let name = try #require(try disk.list("/store/.filedb").first { $0.hasPrefix("records-") })
    var bytes = try disk.read("/store/.filedb/\(name)").bytes
    if isCutOff { bytes.removeLast() } else { bytes[100] ^= 1 }
    _ = try disk.replace("/store/.filedb/\(name)", with: bytes)
    let error = storeError { _ = try open(disk).table("t") }
    #expect(error?.code == .damagedJournal && error?.file == "/store/.filedb/\(name)")
  }
}
