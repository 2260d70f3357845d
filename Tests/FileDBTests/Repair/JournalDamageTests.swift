import FileDB
import FileDBStorage
import TestSupport
import Testing

/// Every byte of a small store's journal is damaged in turn, and it is cut off at every length.
@Suite struct JournalDamageTests {
  @Test func damagedJournalByteIsDetectedAndRepaired() throws {
    let sample = try DamagedStore(.waiting)
    let bytes = try sample.bytes(DamagedStore.journal)
    var random = SeededRandom.fromEnvironment("damage to the journal")
    var counts = DamageCounts()
    for place in 0..<JournalScan(bytes, at: 0, after: nil).end {
      for change in DamagedStore.changes(&random) {
        var damaged = bytes
        damaged[place] ^= change
        let store = try sample.with(damaged, in: DamagedStore.journal)
        if let error = storeError({ _ = try store.table("a") }) {
          counts.noticed += 1
          #expect(error.code == .damagedJournal && error.file == DamagedStore.journal)
          #expect(error.message.contains("(byte "))
          let repair = try #require(try store.repairJournal())
          #expect(repair.lostCount == 0)
          #expect(try store.disk.read(#require(repair.backup).path).bytes == damaged)
          counts.repaired += 1
        } else {
          counts.harmless += 1
        }
        #expect(try DamagedStore.has(store, sample.contents), "byte \(place), change \(change)")
        try counts.checkWriting(store, "a")
      }
    }
    counts.print("a byte of the journal")
    #expect(counts.noticed > 9 * counts.harmless, "only the filling between frames is nobody's")
  }

  @Test func tablesInTheSoundPartAreListed() throws {
    let disk = MemoryDisk()
    let store = try DamagedStore.open(disk)
    for table in ["first", "second", "third"] { try store.table(table).add(["n": 1]) }
    try store.write { tx in try tx["first"].drop() }
    var bytes = try disk.read(DamagedStore.journal).bytes
    let place = JournalScan(bytes, at: 0, after: nil).frames[3].offset + 70
    for place in [place, place + 1] { bytes[place] ^= 1 }  // The checksum could correct a single one.
    _ = try disk.replace(DamagedStore.journal, with: bytes)
    let damaged = try DamagedStore.open(disk)
    #expect(storeError { _ = try damaged.table("second") }?.code == .damagedJournal)
    #expect(try damaged.tableNames == ["second"])
  }

  @Test func truncatedJournalIsDetectedAndKeepsWholeCommits() throws {
    let sample = try DamagedStore(.waiting)
    let bytes = try sample.bytes(DamagedStore.journal)
    let scan = JournalScan(bytes, at: 0, after: nil)
    // After the last frame, all lengths are alike.
    let far = DamagedStore.isFull ? Array(scan.end + 128..<bytes.count) : [40_000, bytes.count - 1]
    var counts = DamageCounts()
    for length in Array(stride(from: 0, to: scan.end + 128, by: DamagedStore.step)) + far {
      counts.noticed += 1
      try checkCutOff(sample, Array(bytes[..<length]), scan, counts)
      counts.repaired += 1
    }
    counts.print("a journal that is cut off")
  }

  /// After a repair, every intact commit is there, and everything that was in the files.
  private func checkCutOff(
    _ sample: DamagedStore, _ bytes: [UInt8], _ scan: JournalScan, _ counts: DamageCounts
  ) throws {
    let length = bytes.count
    let store = try sample.with(bytes, in: DamagedStore.journal)
    let error = storeError { _ = try store.table("a") }
    #expect(error?.code == .damagedJournal && error?.file == DamagedStore.journal)
    #expect(error?.message.contains("(byte ") == true)
    try store.repairJournal()
    let whole = scan.frames.map {
      ($0.frame.kind, isWhole: $0.offset + 64 + $0.frame.payload.count <= length)
    }
    let written = try #require(whole.lastIndex { $0.0 == .written })
    // If the journal no longer tells what the files include, it may seem to have commits for them.
    if !whole[written].isWhole {
      for table in DamagedStore.tables where storeError({ _ = try store.table(table) })?.code == .conflict {
        try store.repair(table, keeping: .file)
      }
    }
    let expected = sample.history[whole[written...].count { $0.0 == .commit && $0.isWhole }]
    #expect(try DamagedStore.has(store, expected), "cut at \(length)")
    try counts.checkWriting(store, "a")
  }
}
