import FileDBStorage
import Synchronization
import TestSupport
import Testing

private let path = "/journal"

/// A payload of some pieces, each of 700 bytes: more than a sector.
private struct Pieces: PayloadSource {
  let count: Int

  var bytes: [UInt8] { (0..<count).flatMap { [UInt8](repeating: 65 + UInt8($0 % 26), count: 700) } }

  func writePayload<Failure>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    for number in 0..<count { try sink([UInt8](repeating: 65 + UInt8(number % 26), count: 700)) }
  }
}

/// Frames that are written piece by piece.
@Suite struct LongFrameTests {
  /// A disk with a journal that holds commit 1.
  private func newJournal() throws -> MemoryDisk {
    let disk = MemoryDisk()
    _ = try disk.install([Journal.stage(path, on: disk, after: 0)])
    var journal = try open(disk)
    try journal.append(.commit, Array("first".utf8))
    return disk
  }

  private func open(_ disk: any Disk) throws -> Journal {
    try #require(try Journal.open(path, on: disk)).journal
  }

  private func payloads(on disk: any Disk) throws -> [[UInt8]] {
    try #require(try Journal.open(path, on: disk)).frames.dropFirst().map { Array($0.payload) }
  }

  @Test(arguments: [1, 2, 3, 20, 200])
  func itIsTheSameFrame(count: Int) throws {
    let (disk, whole) = (try newJournal(), try newJournal())
    for (disk, payload) in [
      (disk, JournalPayload(of: Pieces(count: count))), (whole, JournalPayload(Pieces(count: count).bytes)),
    ] {
      var journal = try open(disk)
      try journal.append(.commit, payload)
      try journal.append(.commit, Array("behind it".utf8))
    }
    #expect(disk.image == whole.image)
    #expect(
      try payloads(on: disk) == [Array("first".utf8), Pieces(count: count).bytes, Array("behind it".utf8)])
  }

  /// One piece is a single write; of more, each ends with a sector, so that none is in part of one write and in part of another.
  @Test func noSectorIsWrittenTwice() throws {
    let disk = FaultyDisk(over: try newJournal())
    var journal = try open(disk)
    try journal.append(.commit, JournalPayload(of: Pieces(count: 1)))
    #expect(disk.written[.writeAt]?.dropFirst() == [768])
    #expect(journal.end == 1_024)
    try journal.append(.commit, JournalPayload(of: Pieces(count: 3)))
    #expect(disk.written[.writeAt]?.dropFirst(2) == [512, 512, 1_024, 128])
  }

  /// The disk fails at each verb, for once or for good, with the half of a piece written or none of it.
  @Test(arguments: Failure.all)
  func whereItFailsTheFrameIsNotThere(failure: Failure) throws {
    for verb in 0... {
      let disk = try newJournal()
      var other = try open(disk)
      let faulty = FaultyDisk(over: disk, faults: failure.faults(at: verb))
      guard var journal = try? open(faulty) else { continue }
      // These end with a sector, so that there is nothing but them for the last write.
      let error = diskError { try journal.append(.commit, JournalPayload(of: Pieces(count: 80))) }
      #expect(error != nil || journal.end % 512 == 0)
      if faulty.faultCount == 0 {
        #expect(error == nil && journal.sequence == 2)
        break
      }
      #expect(error?.errno == failure.errno && journal.sequence == 1, "verb \(verb)")
      #expect(try other.readOn().isEmpty, "verb \(verb)")
      #expect(try payloads(on: disk) == [Array("first".utf8)], "verb \(verb)")
      // Both who failed, if his disk works again, and another process go on.
      if failure.lasting {
        try other.append(.commit, Array("second".utf8))
      } else {
        try journal.append(.commit, Array("second".utf8))
        #expect(try other.readOn().map(\.sequence) == [2], "verb \(verb)")
      }
      #expect(try payloads(on: disk) == [Array("first".utf8), Array("second".utf8)], "verb \(verb)")
      #expect(JournalScan(try disk.read(path).bytes, at: 0, after: nil).isTorn == false, "verb \(verb)")
    }
  }

  /// A process dies while it clears away a torn frame of several megabytes: another one, which had the journal open, finds
  /// that there is still something to clear away, before it writes a frame that ends amid that.
  @Test func clearingAwayMayEndHalfWay() throws {
    for verb in 0... {
      let disk = try newJournal()
      var other = try open(disk)
      var torn = try open(disk)
      let long = JournalPayload(of: Pieces(count: 5_000))
      let start = torn.end
      try torn.append(.commit, long)
      try disk.open(path).write([0], at: start + 64 + long.count - 1)
      let faulty = FaultyDisk(over: disk, faults: .fail(at: verb, lasting: true, halfWritten: true))
      if var cleaner = try? open(faulty) { try? cleaner.append(.commit, Array("second".utf8)) }
      let isDone = faulty.faultCount == 0
      _ = try other.readOn()
      let third = [UInt8](repeating: 66, count: 1_500_000)
      try other.append(.commit, third)
      let expected = [Array("first".utf8)] + (isDone ? [Array("second".utf8)] : []) + [third]
      #expect(try payloads(on: disk) == expected, "verb \(verb)")
      if isDone { break }
    }
  }

  /// A reader holds no lock: what it finds between two pieces is no damage, and no frame.
  @Test func whoReadsMeanwhileSeesNothingOfIt() throws {
    let disk = try newJournal()
    let reader = Mutex(try open(disk))
    let seen = Mutex<[Result<[Int], any Error>]>([])
    let watched = FaultyDisk(over: disk) { _, verb in
      guard verb == .writeAt else { return }
      let counts = Result {
        [try reader.withLock { try $0.readOn() }.count, try Journal.open(path, on: disk)?.frames.count ?? 0]
      }
      seen.withLock { $0.append(counts) }
    }
    var journal = try open(watched)
    try journal.append(.commit, JournalPayload(of: Pieces(count: 30)))
    for counts in seen.withLock({ $0 }) { #expect(try counts.get() == [0, 2]) }
    #expect(seen.withLock(\.count) > 20)
    #expect(try reader.withLock { try $0.readOn() }.map(\.sequence) == [2])
  }

  /// What another process wrote and nobody synced is written again, however long it is.
  @Test func aLongFrameThatMayBeLostIsWrittenAgain() throws {
    let disk = try newJournal()
    var first = try open(disk)
    try first.append(.commit, JournalPayload(of: Pieces(count: 4_000)))
    let recording = FaultyDisk(over: disk)
    var second = try open(recording)
    try second.append(.commit, Array("third".utf8))
    let written = try #require(recording.written[.writeAt])
    #expect(written.max()! <= 1 << 20)
    #expect(written.reduce(0, +) >= second.end - JournalFrame.paddedCount(0) * 2)
    #expect(try payloads(on: disk).count == 3)
  }
}
