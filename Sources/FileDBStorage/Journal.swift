/// The file to which commits go before they reach the tables: frames one after another, in a file that was made longer
/// than it needs to be, so that one more is a single write and a single sync.
///
/// Adding to it is for who holds the store's lock; reading is for anybody at any time.
package struct Journal: Sendable {
  /// How long the file is made, and by how much it grows at least.
  package static let allocation = 64 << 10
  /// By how much it grows at most, unless a frame needs more; and how much of a long stretch is in memory at a time.
  private static let largestPiece = 1 << 20

  package let path: String
  package let file: any OpenFile
  /// As of when it was last looked at, before what was found then was read.
  private var stamp: FileStamp
  /// Of the format that it was made in; see ``JournalStart``.
  package private(set) var format = JournalStart.newestFormat
  /// See ``JournalStart/undoStep``.
  package private(set) var undoStep: String?
  /// The last commit in the file.
  package private(set) var sequence: UInt64 = 0
  /// The last commit that is known to be on the medium.
  package private(set) var synced: UInt64 = 0
  /// Where the next frame goes.
  package private(set) var end = 0
  private var length = 0
  /// How long it stays whatever happens. A process that grew it may have failed to sync that.
  private var provenLength = 0
  /// Tells it from other journals; 0 in format 1.
  package private(set) var salt: UInt32 = 0
  /// Whether a crash left something else than zeros behind the end, which ``clean()`` removes.
  package private(set) var isTorn = false
  /// Where the frames begin that another process wrote and may have failed to sync. The system reports that once, to
  /// that process, and may never write them: so they are written again before anything is built on them.
  private var doubtfulStart: Int?

  /// The journal at `path` and the frames in it; `nil` if there is none.
  package static func open(
    _ path: String, on disk: any Disk
  ) throws(JournalError) -> (journal: Journal, frames: [JournalFrame])? {
    var journal: Journal
    do throws(DiskError) {
      let file = try disk.open(path)
      journal = Journal(path: path, file: file, stamp: try file.status().stamp)
    } catch {
      if error.kind == .notFound { return nil }
      throw .disk(error)
    }
    let scan = try journal.scan(after: nil)
    let start = try journal.start(scan.frames.first?.frame)
    (journal.format, journal.salt, journal.undoStep) = (start.format, start.salt, start.undoStep)
    journal.take(scan)
    let proven = scan.frames.last {
      [.start, .commit].contains($0.frame.kind) && $0.frame.sequence <= journal.synced
    }
    let doubtful = scan.frames.first { $0.offset > proven?.offset ?? 0 }
    journal.doubtfulStart = doubtful?.offset
    journal.provenLength = max(start.length, doubtful?.offset ?? journal.end)
    return (journal, scan.frames.map(\.frame))
  }

  private init(path: String, file: any OpenFile, stamp: FileStamp) {
    self.path = path
    self.file = file
    self.stamp = stamp
  }

  /// A new journal that is to take the place of the one at `path`, or to be the first.
  /// - Parameters:
  ///   - sequence: the number of the last commit in the one before.
  ///   - undoStep: see ``JournalStart/undoStep``.
  ///   - frames: the kinds and payloads of those that this one has already.
  package static func stage(
    _ path: String, on disk: any Disk, after sequence: UInt64, undoStep: String? = nil,
    frames: [(kind: JournalFrame.Kind, payload: [UInt8])] = []
  ) throws(DiskError) -> StagedFile {
    let start = JournalStart(length: allocation, salt: .random(in: 1 ... .max), undoStep: undoStep)
    var (bytes, number) = ([UInt8](), sequence)
    for (kind, payload) in [(.start, start.payload)] + frames {
      if kind == .commit { number += 1 }
      let frame = JournalFrame(kind: kind, sequence: number, synced: number, payload: payload[...])
      bytes += frame.bytes(salt: start.salt)
    }
    bytes += [UInt8](repeating: 0, count: max(0, allocation - bytes.count))
    return try disk.stage(bytes, for: path)
  }

  /// Tells its file from a copy of it.
  package var inode: UInt64 { stamp.inode }

  /// Whether this is still the journal at its path: a checkpoint puts another one there.
  package func isCurrent(on disk: any Disk) throws(DiskError) -> Bool {
    try currentStamp(on: disk) != nil
  }

  private func currentStamp(on disk: any Disk) throws(DiskError) -> FileStamp? {
    guard let present = try disk.comparedStamp(path) else { return nil }
    return present.inode == stamp.inode && present.device == stamp.device ? present : nil
  }

  /// Whether surely nobody has added anything since it was last read, nor put another journal in its place: that takes
  /// its name from it, which changes the time of its status. Quicker than a look at the path.
  package var isUntouched: Bool {
    get throws(DiskError) {
      guard try file.status().stamp.provesUnchanged(since: stamp) else { return false }
      // The system notes the time of a write before it has the bytes, on a busy disk long before.
      return try isZero(file.read(at: end, count: JournalFrame.Header.count)[...])
    }
  }

  /// The frames that others added since; `nil` if this is no longer the journal at its path.
  package mutating func readOn(on disk: any Disk) throws(JournalError) -> [JournalFrame]? {
    let line = try onDisk { () throws(DiskError) -> [UInt8]? in
      guard let present = try currentStamp(on: disk) else { return nil }
      stamp = present
      return try file.read(at: end, count: JournalFrame.Header.count)
    }
    guard let line else { return nil }
    guard !isZero(line[...]) else { return [] }
    let scan = try scan(after: sequence)
    take(scan)
    return scan.frames.map(\.frame)
  }

  /// Writes a frame behind the last one, in one piece. It survives a power cut once ``file`` was synced. Where this
  /// fails, the frame is not there.
  ///
  /// Whoever calls it has called ``clean()``, ``reserve(_:)`` and ``rewriteDoubtful()`` before.
  package mutating func write(_ kind: JournalFrame.Kind, _ payload: consuming [UInt8]) throws(DiskError) {
    let number = kind == .commit ? sequence + 1 : sequence
    let header = JournalFrame.Header(
      kind: kind, sequence: number, synced: synced, length: payload.count, checksum: Checksum.of(payload))
    do {
      try file.write(JournalFrame.encode(header, payload, salt: salt), at: end)
    } catch {
      isTorn = true
      throw error
    }
    end += JournalFrame.paddedCount(header.length)
    sequence = number
  }

  /// Whether another process wrote frames and may have failed to sync them.
  package var isDoubtful: Bool { doubtfulStart != nil }

  /// Writes the frames again that another process wrote and may have failed to sync. The next sync covers them.
  package mutating func rewriteDoubtful() throws(DiskError) {
    guard let start = doubtfulStart else { return }
    for start in stride(from: JournalScan.sectorStart(start), to: end, by: Self.largestPiece) {
      try file.write(try file.read(at: start, count: min(end - start, Self.largestPiece)), at: start)
    }
    doubtfulStart = nil
  }

  /// Remembers that the commits up to this one are on the medium.
  package mutating func noteSynced(through sequence: UInt64) { synced = max(synced, sequence) }

  /// Removes what a crash or a failed write left behind the end: else it might one day seem to follow a new frame.
  /// - Returns: whether the file must be synced before a frame is written.
  package mutating func clean() throws(DiskError) -> Bool {
    guard isTorn else { return false }
    var wasClean = true
    // From its end on: for as long as there is any of it, its line tells that to others.
    for start in stride(from: end, to: length, by: Self.largestPiece).reversed() {
      let rest = try file.read(at: start, count: min(length - start, Self.largestPiece))
      guard let last = rest.lastIndex(where: { $0 != 0 }) else { continue }
      try file.write([UInt8](repeating: 0, count: last + 1), at: start)
      wasClean = false
    }
    isTorn = false
    return !wasClean
  }

  /// Makes the file long enough for a frame with a payload of `count` bytes. It must stay so before the frame goes
  /// there: on ext4 another process whose own sync waits for the same pages may return before the new length is on the
  /// medium. Zeros that others wrote are written again: what a failed sync has dropped, the next does not bring back.
  /// - Returns: whether the file must be synced before a frame is written, and ``noteLengthSynced()`` be called.
  package mutating func reserve(_ count: Int) throws(DiskError) -> Bool {
    let needed = end + JournalFrame.paddedCount(count)
    guard needed > provenLength else { return false }
    let step = min(max(length, Self.allocation), Self.largestPiece)
    let grown = needed > length ? (max(needed, length + step) + 63) & ~63 : length
    for start in stride(from: max(end, provenLength), to: grown, by: Self.largestPiece) {
      try file.write([UInt8](repeating: 0, count: min(grown - start, Self.largestPiece)), at: start)
    }
    length = grown
    return true
  }

  /// Remembers that the file stays as long as it is.
  package mutating func noteLengthSynced() { provenLength = length }

  /// What is in the file from ``end`` on.
  private mutating func scan(after sequence: UInt64?) throws(JournalError) -> JournalScan {
    var suspected: JournalDamage?
    while true {
      let bytes = try onDisk { () throws(DiskError) in
        length = try file.status().stamp.size
        return try file.read(at: end, count: max(length - end, 0))
      }
      let scan = JournalScan(bytes, at: end, after: sequence, salt: salt)
      guard let damage = scan.damage else { return scan }
      // What is damage to us may be sound in another format.
      if sequence == nil, let first = scan.frames.first { _ = try start(first.frame) }
      // A writer may have been at work between one sector and the next. What is still so when it is read again, is so.
      if damage == suspected { throw .damaged(damage, path: path) }
      suspected = damage
    }
  }

  private mutating func take(_ scan: JournalScan) {
    end = scan.end
    isTorn = scan.isTorn
    sequence = scan.frames.last?.frame.sequence ?? sequence
    synced = max(synced, scan.frames.map(\.frame.synced).max() ?? 0)
  }

  private func start(_ frame: JournalFrame?) throws(JournalError) -> JournalStart {
    do throws(JournalDamage) {
      guard let frame else { throw JournalDamage(reason: .noStart, offset: 0) }
      let start = try JournalStart(frame.payload)
      guard length >= start.length else {
        throw JournalDamage(reason: .cutOff(length: length), offset: length)
      }
      return start
    } catch {
      throw .damaged(error, path: path)
    }
  }
}

/// What the first frame says: the format, how long the file was made, and the salt of the other frames.
package struct JournalStart {
  /// Format 1 has commits as property lists, and no salt.
  package static let newestFormat = 2
  private static let title = "FileDB journal"

  let format: Int
  let length: Int
  /// A random number that is mixed into the checksum of each other frame's line; 0 in format 1.
  let salt: UInt32

  /// The newest step of the undo log when this journal began: its commit is in one of the journals before.
  let undoStep: String?

  init(length: Int, salt: UInt32, undoStep: String?) {
    (format, self.length, self.salt, self.undoStep) = (Self.newestFormat, length, salt, undoStep)
  }

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)``: then no other frame need mean what it means here.
  init(_ payload: ArraySlice<UInt8>) throws(JournalDamage) {
    let lines = String(decoding: payload, as: UTF8.self).split(separator: "\n")
    switch (lines.first, lines.count) {
    case ("\(Self.title) 1", 2): (format, salt, undoStep) = (1, 0, nil)
    case ("\(Self.title) 2", 3...4):
      (format, salt) = (2, try Self.number(lines[2], radix: 16, in: payload))
      undoStep = lines.count == 4 ? String(lines[3]) : nil
    default: throw Self.unknown(payload)
    }
    length = try Self.number(lines[1], radix: 10, in: payload)
  }

  private static func number<Number: FixedWidthInteger>(
    _ digits: Substring, radix: Int, in payload: ArraySlice<UInt8>
  ) throws(JournalDamage) -> Number {
    guard let number = Number(digits, radix: radix) else { throw unknown(payload) }
    return number
  }

  private static func unknown(_ payload: ArraySlice<UInt8>) -> JournalDamage {
    JournalDamage(
      reason: .unknownFormat(String(decoding: payload.prefix(40), as: UTF8.self)), offset: 0)
  }

  var payload: [UInt8] {
    let step = undoStep.map { "\($0)\n" } ?? ""
    return Array("\(Self.title) \(format)\n\(length)\n\(hexadecimal(salt))\n\(step)".utf8)
  }
}

package enum JournalError: Error, Sendable {
  case disk(DiskError)
  case damaged(JournalDamage, path: String)
}

private func onDisk<Result>(_ body: () throws(DiskError) -> Result) throws(JournalError) -> Result {
  do { return try body() } catch { throw .disk(error) }
}
