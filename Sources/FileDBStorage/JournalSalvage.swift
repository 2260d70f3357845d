/// The frames of a damaged journal that can still be read, and what became of the others.
package struct JournalSalvage: Sendable {
  package typealias Note = (text: String, offset: Int)

  package private(set) var frames: [JournalFrame] = []
  package private(set) var notes: [Note] = []
  /// How many places there are where something could not be read.
  package private(set) var lostCount = 0

  /// - Throws: ``JournalDamage/Reason/unknownFormat(_:)`` for a journal of another version, of which nothing is known.
  package init(_ journal: [UInt8]) throws(JournalDamage) {
    collect(journal)
    if let start = frames.first, start.kind == .start { _ = try JournalStart(start.payload) }
  }

  private mutating func collect(_ journal: [UInt8]) {
    var bytes = journal
    var position = 0
    while position < bytes.count {
      let scan = JournalScan(Array(bytes[position...]), at: position, after: frames.last?.sequence)
      frames += scan.frames.map(\.frame)
      guard let damage = scan.damage else { return }
      position = damage.offset
      if let place = Self.correct(&bytes, at: position) {
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

  /// Puts a frame right of which a single byte is wrong.
  /// - Returns: where that byte was.
  private static func correct(_ bytes: inout [UInt8], at start: Int) -> Int? {
    let body = start + JournalFrame.Header.count
    guard body <= bytes.count else { return nil }
    if let header = JournalFrame.Header(bytes[start..<body]) {
      guard body + header.length <= bytes.count else { return nil }
      var payload = Array(bytes[body..<body + header.length])
      guard let place = Checksum.correct(&payload, to: header.checksum) else { return nil }
      bytes.replaceSubrange(body..<body + header.length, with: payload)
      return body + place
    }
    guard let (line, place) = JournalFrame.Header.corrected(Array(bytes[start..<body])) else { return nil }
    bytes.replaceSubrange(start..<body, with: line)
    return start + place
  }

  private func nextFrame(
    in bytes: [UInt8], from start: Int
  ) -> (frame: JournalFrame, offset: Int)? {
    for offset in stride(from: start, to: bytes.count, by: JournalFrame.Header.count) {
      let rest = bytes[offset...]
      guard let header = JournalFrame.Header(rest.prefix(JournalFrame.Header.count)), canFollow(header)
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
    case .checkpoint: header.sequence >= last.sequence
    }
  }
}

extension JournalFrame.Header {
  /// A line with the one wrong byte put right, and where it was.
  fileprivate static func corrected(_ line: [UInt8]) -> (line: [UInt8], place: Int)? {
    let written = String(decoding: line[checkedCount + 1..<count - 1], as: UTF8.self)
    if let checksum = UInt32(written, radix: 16) {
      var checked = Array(line[..<checkedCount])
      if let place = Checksum.correct(&checked, to: checksum) {
        let line = checked + line[checkedCount...]
        return Self(line[...]).map { _ in (line, place) }
      }
    }
    // Else the byte is in the checksum itself, or beside it.
    let checksum = Checksum.of(line[..<checkedCount])
    let mended = line[..<checkedCount] + Self.ending(checksum)
    let wrong = line.indices.filter { line[$0] != mended[$0] }
    return wrong.count == 1 && Self(mended) != nil ? (Array(mended), wrong[0]) : nil
  }
}
