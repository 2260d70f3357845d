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
  private let stamp: FileStamp
  /// The last commit in the file.
  package private(set) var sequence: UInt64 = 0
  /// The last commit that is known to be on the medium.
  package private(set) var synced: UInt64 = 0
  /// Where the next frame goes.
  package private(set) var end = 0
  private var length = 0
  /// How long it stays whatever happens. A process that grew it may have failed to sync that.
  private var provenLength = 0
  /// Whether there is something else than zeros behind the end.
  private var isTorn = false
  /// Where the frames begin that another process wrote and may have failed to sync. The system reports that once, to that
  /// process, and may never write them: so they are written again before anything is built on them.
  private var doubtfulStart: Int?

  /// The journal at `path` and the frames in it; `nil` where there is none.
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
    journal.take(scan)
    let proven = scan.frames.last { $0.frame.kind != .checkpoint && $0.frame.sequence <= journal.synced }
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
  ///   - commit: the payload of the first commit in this one, if it has one already.
  package static func stage(
    _ path: String, on disk: any Disk, after sequence: UInt64, commit: [UInt8]? = nil
  ) throws(DiskError) -> StagedFile {
    func frame(_ kind: JournalFrame.Kind, _ number: UInt64, _ payload: [UInt8]) -> [UInt8] {
      JournalFrame(kind: kind, sequence: number, synced: number, payload: payload[...]).bytes
    }
    let start = frame(.start, sequence, JournalStart(length: allocation).payload)
    let bytes = start + (commit.map { frame(.commit, sequence + 1, $0) } ?? [])
    return try disk.stage(
      bytes + [UInt8](repeating: 0, count: max(0, allocation - bytes.count)), for: path)
  }

  /// Whether this is still the journal at its path: a checkpoint puts another one there.
  package func isCurrent(on disk: any Disk) throws(DiskError) -> Bool {
    guard let present = try disk.status(path)?.stamp else { return false }
    return present.inode == stamp.inode && present.device == stamp.device
  }

  /// The frames that others added since.
  package mutating func readOn() throws(JournalError) -> [JournalFrame] {
    let line = try onDisk { () throws(DiskError) in
      try file.read(at: end, count: JournalFrame.Header.count)
    }
    guard !isZero(line[...]) else { return [] }
    let scan = try scan(after: sequence)
    take(scan)
    return scan.frames.map(\.frame)
  }

  /// Adds a frame, which survives a power cut once ``file`` was synced. Where it fails, the frame is not there.
  package mutating func append(
    _ kind: JournalFrame.Kind, _ payload: consuming JournalPayload
  ) throws(DiskError) {
    if isTorn { try clean() }
    let number = kind == .commit ? sequence + 1 : sequence
    let header = JournalFrame.Header(
      kind: kind, sequence: number, synced: synced, length: payload.count, checksum: payload.checksum)
    let next = end + JournalFrame.paddedCount(payload.count)
    try grow(toHold: next)
    do {
      try rewriteDoubtful()
      try write(header, payload.content)
    } catch {
      isTorn = true
      throw error
    }
    doubtfulStart = nil
    end = next
    sequence = number
  }

  private func rewriteDoubtful() throws(DiskError) {
    guard let doubtfulStart else { return }
    for start in stride(from: JournalScan.sectorStart(doubtfulStart), to: end, by: Self.largestPiece) {
      try file.write(try file.read(at: start, count: min(end - start, Self.largestPiece)), at: start)
    }
  }

  private func write(
    _ header: JournalFrame.Header, _ content: consuming JournalPayload.Content
  ) throws(DiskError) {
    switch content {
    case .bytes(let payload): try file.write(JournalFrame.encode(header, payload), at: end)
    case .pieces(let source):
      var place = end
      var next = header.bytes
      try source.writePayload { piece throws(DiskError) in
        next += piece
        // No two writes share a sector: the first half of one alone would look like damage. Some of the payload is left for
        // the last write, until which the frame is none.
        let cut = JournalScan.sectorStart(place + next.count - 1)
        guard cut > place else { return }
        let rest = Array(next[(cut - place)...])
        next.removeLast(rest.count)
        try file.write(next, at: place)
        (place, next) = (cut, rest)
      }
      try file.write(next + JournalFrame.filling(header.length), at: place)
    }
  }

  /// Remembers that the commits up to this one are on the medium.
  package mutating func noteSynced(through sequence: UInt64) { synced = max(synced, sequence) }

  /// Removes what a crash or a failed write left behind the end: else it might one day seem to follow a new frame.
  private mutating func clean() throws(DiskError) {
    var wasClean = true
    // From its end on: for as long as there is any of it, its line tells that to others.
    for start in stride(from: end, to: length, by: Self.largestPiece).reversed() {
      let rest = try file.read(at: start, count: min(length - start, Self.largestPiece))
      guard let last = rest.lastIndex(where: { $0 != 0 }) else { continue }
      try file.write([UInt8](repeating: 0, count: last + 1), at: start)
      wasClean = false
    }
    if !wasClean { try file.syncData(.full) }
    isTorn = false
  }

  /// Makes the file longer, and sees to it that it stays so before a frame goes there: on ext4 another process whose own
  /// sync waits for the same pages may return before the new length is on the medium. Zeros that others wrote are written
  /// again: what a failed sync has dropped, the next does not bring back.
  private mutating func grow(toHold needed: Int) throws(DiskError) {
    guard needed > provenLength else { return }
    let step = min(max(length, Self.allocation), Self.largestPiece)
    let grown = needed > length ? (max(needed, length + step) + 63) & ~63 : length
    for start in stride(from: max(end, provenLength), to: grown, by: Self.largestPiece) {
      try file.write([UInt8](repeating: 0, count: min(grown - start, Self.largestPiece)), at: start)
    }
    try file.syncData(.full)
    length = grown
    provenLength = grown
  }

  /// What is in the file from ``end`` on.
  private mutating func scan(after sequence: UInt64?) throws(JournalError) -> JournalScan {
    var suspected: JournalDamage?
    while true {
      let bytes = try onDisk { () throws(DiskError) in
        length = try file.status().stamp.size
        return try file.read(at: end, count: max(length - end, 0))
      }
      let scan = JournalScan(bytes, at: end, after: sequence)
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

/// What the first frame says: the format, and how long the file was made.
struct JournalStart {
  private static let format = "FileDB journal 1"

  var length: Int

  init(length: Int) { self.length = length }

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)``: then no other frame need mean what it means here.
  init(_ payload: ArraySlice<UInt8>) throws(JournalDamage) {
    let lines = String(decoding: payload, as: UTF8.self).split(separator: "\n")
    guard lines.count == 2, lines[0] == Self.format, let length = Int(lines[1]) else {
      let text = String(decoding: payload.prefix(40), as: UTF8.self)
      throw JournalDamage(reason: .unknownFormat(text), offset: 0)
    }
    self.length = length
  }

  var payload: [UInt8] { Array("\(Self.format)\n\(length)\n".utf8) }
}

package enum JournalError: Error, Sendable {
  case disk(DiskError)
  case damaged(JournalDamage, path: String)
}

private func onDisk<Result>(_ body: () throws(DiskError) -> Result) throws(JournalError) -> Result {
  do { return try body() } catch { throw .disk(error) }
}
