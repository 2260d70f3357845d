import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

private let path = "/journal"

private func journalError(_ body: () throws(JournalError) -> Void) -> JournalDamage? {
  do {
    try body()
    return nil
  } catch {
    if case .damaged(let damage, _) = error { return damage }
    return nil
  }
}

/// A new journal on a new disk, after commit 4.
private func newJournal() throws -> (disk: MemoryDisk, journal: Journal) {
  let disk = MemoryDisk()
  _ = try disk.install(Journal.stage(path, on: disk, after: 4))
  return (disk, try #require(try Journal.open(path, on: disk)).journal)
}

@Suite struct JournalTests {
  @Test func frameBytesHoldHeaderPayloadAndChecksums() {
    let frame = JournalFrame(kind: .commit, sequence: 161, synced: 160, payload: Array("payload".utf8)[...])
    let bytes = String(decoding: frame.bytes(salt: 0), as: UTF8.self)
    #expect(bytes.hasPrefix("commit     0000000000a1 0000000000a0 00000007 "))
    #expect(bytes.utf8.count == 128)
    #expect(bytes.dropFirst(64) == "payload" + String(repeating: "\n", count: 57))
    // The checksums are those of the payload, and of what stands before the second one.
    #expect(bytes.dropFirst(46).prefix(8) == String(Checksum.of("payload".utf8), radix: 16))
    #expect(bytes.dropFirst(55).prefix(9) == String(Checksum.of(bytes.utf8.prefix(54)), radix: 16) + "\n")
  }

  @Test func appendedFramesAreReadByOthersAndAfterReopening() throws {
    var (disk, journal) = try newJournal()
    var other = try #require(try Journal.open(path, on: disk)).journal
    for number in 5...40 {
      let payload = [UInt8](repeating: UInt8(number), count: number * 100)
      try journal.append(.commit, payload)
      let frames = try #require(try other.readOn(on: disk))
      #expect(frames.map(\.payload) == [payload[...]])
      #expect(frames.map(\.sequence) == [UInt64(number)])
    }
    #expect(try other.readOn(on: disk)?.isEmpty == true)
    try other.append(.checkpoint, Array("c".utf8))
    #expect(try journal.readOn(on: disk)?.map(\.kind) == [.checkpoint])
    let (anew, frames) = try #require(try Journal.open(path, on: disk))
    #expect(frames.map(\.sequence) == [4] + (5...40) + [40])
    #expect(anew.end == other.end && anew.end % 64 == 0)
    #expect(try disk.read(path).bytes.count % Journal.allocation == 0, "it grew by whole pieces")
  }

  /// A look at the file's times would make the next commit slower. They may also be older than its bytes.
  @Test func nobodyAsksForTheTimesOfTheFile() throws {
    var (memory, writer) = try newJournal()
    let disk = FaultyDisk(over: memory, faults: .refuse(.status, errno: EIO))
    var reader = try #require(try Journal.open(path, on: disk)).journal
    #expect(try reader.readOn(on: disk)?.isEmpty == true)
    try writer.append(.commit, Array("first".utf8))
    #expect(try reader.readOn(on: disk)?.map(\.sequence) == [5])
    try reader.append(.commit, Array("second".utf8))
    #expect(try writer.readOn(on: memory)?.map(\.sequence) == [6])
  }

  @Test func replacedOrRemovedJournalIsNotCurrent() throws {
    var (disk, journal) = try newJournal()
    #expect(try journal.isCurrent(on: disk))
    _ = try disk.install(Journal.stage(path, on: disk, after: 9))
    #expect(try !journal.isCurrent(on: disk))
    #expect(try journal.readOn(on: disk) == nil)
    try disk.remove(path)
    #expect(try !journal.isCurrent(on: disk))
    #expect(try Journal.open(path, on: disk) == nil)
  }

  @Test func lastFrameCutOffAnywhereIsSkipped() throws {
    var (disk, journal) = try newJournal()
    try journal.append(.commit, Array("first".utf8))
    let whole = journal.end
    try journal.append(.commit, [UInt8](repeating: 1, count: 1_500))
    let bytes = try disk.read(path).bytes
    for length in 0..<(journal.end - whole - 64) {
      var torn = bytes
      for place in whole + length..<journal.end { torn[place] = 0 }
      // The line feeds that fill up the frame belong to no commit.
      let scan = JournalScan(torn, at: 0, after: nil)
      #expect(scan.damage == nil, "after \(length) bytes")
      #expect(scan.frames.count == (length >= 64 + 1_500 ? 3 : 2), "after \(length) bytes")
    }
  }

  @Test func lastFrameWithoutSomeSectorsIsSkipped() throws {
    var (disk, journal) = try newJournal()
    try journal.append(.commit, Array("first".utf8))
    let start = journal.end
    try journal.append(.commit, [UInt8](repeating: 1, count: 2_000))
    let bytes = try disk.read(path).bytes
    let sectors = Array(start / 512...(start + 64 + 2_000 - 1) / 512)
    for lost in 1..<1 << sectors.count {
      var torn = bytes
      for (number, sector) in sectors.enumerated() where lost >> number & 1 == 1 {
        for place in max(start, sector * 512)..<(sector + 1) * 512 { torn[place] = 0 }
      }
      let scan = JournalScan(torn, at: 0, after: nil)
      #expect(scan.damage == nil && scan.frames.count == 2, "sectors \(lost)")
    }
  }

  /// Otherwise an old frame could later seem to follow a new one.
  @Test func remainsOfCrashAreClearedBeforeNextFrame() throws {
    var (disk, journal) = try newJournal()
    let start = journal.end
    for number in 1...3 { try journal.append(.commit, [UInt8](repeating: UInt8(number), count: 100)) }
    // Of three frames that no sync had covered, the first did not reach the medium.
    try disk.open(path).write([UInt8](repeating: 0, count: 192), at: start)
    var (anew, frames) = try #require(try Journal.open(path, on: disk))
    #expect(frames.count == 1)
    try anew.append(.commit, [UInt8](repeating: 9, count: 100))
    let again = try #require(try Journal.open(path, on: disk))
    #expect(again.frames.dropFirst().map(\.payload.first) == [9])
  }

  @Test func missingSyncedFrameIsDamage() throws {
    var (disk, journal) = try newJournal()
    let start = journal.end
    try journal.append(.commit, [UInt8](repeating: 1, count: 100))
    journal.didSync(through: 5)
    try journal.append(.commit, [UInt8](repeating: 2, count: 100))
    try disk.open(path).write([UInt8](repeating: 0, count: 192), at: start)
    let damage = journalError { () throws(JournalError) in _ = try Journal.open(path, on: disk) }
    #expect(damage == JournalDamage(reason: .missing, offset: start))
  }

  @Test func changedCutOffOrMisplacedFramesAreDamage() throws {
    var (disk, journal) = try newJournal()
    let start = journal.end
    try journal.append(.commit, [UInt8](repeating: 1, count: 100))
    let bytes = try disk.read(path).bytes
    func damage(_ change: (inout [UInt8]) -> Void) throws -> JournalDamage? {
      var changed = bytes
      change(&changed)
      _ = try disk.replace(path, with: changed)
      return journalError { () throws(JournalError) in _ = try Journal.open(path, on: disk) }
    }
    #expect(try damage { _ in } == nil)
    #expect(try damage { $0[start + 3] ^= 1 } == JournalDamage(reason: .changed, offset: start))
    #expect(try damage { $0[start + 70] ^= 1 } == JournalDamage(reason: .changed, offset: start))
    #expect(try damage { $0 = [] } == JournalDamage(reason: .noStart, offset: 0))
    #expect(
      try damage { $0 = [UInt8](repeating: 0, count: 65_536) } == JournalDamage(reason: .noStart, offset: 0))
    #expect(
      try damage { $0 = Array($0[..<65_535]) }
        == JournalDamage(reason: .cutOff(length: 65_535), offset: 65_535))
    #expect(
      try damage { $0.replaceSubrange(start..<start + 192, with: $0[0..<128] + $0[start..<start + 64]) }
        == JournalDamage(reason: .outOfOrder, offset: start))
  }

  /// An interrupted write leaves more than a single zero: everything behind it in the sector is zero, too.
  @Test(arguments: [63, 64 + 99]) func singleZeroAtTheEndOfALineOrPayloadIsDamage(place: Int) throws {
    var (disk, journal) = try newJournal()
    let start = journal.end
    try journal.append(.commit, [UInt8](repeating: 65, count: 100))
    try disk.open(path).write([0], at: start + place)
    let damage = journalError { () throws(JournalError) in _ = try Journal.open(path, on: disk) }
    #expect(damage == JournalDamage(reason: .changed, offset: start))
  }

  /// The length of the file is synced before a frame is written there, so a frame beyond the end was cut off later.
  @Test func grownJournalCutInsideFrameIsDamage() throws {
    var (disk, journal) = try newJournal()
    var starts: [Int] = []
    for length in [Journal.allocation, 100, 100] {
      starts.append(journal.end)
      try journal.append(.commit, [UInt8](repeating: 65, count: length))
    }
    let bytes = try disk.read(path).bytes
    for length in starts[1] - 100..<journal.end {
      _ = try disk.replace(path, with: Array(bytes[..<length]))
      let damage = journalError { () throws(JournalError) in _ = try Journal.open(path, on: disk) }
      let hit = starts.last { $0 <= length }!
      // Between two frames, and in the filling of one, nothing tells.
      let count = hit == starts[0] ? Journal.allocation : 100
      let isBetween = length == hit || length >= hit + 64 + count
      let expected = JournalDamage(reason: .cutOff(length: length), offset: hit)
      #expect(damage == (isBetween ? nil : expected), "cut at \(length)")
    }
  }

  @Test func journalOfLaterFormatIsReportedAsUnknown() throws {
    let start = JournalFrame(
      kind: .start, sequence: 4, synced: 4, payload: Array("FileDB journal 3\n65536\n".utf8)[...]
    ).bytes(salt: 0)
    let ours = JournalFrame(kind: .commit, sequence: 5, synced: 4, payload: Array("payload".utf8)[...]).bytes(
      salt: 0)
    var theirs = ours
    theirs.replaceSubrange(0..<6, with: Array("thing ".utf8))
    for frame in [ours, theirs] {
      let disk = MemoryDisk()
      let rest = [UInt8](repeating: 0, count: Journal.allocation - start.count - frame.count)
      _ = try disk.replace(path, with: start + frame + rest)
      let damage = journalError { () throws(JournalError) in _ = try Journal.open(path, on: disk) }
      #expect(damage == JournalDamage(reason: .unknownFormat("FileDB journal 3\n65536\n"), offset: 0))
    }
  }

  @Test func halfWrittenFrameIsOverwrittenByNextFrame() throws {
    var (disk, journal) = try newJournal()
    try journal.append(.commit, Array("first".utf8))
    let before = journal.end
    // Half of a frame, which the next one must not build on.
    try disk.open(path).write(Array("commit     0000".utf8), at: before)
    #expect(try journal.readOn(on: disk)?.isEmpty == true)
    try journal.append(.commit, Array("second".utf8))
    let frames = try #require(try Journal.open(path, on: disk)).frames
    #expect(frames.dropFirst().map { Array($0.payload) } == [Array("first".utf8), Array("second".utf8)])
  }

  /// Found by the crash states: another process grew the file but failed to sync the new length. After a power cut, a
  /// frame that crossed the former end was half lost and looked like damage.
  @Test func unsyncedGrowthIsSyncedBeforeNextFrame() throws {
    let (disk, _) = try newJournal()
    let failing = FaultyDisk(over: disk, faults: .fail(at: 6))
    var first = try #require(try Journal.open(path, on: failing)).journal
    let long = [UInt8](repeating: 65, count: Journal.allocation)
    #expect(throws: DiskError.self) { try first.append(.commit, long) }
    #expect(failing.verbs.suffix(2) == [.writeAt, .syncData])

    let recording = FaultyDisk(over: disk)
    var second = try #require(try Journal.open(path, on: recording)).journal
    let read = recording.verbs.count
    try second.append(.commit, long)
    #expect(recording.verbs[read...] == [.writeAt, .syncData, .writeAt])
    #expect(try #require(try Journal.open(path, on: disk)).frames.last?.payload == long[...])
  }

  /// Each process that writes one frame to a long journal would write a megabyte of zeros before it.
  @Test func lengthThatAFrameNeededIsNotSyncedAgain() throws {
    var (disk, journal) = try newJournal()
    try journal.append(.commit, [UInt8](repeating: 65, count: 3 * Journal.allocation))
    for _ in 0..<3 {
      let recording = FaultyDisk(over: disk)
      var next = try #require(try Journal.open(path, on: recording)).journal
      let read = recording.verbs.count
      try next.append(.commit, Array("short".utf8))
      #expect(!recording.verbs[read...].contains(.syncData))
      #expect(recording.written[.writeAt, default: []].reduce(0, +) < 4 * Journal.allocation)
    }
    #expect(try disk.read(path).bytes.count == 4 * Journal.allocation)
  }

  /// Without a lock, on a real disk, where a read may see half of a write.
  @Test func readerDuringWritesSeesNoDamage() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, disk) = (folder.path + "/journal", SystemDisk())
    _ = try disk.install(Journal.stage(path, on: disk, after: 0))
    let writer = Mutex<Result<Void, any Error>?>(nil)
    let end = startThread("the writer") {
      let outcome = Result {
        var journal = try #require(try Journal.open(path, on: disk)).journal
        for number in 1...1_500 {
          try journal.append(.commit, [UInt8](repeating: 65, count: number % 700 + 1))
          journal.didSync(through: journal.sequence)
        }
      }
      writer.withLock { $0 = outcome }
    }
    var follower = try #require(try Journal.open(path, on: disk)).journal
    while writer.withLock({ $0 == nil }) {
      _ = try follower.readOn(on: disk)
      _ = try Journal.open(path, on: disk)
    }
    try end.wait()
    try writer.withLock { try $0?.get() }
    _ = try follower.readOn(on: disk)
    #expect(follower.sequence == 1_500)
  }
}
