import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Every byte of a small store is damaged in turn, and every file is cut off at every length.
@Suite struct DamageTests {
  private static let folder = URL(fileURLWithPath: "/store")
  private static let journal = "/store/.filedb/journal"
  private static let tables = ["a", "b"]

  /// Two tables with records in their files; where `isPending`, with commits that wait for both.
  private static func sample(isPending: Bool) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    for table in tables {
      try store.table(table).add(
        contentsOf: (1...3).map { ["n": .integer($0), "text": .string("as it was <&> \($0)")] })
    }
    try store.checkpoint()
    guard isPending else { return disk }
    try store.write { tx in
      for table in tables {
        try tx.set(["n": 20], of: 2, in: .records(table))
        try tx.add(contentsOf: [["n": 4], ["n": 5]], to: .records(table), at: .top)
      }
    }
    try store.table("a").move(1, to: .top)
    try store.table("b").delete(3)
    return disk
  }

  private static func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  private static func rows(_ store: RecordStore) throws -> [String: [StoredRow<Record>]] {
    var rows: [String: [StoredRow<Record>]] = [:]
    for table in tables { rows[table] = try Array(store.table(table).snapshot) }
    return rows
  }

  private static func areSame(_ left: [String: [StoredRow<Record>]], _ right: [String: [StoredRow<Record>]])
    -> Bool
  {
    left.allSatisfy { table, rows in
      rows.elementsEqual(right[table] ?? []) { $0.id == $1.id && $0.record == $1.record }
    }
  }

  private static let isFull = ProcessInfo.processInfo.environment["FILEDB_DAMAGE"] == "all"

  /// The changes of a byte that are tried: one bit, or with `FILEDB_DAMAGE=all` every bit, and all of them at once.
  private static func changes(_ random: inout SeededRandom) -> [UInt8] {
    let bits = (0..<8).map { UInt8(1) << $0 }
    return isFull ? bits + [0xFF] : [bits.randomElement(using: &random)!]
  }

  private struct Counts {
    var (harmless, noticed) = (0, 0)

    var text: String { "\(harmless + noticed) cases, \(harmless) harmless, \(noticed) noticed and repaired" }
  }

  @Test func aDamagedByteOfTheJournalIsNoticedAndPutRight() throws {
    let sound = try Self.sample(isPending: true)
    let expected = try Self.rows(Self.open(sound))
    let bytes = try sound.read(Self.journal).bytes
    let end = JournalScan(bytes, at: 0, after: nil).end
    var random = SeededRandom.fromEnvironment("damage to the journal")
    var counts = Counts()
    for place in 0..<end {
      for change in Self.changes(&random) {
        let disk = sound.surviving()
        var damaged = bytes
        damaged[place] ^= change
        _ = try disk.replace(Self.journal, with: damaged)
        let store = try Self.open(disk)
        if let finding = try store.checkJournal() {
          counts.noticed += 1
          #expect(finding.error.file == Self.journal && finding.error.message.contains("(byte "))
          #expect(storeError { _ = try store.table("a") }?.code == finding.error.code)
          // Of what may be another version's journal we keep our hands.
          if finding.error.code == StoreError.newerFormat { continue }
          #expect(try store.repairJournal()?.plan.lostCount == 0)
        } else {
          counts.harmless += 1
        }
        #expect(try Self.areSame(expected, Self.rows(store)), "byte \(place), change \(change)")
        try store.table("a").add(["n": 6])
        try store.checkInvariants()
      }
    }
    print("a byte of the journal: \(counts.text)")
    #expect(counts.noticed > 9 * counts.harmless, "only the filling between frames is nobody's")
  }

  @Test func aJournalThatIsCutOffIsNoticed() throws {
    let sound = try Self.sample(isPending: true)
    let bytes = try sound.read(Self.journal).bytes
    let scan = JournalScan(bytes, at: 0, after: nil)
    var counts = Counts()
    for length in Array(stride(from: 0, to: scan.end + 128, by: Self.isFull ? 1 : 9)) + [
      40_000, bytes.count - 1,
    ] {
      let disk = sound.surviving()
      _ = try disk.replace(Self.journal, with: Array(bytes[..<length]))
      let store = try Self.open(disk)
      #expect(try store.checkJournal()?.error.code == StoreError.damagedJournal, "cut at \(length)")
      let repair = try #require(try store.repairJournal())
      #expect(try disk.read(repair.backup.path).bytes.count == length)
      counts.noticed += 1
      // Each commit that is whole is there.
      let whole = scan.frames.count {
        $0.frame.kind == .commit && $0.offset + 64 + $0.frame.payload.count <= length
      }
      let counted = try store.table("a").counter
      #expect(counted == (whole == 0 ? 3 : 5), "cut at \(length)")
      let store2 = try Self.open(disk)
      try store2.table("a").add(["n": 6])
      try store2.checkInvariants()
    }
    print("a journal that is cut off: \(counts.text)")
  }

  /// With commits waiting, the journal knows what the file ought to be, so that nothing goes unnoticed.
  @Test func aDamagedByteOfATableCostsAtMostItsRecord() throws {
    let sound = try Self.sample(isPending: true)
    let expected = try Self.rows(Self.open(sound))
    let bytes = try sound.read("/store/a.plist").bytes
    let places = try recordPlaces(in: bytes)
    var random = SeededRandom.fromEnvironment("damage to a table")
    var counts = Counts()
    for place in bytes.indices {
      for change in Self.changes(&random) {
        let disk = sound.surviving()
        var damaged = bytes
        damaged[place] ^= change
        _ = try disk.replace("/store/a.plist", with: damaged)
        let store = try Self.open(disk)
        let error = storeError { _ = try store.table("a") }
        #expect(error?.code == StoreError.conflict && error?.file == "/store/a.plist")
        counts.noticed += 1
        if storeError({ try store.repair("a", keeping: .journal) }) != nil {
          // What no longer looks like a table, or is in another encoding by its own word, is left for a person.
          #expect(!places.contains { $0.contains(place) }, "byte \(place), change \(change)")
          continue
        }
        let hit = places.firstIndex { $0.contains(place) }.map { $0 + 1 }
        let found = try store.table("a").snapshot
        for row in expected["a"] ?? [] where row.id.rawValue != Int64(hit ?? 0) {
          #expect(found.contains { $0.record == row.record }, "byte \(place), change \(change): \(row.id)")
        }
        #expect(try Self.areSame(["b": expected["b"] ?? []], Self.rows(store)))
        try store.table("a").add(["n": 6])
        try store.checkInvariants()
      }
    }
    print("a byte of a table with commits waiting: \(counts.text)")
  }

  @Test func aTableThatIsCutOffKeepsItsWholeRecordsAndTheCommits() throws {
    let sound = try Self.sample(isPending: true)
    let bytes = try sound.read("/store/a.plist").bytes
    let places = try recordPlaces(in: bytes)
    for length in stride(from: places[0].upperBound, to: bytes.count, by: 3) {
      let disk = sound.surviving()
      _ = try disk.replace("/store/a.plist", with: Array(bytes[..<length]))
      let store = try Self.open(disk)
      #expect(storeError { _ = try store.table("a") }?.code == StoreError.conflict)
      try store.repair("a", keeping: .journal)
      let ids = Set(try store.table("a").snapshot.ids.map(\.rawValue))
      let whole = Set((1...3).filter { places[$0 - 1].upperBound <= length }.map(Int64.init))
      // The commits bring back what they hold themselves.
      #expect(ids == whole.union([2, 4, 5]), "cut at \(length)")
      try store.checkInvariants()
    }
  }

  /// Where the records lie in a table's bytes, in order.
  private func recordPlaces(in bytes: [UInt8]) throws -> [Range<Int>] {
    let (open, close) = (Array("\t\t<dict>\n".utf8), Array("\t\t</dict>".utf8))
    var places: [Range<Int>] = []
    var rest = bytes[...]
    while let start = rest.firstRange(of: open)?.lowerBound,
      let end = bytes[start...].firstRange(of: close)?.upperBound
    {
      places.append(start..<end)
      rest = bytes[end...]
    }
    try #require(places.count == 3)
    return places
  }
}
