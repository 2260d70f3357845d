import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// The file with the records of a large commit is damaged. Each record that can be read survives a repair.
@Suite struct RecordsFileSalvageTests {
  private static let count: Int64 = 30

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 256
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  /// A store with a large commit.
  private struct Sample {
    let disk: MemoryDisk
    /// Where the records of the commit are.
    let file: String
    let bytes: [UInt8]
    let contents: [String: [String]]
  }

  /// - Parameter isOfOneChange: otherwise the commit adds to two tables, and changes a record between.
  private func makeSample(isOfOneChange: Bool) throws -> Sample {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("a").add(["n": 0])
    try store.checkpoint()
    let records: [Fields] = (1...Self.count).map {
      ["n": .integer($0), "text": .string("the text of \($0)")]
    }
    try store.write { tx in
      try tx["a"].add(contentsOf: records)
      if isOfOneChange { return }
      try tx["a"].set(["n": -1], of: 1)
      try tx["b"].add(contentsOf: records)
    }
    let name = try #require(try disk.list("/store/.filedb").first { $0.hasPrefix("records-") })
    let file = "/store/.filedb/\(name)"
    return Sample(disk: disk, file: file, bytes: try disk.read(file).bytes, contents: try contents(disk))
  }

  private func contents(_ disk: MemoryDisk) throws -> [String: [String]] {
    let store = try open(disk)
    var contents: [String: [String]] = [:]
    for table in ["a", "b"] where try store.tableNames.contains(table) {
      contents[table] = try store.table(table).lastSnapshot.map { "\($0.id) \($0.fields)" }
    }
    return contents
  }

  /// Repairs a store whose file of records has other bytes.
  /// - Returns: the records that are not there any more, those that are there and were not, and the report.
  private func repair(
    _ sample: Sample, with bytes: [UInt8]
  ) throws -> (missing: [String], new: [String], report: JournalRepairReport) {
    let disk = MemoryDisk(sample.disk.image)
    _ = try disk.replace(sample.file, with: bytes)
    let store = try open(disk)
    let report = try #require(try store.repairJournal())
    let found = try contents(disk)
    var (missing, new): ([String], [String]) = ([], [])
    for (table, records) in sample.contents {
      let kept = found[table] ?? []
      let common = records.filter { kept.contains($0) }
      #expect(kept.filter { records.contains($0) } == common, "the order of '\(table)'")
      missing += records.filter { !kept.contains($0) }.map { "\(table) \($0)" }
      new += kept.filter { !records.contains($0) }.map { "\(table) \($0)" }
      #expect(try store.table(table).add(["n": 99]).rawValue > Self.count)
    }
    try store.checkInvariants()
    try store.checkNothingIsLeftBehind()
    return (missing, new, report)
  }

  @Test(arguments: [true, false]) func wrongByteCostsOneRecordAtMost(isOfOneChange: Bool) throws {
    let sample = try makeSample(isOfOneChange: isOfOneChange)
    let sound = sample.bytes
    var counts = (corrected: 0, leftOut: 0, wrong: 0)
    for place in stride(from: 0, to: sound.count, by: isOfOneChange ? 3 : 5) {
      var bytes = sound
      bytes[place] ^= place.isMultiple(of: 2) ? 1 : 0x80
      let (missing, new, report) = try repair(sample, with: bytes)
      let comment: Comment = "byte \(place): \(report.notes)"
      #expect(missing.count <= 1 && new.count <= missing.count, comment)
      #expect(report.lostCount == missing.count, comment)
      #expect(report.notes.contains { $0.contains("records-") }, comment)
      if missing.isEmpty {
        counts.corrected += 1
      } else if new.isEmpty {
        counts.leftOut += 1
      } else {
        counts.wrong += 1
      }
    }
    print("wrong bytes in a file of records: \(counts)")
    #expect(counts.corrected > 100 && counts.wrong > 2)
  }

  @Test(arguments: [true, false]) func severalWrongBytesCostTheirRecords(isOfOneChange: Bool) throws {
    let sample = try makeSample(isOfOneChange: isOfOneChange)
    let sound = sample.bytes
    var random = SeededRandom.fromEnvironment("severalWrongBytesCostTheirRecords")
    for _ in 0..<60 {
      var bytes = sound
      let hits = (0..<Int.random(in: 2...4, using: &random)).map { _ in
        sound.indices.randomElement(using: &random)!
      }
      for place in hits { bytes[place] = UInt8.random(in: 1..<128, using: &random) }
      guard bytes != sound else { continue }
      let (missing, new, report) = try repair(sample, with: bytes)
      let comment: Comment = "bytes \(hits): \(report.notes)"
      #expect(new.count <= missing.count, comment)
      #expect(missing.isEmpty || report.lostCount > 0, comment)
      // Damaged ends of records may hide which change the records between them belong to.
      if isOfOneChange { #expect(missing.count <= 2 * hits.count, comment) }
    }
  }

  @Test(arguments: [true, false]) func fileThatIsCutOffKeepsItsFirstRecords(isOfOneChange: Bool) throws {
    let sample = try makeSample(isOfOneChange: isOfOneChange)
    let sound = sample.bytes
    let ends = sound.ranges(of: "\t\t</dict>\n".utf8).map(\.upperBound)
    for length in stride(from: 0, to: sound.count, by: 61) {
      let bytes = Array(sound[..<length])
      let (missing, new, report) = try repair(sample, with: bytes)
      let keptCount = ends.count { $0 <= length }
      #expect(new.count <= 1, "the record that the commit changes as it was before: \(length)")
      // If nothing is left, the commit is left out as a whole.
      let lostCount = keptCount == 0 ? 1 : ends.count - keptCount
      #expect(report.lostCount == lostCount, "\(length): \(report.notes)")
      #expect(missing.count == ends.count - keptCount, "\(length): \(missing)")
    }
  }

  @Test func missingFileLeavesTheCommitOut() throws {
    let sample = try makeSample(isOfOneChange: true)
    try sample.disk.remove(sample.file)
    let store = try open(sample.disk)
    #expect(try #require(try store.repairJournal()).lostCount == 1)
    #expect(try store.table("a").count == 1)
    #expect(try store.table("a").add(["n": 99]).rawValue > Self.count)
  }
}
