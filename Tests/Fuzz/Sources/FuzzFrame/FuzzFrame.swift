import FuzzSupport

// Testable, for the line of a frame is nobody else's matter.
@testable import FileDBStorage

// An input is a piece of a journal, or what is in one before its checksums are made: with those that it has, hardly any
// input would get past the first line. Small pieces and nothing beside the scan, so that very many are tried.
@main enum FuzzFrame {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  guard let first = bytes.first else { return false }
  if first & 0x80 == 0 {
    check(JournalScan(bytes, at: 0, after: nil), of: bytes)
  } else {
    let made = withChecksums(bytes)
    check(JournalScan(made, at: 0, after: nil), of: made)
  }
  return true
}

/// What a scan takes for frames is, byte for byte, what those frames are written as, one behind the other.
private func check(_ scan: JournalScan, of bytes: [UInt8]) {
  var end = 0
  for (frame, offset) in scan.frames {
    let written = JournalFrame.Header(
      kind: frame.kind, sequence: frame.sequence, synced: frame.synced, length: frame.payload.count,
      checksum: Checksum.of(frame.payload)
    ).bytes(salt: scan.salt)
    let body = offset + JournalFrame.Header.count
    if offset != end || bytes[offset..<body] != written[...]
      || bytes[body..<body + frame.payload.count] != frame.payload[...]
    {
      fail("frame at \(offset) is not what is there")
    }
    end += JournalFrame.paddedCount(frame.payload.count)
  }
  if scan.end != end { fail("the end is at \(scan.end), not \(end)") }
  if let damage = scan.damage, damage.offset != end { fail("damage at \(damage.offset), not \(end)") }
}

/// The same bytes with each line's checksums put right, as far as what is there can be a line.
private func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
  var bytes = bytes
  var start = 0
  while start + JournalFrame.Header.count <= bytes.count {
    let body = start + JournalFrame.Header.count
    // Four bytes of the input are kind, length and numbers; the payload is what follows.
    let kind = JournalFrame.Kind.allCases[Int(bytes[start] & 0x7F) % 3]
    let length = min(Int(bytes[start + 1]), bytes.count - body)
    let header = JournalFrame.Header(
      kind: kind, sequence: UInt64(bytes[start + 2] % 8), synced: UInt64(bytes[start + 3] % 8),
      length: length, checksum: Checksum.of(bytes[body..<body + length]))
    bytes.replaceSubrange(start..<body, with: header.bytes(salt: 0))
    start += JournalFrame.paddedCount(length)
  }
  return bytes
}
