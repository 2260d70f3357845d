/// The frames of a damaged journal that can still be read, and notes about the others.
package struct JournalSalvage: Sendable {
  package typealias Note = (text: String, offset: Int)

  /// Bytes that are no frames any more.
  package struct Lost: Sendable {
    package let bytes: ArraySlice<UInt8>
    /// What is there of a single frame; `nil` if it is unknown how many frames there were.
    package let frame: (kind: JournalFrame.Kind, payload: ArraySlice<UInt8>)?
  }

  package private(set) var frames: [JournalFrame] = []
  package private(set) var notes: [Note] = []
  /// The places that could not be read.
  package private(set) var lost: [Lost] = []
  package var lostCount: Int { lost.count }
  private var salt: UInt32 = 0

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)`` for a journal of an unknown version.
  package init(_ journal: [UInt8]) throws(JournalDamage) {
    collect(journal)
    if let start = frames.first, start.kind == .start { _ = try JournalStart(start.payload) }
  }

  private mutating func collect(_ journal: [UInt8]) {
    var bytes = journal
    var position = 0
    let salts = JournalScan(bytes, at: 0, after: nil).frames.isEmpty ? JournalSalts(bytes) : nil
    salt = salts?.salt ?? 0
    defer {
      if frames.first?.kind != .start, let offset = salts?.doubtfulOffset {
        notes.append(
          (
            "the beginning of the journal is lost, and what looks like a commit here does not belong to the others; it is left out",
            offset
          ))
      }
    }
    while position < bytes.count {
      let scan = JournalScan(
        Array(bytes[position...]), at: position, after: frames.last?.sequence, salt: salt)
      salt = scan.salt
      frames += scan.frames.map(\.frame)
      // A journal without a beginning is damaged, even if a crash seems to have cut it off there.
      guard let damaged = scan.damage?.offset ?? (frames.isEmpty ? 0 : nil) else { return }
      position = damaged
      if let place = correct(&bytes, at: position) {
        notes.append(("byte \(place) was wrong and was corrected by its checksum", position))
      } else if let next = nextFrame(in: bytes, from: position) {
        if next.offset > position { lose(bytes[position..<next.offset]) }
        frames.append(next.frame)
        position = next.offset + JournalFrame.paddedCount(next.frame.payload.count)
      } else {
        lose(bytes[position...])
        return
      }
    }
  }

  private mutating func lose(_ rest: ArraySlice<UInt8>) {
    let bytes = rest[...(rest.lastIndex { $0 != 0 } ?? rest.startIndex)]
    let body = bytes.startIndex + JournalFrame.Header.count
    let header = JournalFrame.Header(bytes.prefix(JournalFrame.Header.count), salt: salt)
    let frame = header.flatMap { header in
      JournalFrame.paddedCount(header.length) >= bytes.count ? (header.kind, bytes[body...]) : nil
    }
    lost.append(Lost(bytes: bytes, frame: frame))
    notes.append(("a commit cannot be read here, so it is left out", bytes.startIndex))
  }

  /// Longer payloads are not corrected. With two wrong bytes, the checksum may point to a single wrong byte somewhere
  /// else. In 10 MB, this happens for every other pair of wrong bytes; in this length, for one pair in 4,000.
  private static let longestCorrected = 4 << 10

  /// Corrects a frame with a single wrong byte.
  /// - Returns: the position of that byte.
  private func correct(_ bytes: inout [UInt8], at start: Int) -> Int? {
    let body = start + JournalFrame.Header.count
    guard body <= bytes.count else { return nil }
    if let header = JournalFrame.Header(bytes[start..<body], salt: salt) {
      guard header.length <= Self.longestCorrected, body + header.length <= bytes.count else { return nil }
      var payload = Array(bytes[body..<body + header.length])
      guard let place = Checksum.correct(&payload, to: header.checksum) else { return nil }
      bytes.replaceSubrange(body..<body + header.length, with: payload)
      return body + place
    }
    guard let (line, place) = JournalFrame.Header.corrected(Array(bytes[start..<body]), salt: salt) else {
      return nil
    }
    bytes.replaceSubrange(start..<body, with: line)
    return start + place
  }

  private func nextFrame(
    in bytes: [UInt8], from start: Int
  ) -> (frame: JournalFrame, offset: Int)? {
    for offset in stride(from: start, to: bytes.count, by: JournalFrame.Header.count) {
      let rest = bytes[offset...]
      guard let header = JournalFrame.Header(rest.prefix(JournalFrame.Header.count), salt: salt),
        canFollow(header), header.kind != .start || offset == 0
      else { continue }
      let payload = rest.dropFirst(JournalFrame.Header.count).prefix(header.length)
      guard payload.count == header.length, Checksum.of(payload) == header.checksum else { continue }
      let frame = JournalFrame(
        kind: header.kind, sequence: header.sequence, synced: header.synced, payload: Array(payload)[...])
      return (frame, offset)
    }
    return nil
  }

  /// Whether a frame can come after those that were read. A frame that is in the file twice must not be applied twice.
  private func canFollow(_ header: JournalFrame.Header) -> Bool {
    // No journal writes a commit with the number 0.
    guard let last = frames.last else { return header.kind != .commit || header.sequence > 0 }
    return switch header.kind {
    case .start: false
    case .commit: header.sequence > last.sequence
    case .checkpoint, .written, .parked: header.sequence >= last.sequence
    }
  }
}

extension JournalFrame.Header {
  /// The line with its single wrong byte corrected, and the position of that byte.
  fileprivate static func corrected(_ line: [UInt8], salt: UInt32) -> (line: [UInt8], place: Int)? {
    // The first frame is written without the salt. The wrong byte may be the frame's kind, so try both.
    corrected(line, mixedWith: salt) ?? (salt == 0 ? nil : corrected(line, mixedWith: 0))
  }

  private static func corrected(_ line: [UInt8], mixedWith salt: UInt32) -> (line: [UInt8], place: Int)? {
    let written = String(decoding: line[checkedCount + 1..<count - 1], as: UTF8.self)
    if let checksum = UInt32(written, radix: 16) {
      var checked = Array(line[..<checkedCount])
      if let place = Checksum.correct(&checked, to: checksum ^ salt) {
        let line = checked + line[checkedCount...]
        return Self(line[...], salt: salt).map { _ in (line, place) }
      }
    }
    // Otherwise the wrong byte is in the checksum itself, or next to it.
    let checksum = Checksum.of(line[..<checkedCount]) ^ salt
    let corrected = line[..<checkedCount] + Self.ending(checksum)
    let wrong = line.indices.filter { line[$0] != corrected[$0] }
    return wrong.count == 1 && Self(corrected, salt: salt) != nil ? (Array(corrected), wrong[0]) : nil
  }
}
