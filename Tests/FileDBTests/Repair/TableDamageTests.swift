import FileDB
import FileDBStorage
import TestSupport
import Testing

/// Every byte of a small store's tables is damaged in turn, and their files are cut off at every length.
@Suite struct TableDamageTests {
  @Test(arguments: DamagedStore.Commits.allCases)
  func damagedByteCostsAtMostItsRecord(commits: DamagedStore.Commits) throws {
    let sample = try DamagedStore(commits)
    var random = SeededRandom.fromEnvironment("damage to a table, commits: \(commits)")
    var counts = DamageCounts()
    for table in DamagedStore.tables {
      let file = DamagedStore.file(of: table)
      let bytes = try sample.bytes(file)
      let places = try sample.places(in: bytes)
      for place in bytes.indices {
        let hit = Set(places.filter { $0.value.contains(place) }.keys)
        for change in changes(table, &random) {
          var damaged = bytes
          damaged[place] ^= change
          let store = try sample.with(damaged, in: file)
          if let error = storeError({ _ = try store.table(table) }) {
            counts.noticed += 1
            checkPlace(error, file, commits)
            try store.repair(table, keeping: commits == .waiting ? .journal : nil)
            counts.repaired += 1
          } else {
            // It looks as if an editor had saved another text, on which waiting commits are carried out.
            counts.harmless += 1
          }
          #expect(
            try DamagedStore.has(store, sample.contents, besides: hit),
            "\(table), byte \(place), change \(change)")
          try counts.checkWriting(store, table)
        }
      }
    }
    counts.print("a byte of a table, commits: \(commits)")
  }

  /// The two files are alike: unless the run is full, each change is tried on one of them only.
  private func changes(_ table: String, _ random: inout SeededRandom) -> [UInt8] {
    if DamagedStore.isFull { return DamagedStore.changes(&random) }
    return [table == "a" ? DamagedStore.oneBit(&random) : DamagedStore.allBits]
  }

  /// The error names the file, and the line unless it concerns the whole file: a conflict, or that it is not a table.
  private func checkPlace(_ error: StoreError, _ file: String, _ commits: DamagedStore.Commits) {
    #expect(error.file == file)
    switch commits {
    case .none: #expect(error.line != nil || error.code == .notATable, "\(error)")
    case .waiting: #expect(error.code == .conflict, "\(error)")
    }
  }

  @Test(arguments: DamagedStore.Commits.allCases)
  func truncatedTableKeepsItsWholeRecords(commits: DamagedStore.Commits) throws {
    let sample = try DamagedStore(commits)
    var counts = DamageCounts()
    for table in DamagedStore.isFull ? DamagedStore.tables : ["a"] {
      let file = DamagedStore.file(of: table)
      let bytes = try sample.bytes(file)
      let places = try sample.places(in: bytes)
      for length in stride(from: 0, to: bytes.count, by: DamagedStore.step) {
        let store = try sample.with(Array(bytes[..<length]), in: file)
        guard let error = storeError({ _ = try store.table(table) }) else {
          counts.harmless += 1
          #expect(try DamagedStore.has(store, sample.contents), "\(table), cut at \(length)")
          continue
        }
        counts.noticed += 1
        #expect(error.file == file)
        // The line end after the last tag may be missing.
        let gone = Set(places.filter { $0.value.upperBound - 1 > length }.keys)
        do {
          try store.repair(table, keeping: commits == .waiting ? .journal : nil)
        } catch {
          // If nothing looks like a table any more, a person has to decide.
          #expect(commits == .none && gone.count == 3, "\(table), cut at \(length): \(error)")
          continue
        }
        counts.repaired += 1
        #expect(
          try DamagedStore.has(store, sample.contents, besides: gone), "\(table), cut at \(length)")
        try counts.checkWriting(store, table)
      }
    }
    counts.print("a table that is cut off, commits: \(commits)")
  }
}
