import FileDBEssentials

/// The file to which commits go before they reach the tables. It contains one frame after another. It is longer than
/// its frames need, so that adding a frame takes a single write and a single sync.
///
/// Only the holder of the store's lock may add frames. Anybody may read them at any time.
package struct Journal: Sendable {
  /// The length of a new file. It is doubled when it is full.
  package static let allocation = 64 << 10
  /// From here on, the length grows by this much. Also the size of the pieces in which long stretches are processed.
  private static let largestPiece = 1 << 20

  package let path: String
  package let file: any OpenFile
  /// The file as it was at the last look.
  private var extent: FileExtent
  /// The first line. If it changes, another program has written another journal into this file.
  private var firstLine: [UInt8] = []
  /// The format that the journal was created in; see ``JournalStart``.
  package private(set) var format = JournalStart.newestFormat
  /// See ``JournalStart/lastToken`` and ``JournalStart/undoStep``.
  package private(set) var lastToken: String?
  package private(set) var undoStep: String?
  /// See ``JournalStart/machine``.
  package private(set) var machine: String?
  /// The last commit in the file.
  package private(set) var sequence: UInt64 = 0
  /// The last commit that is known to be durable.
  package private(set) var synced: UInt64 = 0
  /// The last commit of which a frame says so.
  private var recordedSync: UInt64 = 0
  /// Where the next frame goes.
  package private(set) var end = 0
  private var length = 0
  /// The length that is known to be durable. Another process may have extended the file and failed to sync that. But
  /// before it writes a frame, it syncs the length that this frame needs; see ``length(for:)``.
  private var provenLength = 0
  /// Tells this journal from others.
  package private(set) var salt: UInt32 = 0
  /// Whether a crash left anything but zeros after the end. ``clean()`` removes it.
  package private(set) var isTorn = false
  /// Where the frames begin that another process wrote and may have failed to sync. The system reports such a failure
  /// once, to that process, and may never write the bytes. So they are written again before anything is built on them.
  private var doubtfulStart: Int?

  /// The journal at `path` and the frames in it; `nil` if there is none.
  package static func open(
    _ path: String, on disk: any Disk
  ) throws(JournalError) -> (journal: Journal, frames: [JournalFrame])? {
    var journal: Journal
    do throws(DiskError) {
      let file = try disk.open(path)
      journal = Journal(path: path, file: file, extent: try file.extent())
    } catch {
      if error.kind == .notFound { return nil }
      throw .disk(error)
    }
    journal.firstLine = try journal.line(at: 0)
    let scan = try journal.scan(after: nil)
    let start = try journal.start(scan.frames.first?.frame)
    (journal.format, journal.salt) = (start.format, start.salt)
    (journal.lastToken, journal.undoStep, journal.machine) = (start.lastToken, start.undoStep, start.machine)
    journal.take(scan)
    let proven = scan.frames.last {
      [.start, .commit].contains($0.frame.kind) && $0.frame.sequence <= journal.synced
    }
    let doubtful = scan.frames.first { $0.offset > proven?.offset ?? 0 }
    journal.doubtfulStart = doubtful?.offset
    return (journal, scan.frames.map(\.frame))
  }

  /// Creates a journal that is to replace the one at `path`, or to be the first.
  /// - Parameters:
  ///   - sequence: the number of the last commit before it.
  ///   - lastToken, undoStep: see ``JournalStart/lastToken`` and ``JournalStart/undoStep``.
  ///   - salt: see ``JournalStart/salt``.
  ///   - frames: the kinds and payloads of the frames that it begins with.
  package static func stage(
    _ path: String, on disk: any Disk, after sequence: UInt64, lastToken: String? = nil,
    undoStep: String? = nil, salt: UInt32 = .random(in: 1 ... .max),
    frames: [(kind: JournalFrame.Kind, payload: [UInt8])] = []
  ) throws(DiskError) -> StagedFile {
    let start = JournalStart(
      length: allocation, salt: salt, lastToken: lastToken, undoStep: undoStep, machine: disk.machine)
    var (bytes, number) = ([UInt8](), sequence)
    for (kind, payload) in [(.start, start.payload)] + frames {
      if kind == .commit { number += 1 }
      let frame = JournalFrame(kind: kind, sequence: number, synced: number, payload: payload[...])
      bytes += frame.bytes(salt: start.salt)
    }
    bytes += [UInt8](repeating: 0, count: length(for: bytes.count) - bytes.count)
    return try disk.stage(bytes, for: path)
  }

  /// Tells the file from a copy of it.
  package var inode: UInt64 { extent.inode }

  /// Whether this is still the journal at its path. A checkpoint puts another one there.
  package func isCurrent(on disk: any Disk) throws(DiskError) -> Bool { try isFile(at: path, on: disk) }

  /// Whether this journal now has the name `path`.
  package func isFile(at path: String, on disk: any Disk) throws(DiskError) -> Bool {
    try disk.extent(path)?.isSameFile(as: extent) ?? false
  }

  /// Whether the file has another name, as of the last look. Then another store may write to it, too.
  package var isShared: Bool { extent.names > 1 }

  /// The frames that others have added since; `nil` if this is no longer the journal at its path.
  package mutating func readOn(on disk: any Disk) throws(JournalError) -> [JournalFrame]? {
    // Do not look at the file's times. They may be older than its bytes, and a look makes the next commit slower.
    guard let present = try onDisk(disk.extent(path)),
      present.isSameFile(as: extent)
    else { return nil }
    extent = present
    guard try line(at: 0) == firstLine else { return nil }
    guard try !isZero(line(at: end)[...]) else { return [] }
    let scan = try scan(after: sequence)
    take(scan)
    return scan.frames.map(\.frame)
  }

  private func line(at offset: Int) throws(JournalError) -> [UInt8] {
    try onDisk(file.read(at: offset, count: JournalFrame.Header.count))
  }

  /// Writes a frame after the last one, in one call. The frame survives a power cut once ``file`` is synced. If writing
  /// fails, there is no such frame.
  ///
  /// Call ``clean()``, ``reserve(_:)`` and ``rewriteDoubtful()`` first.
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
    recordedSync = synced
  }

  /// Whether another process wrote frames and may have failed to sync them.
  package var isDoubtful: Bool { doubtfulStart != nil }

  /// Writes again the frames that another process wrote and may have failed to sync. The next sync covers them.
  package mutating func rewriteDoubtful() throws(DiskError) {
    guard let start = doubtfulStart else { return }
    for start in stride(from: JournalScan.sectorStart(start), to: end, by: Self.largestPiece) {
      try file.write(try file.read(at: start, count: min(end - start, Self.largestPiece)), at: start)
    }
    doubtfulStart = nil
  }

  /// Whether commits are durable of which no frame says so. The next process that opens the journal would write them
  /// again.
  package var knowsMoreThanItsFrames: Bool { synced > recordedSync }

  /// Must be called when the commits up to this one are durable.
  package mutating func didSync(through sequence: UInt64) { synced = max(synced, sequence) }

  /// Removes what a crash or a failed write left after the end. Otherwise it might one day seem to follow a new frame.
  /// - Returns: whether the file must be synced before a frame is written.
  package mutating func clean() throws(DiskError) -> Bool {
    guard isTorn else { return false }
    var wasClean = true
    // Work backwards. As long as any of it is left, its first line tells others that it is there.
    for start in stride(from: end, to: length, by: Self.largestPiece).reversed() {
      let rest = try file.read(at: start, count: min(length - start, Self.largestPiece))
      guard let last = rest.lastIndex(where: { $0 != 0 }) else { continue }
      try file.write([UInt8](repeating: 0, count: last + 1), at: start)
      wasClean = false
    }
    isTorn = false
    return !wasClean
  }

  /// Makes the file long enough for a frame with a payload of `count` bytes. The new length must be durable before the
  /// frame is written: on ext4, the sync of another process that waits for the same pages may return before the new
  /// length is durable. Zeros that others wrote are written again, because a sync does not bring back what an earlier,
  /// failed sync has dropped.
  /// - Returns: whether to sync the file and call ``didSyncLength()`` before a frame is written.
  package mutating func reserve(_ count: Int) throws(DiskError) -> Bool {
    let needed = end + JournalFrame.paddedCount(count)
    guard needed > provenLength else { return false }
    guard needed <= OwnName.journal.longestFile else { throw DiskError("write", path, errno: EFBIG) }
    let grown = max(length, Self.length(for: needed))
    for start in stride(from: max(end, provenLength), to: grown, by: Self.largestPiece) {
      try file.write([UInt8](repeating: 0, count: min(grown - start, Self.largestPiece)), at: start)
    }
    length = grown
    return true
  }

  /// How long a file is whose frames end at `end`. All writers use these lengths, so the frames that are there tell
  /// which length is durable.
  private static func length(for end: Int) -> Int {
    if end > largestPiece { return (end + largestPiece - 1) / largestPiece * largestPiece }
    var length = allocation
    while length < end { length *= 2 }
    return length
  }

  /// Must be called when the file's present length is durable.
  package mutating func didSyncLength() { provenLength = length }

  /// Reads the file from ``end`` on.
  private mutating func scan(after sequence: UInt64?) throws(JournalError) -> JournalScan {
    var suspected: JournalDamage?
    while true {
      length = try onDisk(file.extent().size)
      let bytes = try onDisk(file.read(at: end, count: max(length - end, 0)))
      let scan = JournalScan(bytes, at: end, after: sequence, salt: salt)
      guard let damage = scan.damage else { return scan }
      // What looks like damage may be sound in another format.
      if sequence == nil, let first = scan.frames.first { _ = try start(first.frame) }
      // A writer may have been writing between two sectors. If a second reading finds the same, it is damage.
      if damage == suspected { throw .damaged(damage, path: path) }
      suspected = damage
    }
  }

  private mutating func take(_ scan: JournalScan) {
    end = scan.end
    isTorn = scan.isTorn
    sequence = scan.frames.last?.frame.sequence ?? sequence
    recordedSync = max(recordedSync, scan.frames.map(\.frame.synced).max() ?? 0)
    synced = max(synced, recordedSync)
    provenLength = max(provenLength, min(length, Self.length(for: end)))
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

/// The content of the first frame: the format, the initial length of the file, the salt of the other frames, and what
/// is known of the commits before.
package struct JournalStart {
  /// Format 2 took over commits with new numbers, and its checkpoints included all commits up to their frame.
  package static let newestFormat = 3
  private static let title = "FileDB journal"

  let format: Int
  let length: Int
  /// A random number that is mixed into the checksum of the header of every other frame.
  let salt: UInt32
  /// The token of the last commit before this journal, if there is one and it is known. A process that has read this
  /// commit tells by it that the journal continues the one that it knows.
  let lastToken: String?
  /// The newest step of the undo log when this journal began.
  let undoStep: String?
  /// The machine that made the journal, if that is known. A service that copies folders may bring another machine's.
  let machine: String?

  init(length: Int, salt: UInt32, lastToken: String?, undoStep: String?, machine: String?) {
    (format, self.length, self.salt) = (Self.newestFormat, length, salt)
    (self.lastToken, self.undoStep, self.machine) = (lastToken, undoStep, machine)
  }

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)``. Then the other frames may mean something else than here.
  init(_ payload: ArraySlice<UInt8>) throws(JournalDamage) {
    let lines = String(decoding: payload, as: UTF8.self).split(separator: "\n")
    guard lines.count >= 3 else { throw Self.unknown(payload) }
    switch (lines[0], lines.count) {
    case ("\(Self.title) 2", 3...4):
      (format, lastToken, undoStep, machine) = (2, nil, lines.count == 4 ? String(lines[3]) : nil, nil)
    case ("\(Self.title) 3", 3...6):
      format = 3
      lastToken = Self.value("last", in: lines)
      undoStep = Self.value("undo", in: lines)
      machine = Self.value("machine", in: lines)
    default: throw Self.unknown(payload)
    }
    length = try Self.number(lines[1], radix: 10, in: payload)
    salt = try Self.number(lines[2], radix: 16, in: payload)
  }

  private static func value(_ word: String, in lines: [Substring]) -> String? {
    let line = lines.dropFirst(3).first { $0.hasPrefix("\(word) ") }
    return line.map { String($0.dropFirst(word.utf8.count + 1)) }
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
    let values = [("last", lastToken), ("undo", undoStep), ("machine", machine)].compactMap { word, value in
      value.map { "\(word) \($0)" }
    }
    let lines = ["\(Self.title) \(format)", "\(length)", String(hexadecimal: salt, width: 8)] + values
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }
}

package enum JournalError: Error, Sendable {
  case disk(DiskError)
  case damaged(JournalDamage, path: String)
}

private func onDisk<Result>(_ call: @autoclosure () throws(DiskError) -> Result) throws(JournalError)
  -> Result
{
  do { return try call() } catch { throw .disk(error) }
}
