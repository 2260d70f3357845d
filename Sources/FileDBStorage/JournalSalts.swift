import FileDBEssentials

/// The salt of a journal whose first frame, which contains it, is lost.
///
/// The text of a record may pass for frames of another salt. Frames of the journal itself lead to its end, and text
/// does not: at least the end of its record follows. So the salt is the one whose frames lead to the end, or else the
/// one with the most frames.
struct JournalSalts {
  let salt: UInt32
  /// The first place of a frame with another salt that is not inside a frame with this one; `nil` if there is none.
  let doubtfulOffset: Int?

  init(_ bytes: [UInt8]) {
    let frames = Self.frames(in: bytes)
    let end = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
    let best = frames.max { left, right in
      let (first, second) = (left.value, right.value)
      let isCloser = (first[first.count - 1].upperBound >= end, second[second.count - 1].upperBound >= end)
      if isCloser.0 != isCloser.1 { return isCloser.1 }
      return first.count == second.count
        ? first[0].lowerBound > second[0].lowerBound : first.count < second.count
    }
    salt = best?.key ?? 0
    doubtfulOffset = best.flatMap { best in
      let others = frames.filter { $0.key != best.key }.values.joined()
      return others.map(\.lowerBound).filter { offset in
        let next = best.value.partitioningIndex { $0.lowerBound > offset }
        return next == 0 || best.value[next - 1].upperBound <= offset
      }.min()
    }
  }

  /// The places of all frames but `start`, by salt. Those inside a frame of the same salt do not count.
  private static func frames(in bytes: [UInt8]) -> [UInt32: [Range<Int>]] {
    let checksums = PartChecksums(bytes)
    var frames: [UInt32: [Range<Int>]] = [:]
    for offset in stride(from: 0, to: bytes.count, by: JournalFrame.Header.count) where bytes[offset] != 0 {
      guard
        let (header, salt) = JournalFrame.Header.salted(bytes[offset...].prefix(JournalFrame.Header.count)),
        header.kind != .start, frames[salt]?.last.map({ $0.upperBound <= offset }) ?? true
      else { continue }
      let body = offset + JournalFrame.Header.count
      guard body + header.length <= bytes.count,
        checksums.checksum(of: body..<body + header.length) == header.checksum
      else { continue }
      frames[salt, default: []].append(offset..<offset + JournalFrame.paddedCount(header.length))
    }
    return frames
  }
}

/// The checksums of many parts of the same bytes. Otherwise text that has a false frame in each line, each as long as
/// the rest of the text, would take hours.
private struct PartChecksums {
  private static let step = 64
  private let bytes: [UInt8]
  /// The checksums of the first bytes, for each multiple of the step.
  private let beginnings: [UInt32]

  /// - Complexity: O(*n*).
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var (checksum, beginnings) = (Checksum(), [Checksum().value])
    for start in stride(from: 0, to: bytes.count, by: Self.step) {
      bytes[start..<min(start + Self.step, bytes.count)].withUnsafeBytes { checksum.update($0) }
      beginnings.append(checksum.value)
    }
    self.beginnings = beginnings
  }

  /// - Parameter part: begins at a multiple of 64.
  /// - Complexity: O(log *n*).
  func checksum(of part: Range<Int>) -> UInt32 {
    let lastStep = part.upperBound / Self.step
    let rest = Checksum.of(bytes[lastStep * Self.step..<part.upperBound])
    let beginning = Checksum.joined(beginnings[lastStep], rest, length: part.upperBound % Self.step)
    // Joining is an exclusive or, so it also takes off what comes before.
    return Checksum.joined(beginnings[part.lowerBound / Self.step], beginning, length: part.count)
  }
}
