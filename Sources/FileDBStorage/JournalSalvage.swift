/// The frames of a damaged journal that can still be read, and what became of the others.
package struct JournalSalvage: Sendable {
  package typealias Note = (text: String, offset: Int)

  package private(set) var frames: [JournalFrame] = []
  package private(set) var notes: [Note] = []
  /// How many places there are where something could not be read.
  package private(set) var lostCount = 0
  /// Of the journal; where its first frame is lost, as its salt tells.
  package private(set) var format = JournalStart.newestFormat
  private var salt: UInt32 = 0

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)`` for a journal of another version, of which nothing is known.
  package init(_ journal: [UInt8]) throws(JournalDamage) {
    collect(journal)
    if let start = frames.first, start.kind == .start {
      format = try JournalStart(start.payload).format
    } else if salt == 0 {
      format = 1
    }
  }

  private mutating func collect(_ journal: [UInt8]) {
    var bytes = journal
    var position = 0
    salt = Self.salt(of: bytes)
    while position < bytes.count {
      let scan = JournalScan(
        Array(bytes[position...]), at: position, after: frames.last?.sequence, salt: salt)
      salt = scan.salt
      frames += scan.frames.map(\.frame)
      guard let damage = scan.damage else { return }
      position = damage.offset
      if let place = correct(&bytes, at: position) {
        notes.append(("byte \(place) was wrong, and is put right by its checksum", position))
      } else if let next = nextFrame(in: bytes, from: position) {
        if next.offset > position { lose(position) }
        frames.append(next.frame)
        position = next.offset + JournalFrame.paddedCount(next.frame.payload.count)
      } else {
        lose(position)
        return
      }
    }
  }

  private mutating func lose(_ offset: Int) {
    notes.append(("a commit cannot be read here; it is left out", offset))
    lostCount += 1
  }

  /// Longer payloads are not put right. In 10 MB, every other pair of wrong bytes has the checksum of a single wrong
  /// byte somewhere else; in these, one pair in 4,000.
  private static let longestCorrected = 4 << 10

  /// Puts a frame right of which a single byte is wrong.
  /// - Returns: where that byte was.
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

  /// The salt that a frame was written with whose payload is sound: so nothing is lost where the first one, which says
  /// it, cannot be read.
  private static func salt(of bytes: [UInt8]) -> UInt32 {
    for offset in stride(from: 0, to: bytes.count, by: JournalFrame.Header.count) {
      let rest = bytes[offset...]
      guard bytes[offset] != 0,
        let (header, salt) = JournalFrame.Header.salted(rest.prefix(JournalFrame.Header.count)),
        header.kind != .start
      else { continue }
      let payload = rest.dropFirst(JournalFrame.Header.count).prefix(header.length)
      if payload.count == header.length, Checksum.of(payload) == header.checksum { return salt }
    }
    return 0
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

  /// Whether a frame can come after those that were read. One that is there twice may not be carried out twice.
  private func canFollow(_ header: JournalFrame.Header) -> Bool {
    guard let last = frames.last else { return true }
    return switch header.kind {
    case .start: false
    case .commit: header.sequence > last.sequence
    case .checkpoint, .written: header.sequence >= last.sequence
    }
  }
}

extension JournalFrame.Header {
  /// A line with the one wrong byte put right, and where it was.
  fileprivate static func corrected(_ line: [UInt8], salt: UInt32) -> (line: [UInt8], place: Int)? {
    // The first frame has no salt, and what kind this is may be what is wrong.
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
    // Else the byte is in the checksum itself, or beside it.
    let checksum = Checksum.of(line[..<checkedCount]) ^ salt
    let mended = line[..<checkedCount] + Self.ending(checksum)
    let wrong = line.indices.filter { line[$0] != mended[$0] }
    return wrong.count == 1 && Self(mended, salt: salt) != nil ? (Array(mended), wrong[0]) : nil
  }
}
