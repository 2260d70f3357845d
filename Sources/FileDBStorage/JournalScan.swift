import FileDBEssentials

/// The damage in a journal whose bytes are not those that were written.
package struct JournalDamage: Error, Equatable, Sendable {
  package enum Reason: Equatable, Sendable {
    /// The file does not begin as a journal does.
    case noStart
    /// A newer version of this library has made the file.
    case unknownFormat(String)
    /// The file is shorter than it was.
    case cutOff(length: Int)
    /// The frame's bytes are not those that were written.
    case changed
    /// The frame is intact, but its number is not the next one.
    case outOfOrder
    /// A frame is gone that was on the disk: a later frame says so.
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

/// The frames in a section of a journal, up to its end or to the first damage.
///
/// After a crash, the last frames may be intact, partly written or missing, if no sync had covered them yet. The file
/// had zeros there before, so it still has zeros where a frame was not written. Such a frame is cut off.
///
/// Anything else is damage:
/// - a frame that does not match its checksum and has no such zeros,
/// - a frame that goes past the end of the file, because the file was longer when the frame was written,
/// - a bad frame that was synced, as a later frame says.
package struct JournalScan: Sendable {
  /// A disk writes whole sectors of at least this size.
  private static let sector = 512

  /// The start of the sector that contains the byte at `offset`.
  static func sectorStart(_ offset: Int) -> Int { offset - offset % sector }

  /// The salt of the journal. If the section contains the first frame, it is read from there.
  package private(set) var salt: UInt32

  package private(set) var frames: [(frame: JournalFrame, offset: Int)] = []
  /// The offset for the next frame.
  package private(set) var end: Int
  /// Whether a crash left remains of other frames after the last intact one.
  package private(set) var isTorn = false
  package private(set) var damage: JournalDamage?

  private let bytes: [UInt8]
  private let base: Int

  /// - Parameters:
  ///   - bytes: the journal from the offset `base` to the end of the file.
  ///   - sequence: the number of the last commit before this section; `nil` at the beginning of the journal.
  ///   - salt: the salt of the journal. At the beginning of the journal, the first frame contains it.
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

  /// The bytes after the last frame. It is empty if the line feeds at the end of that frame are missing.
  private var rest: ArraySlice<UInt8> { bytes[min(end - base, bytes.count)...] }

  /// The frame at ``end``. `nil` if there is no intact frame.
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
    // A slice keeps all of the bytes in memory. That is fine only if it is most of them.
    return JournalFrame(
      kind: header.kind, sequence: header.sequence, synced: header.synced,
      payload: payload.count > bytes.count / 2 ? payload : Array(payload)[...])
  }

  private mutating func fail(_ reason: JournalDamage.Reason) {
    damage = JournalDamage(reason: reason, offset: end)
  }

  /// Whether a crash interrupted the write of the line that `rest` begins with.
  ///
  /// A line lies within one sector. An interrupted write leaves zeros from some byte to the end of that sector. If the
  /// line was being cleared, the zeros begin at its first byte.
  private func isCutOff(line rest: ArraySlice<UInt8>) -> Bool {
    let lastByte = end + JournalFrame.Header.count - 1
    let sectorEnd = Self.sectorStart(lastByte) + Self.sector
    return rest.first == 0 || isZero(rest.prefix(sectorEnd - end).dropFirst(lastByte - end))
  }

  /// Whether a crash interrupted the write of the payload. Then there are zeros from some byte to the end of the frame,
  /// or in a whole sector.
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

  /// Whether a frame after ``end`` says that this commit was on the disk before it.
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

/// Whether all bytes are 0, as before anything was written.
func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
  bytes.withUnsafeBytes { bytes in
    guard !bytes.isEmpty, let start = bytes.baseAddress else { return true }
    // The first byte is 0, and each byte equals the one before it.
    return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
  }
}
