import FileDBEssentials

/// A journal that is not as it was written.
package struct JournalDamage: Error, Equatable, Sendable {
  package enum Reason: Equatable, Sendable {
    /// The file does not begin as a journal does.
    case noStart
    /// It was made by a version of this library that does more.
    case unknownFormat(String)
    /// It is shorter than it was made.
    case cutOff(length: Int)
    /// The frame's bytes are not those that were written.
    case changed
    /// The frame is whole and has the number of another.
    case outOfOrder
    /// A frame that was on the medium is gone: a later one says so.
    case missing
  }

  package let reason: Reason
  /// Where the first bad frame begins.
  package let offset: Int

  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// The frames in a piece of a journal, up to its end or to where it is no longer sound.
///
/// A crash leaves the last frames, those that no sync had yet covered, whole, partly written or not there, and each is
/// then cut off: where it was not written the file still has its zeros. Anything else is damage: a frame without zeros
/// that does not fit its checksum, one that goes past the end of the file, which was that long before, or a bad one
/// that a later one knows to have been synced.
package struct JournalScan: Sendable {
  /// A disk writes whole sectors of at least this size.
  private static let sector = 512

  /// Where the sector begins in which the byte at `offset` is.
  static func sectorStart(_ offset: Int) -> Int { offset - offset % sector }

  /// The journal's; found in its first frame where that is among these.
  package private(set) var salt: UInt32

  package private(set) var frames: [(frame: JournalFrame, offset: Int)] = []
  /// Where the next frame goes.
  package private(set) var end: Int
  /// Whether behind the last whole frame lies what a crash left of others.
  package private(set) var isTorn = false
  package private(set) var damage: JournalDamage?

  private let bytes: [UInt8]
  private let base: Int

  /// - Parameters:
  ///   - bytes: the journal from the offset `base` on, to the end of the file.
  ///   - sequence: the number of the last commit before; `nil` at the beginning.
  ///   - salt: the journal's; at its beginning its first frame says it.
  package init(_ bytes: [UInt8], at base: Int, after sequence: UInt64?, salt: UInt32 = 0) {
    self.bytes = bytes
    self.base = base
    self.salt = salt
    end = base
    var last = sequence
    while let frame = readFrame(after: last) {
      if frame.kind == .start, let start = try? JournalStart(frame.payload) { self.salt = start.salt }
      frames.append((frame, end))
      last = frame.sequence
      end += JournalFrame.paddedCount(frame.payload.count)
    }
    guard damage == nil else { return }
    isTorn = !isZero(rest)
    if isTorn, knowsSynced((last ?? 0) + 1) { damage = JournalDamage(reason: .missing, offset: end) }
  }

  /// What is behind the last frame, of which the line feeds at the end may have been cut off.
  private var rest: ArraySlice<UInt8> { bytes[min(end - base, bytes.count)...] }

  /// The frame at ``end``; `nil` where there is none, or none that is whole.
  private mutating func readFrame(after last: UInt64?) -> JournalFrame? {
    let rest = rest
    let line = rest.prefix(JournalFrame.Header.count)
    guard let header = JournalFrame.Header(line, salt: salt) else {
      if line.count < JournalFrame.Header.count {
        if !isZero(line) { fail(.cutOff(length: base + bytes.count)) }
      } else if !isCutOff(line: rest) {
        fail(.changed)
      }
      return nil
    }
    let payload = rest.dropFirst(JournalFrame.Header.count).prefix(header.length)
    guard payload.count == header.length else {
      fail(.cutOff(length: base + bytes.count))
      return nil
    }
    guard Checksum.of(payload) == header.checksum else {
      if !isCutOff(payload: payload) { fail(.changed) }
      return nil
    }
    let isNext = last.map { header.sequence == $0 + (header.kind == .commit ? 1 : 0) } ?? true
    guard isNext, (header.kind == .start) == (last == nil) else {
      fail(.outOfOrder)
      return nil
    }
    // A part of the bytes keeps all of them in memory, which is right only where it is most of them.
    return JournalFrame(
      kind: header.kind, sequence: header.sequence, synced: header.synced,
      payload: payload.count > bytes.count / 2 ? payload : Array(payload)[...])
  }

  private mutating func fail(_ reason: JournalDamage.Reason) {
    damage = JournalDamage(reason: reason, offset: end)
  }

  /// Whether a crash interrupted the write of the line that `rest` begins with.
  ///
  /// A line lies within one sector. An interrupted write leaves zeros from some byte to the end of that sector; an
  /// interrupted clearing leaves them from the first byte on.
  private func isCutOff(line rest: ArraySlice<UInt8>) -> Bool {
    let lastByte = end + JournalFrame.Header.count - 1
    let sectorEnd = Self.sectorStart(lastByte) + Self.sector
    return rest.first == 0 || isZero(rest.prefix(sectorEnd - end).dropFirst(lastByte - end))
  }

  /// Whether a crash interrupted the write of the payload: zeros stand from some byte to the end of its frame, or in a
  /// whole sector.
  private func isCutOff(payload: ArraySlice<UInt8>) -> Bool {
    let filling = bytes[payload.endIndex...].prefix(JournalFrame.filling(payload.count).count)
    if payload.last == 0, isZero(filling) { return true }
    var start = payload.startIndex
    while start < payload.endIndex {
      let next = min(Self.sectorStart(base + start) + Self.sector - base, payload.endIndex)
      if isZero(payload[start..<next]) { return true }
      start = next
    }
    return false
  }

  /// Whether a frame behind ``end`` says that the commit was on the medium before it.
  private func knowsSynced(_ sequence: UInt64) -> Bool {
    stride(from: end - base, to: bytes.count, by: JournalFrame.Header.count).contains { start in
      bytes[start] != 0
        && JournalFrame.Header(bytes[start...].prefix(JournalFrame.Header.count), salt: salt).map {
          $0.kind != .start && $0.synced >= sequence
        }
          ?? false
    }
  }
}

/// Whether these bytes are as they were before anything was written.
func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
  bytes.withUnsafeBytes { bytes in
    guard !bytes.isEmpty, let start = bytes.baseAddress else { return true }
    // Each byte is the one before it, and the first is 0.
    return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
  }
}
