/// One entry of a journal, byte by byte as in <doc:Journal>: a line of 64 characters, a payload, and line feeds up to a
/// multiple of 64.
///
/// All of it is text, so a byte of value 0 is one that was never written: that tells a frame that a crash cut off from
/// one that was damaged later.
package struct JournalFrame: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The first frame: says which format it is and how long the file was made.
    case start
    /// A transaction.
    case commit
    /// What the table files are about to be.
    case checkpoint
  }

  package let kind: Kind
  /// The number of the last commit up to here: one more than the last frame's in a commit, the same in the others.
  package let sequence: UInt64
  /// The last commit that was known to be on the medium when this frame was written.
  package let synced: UInt64
  package let payload: [UInt8]

  package init(kind: Kind, sequence: UInt64, synced: UInt64, payload: [UInt8]) {
    self.kind = kind
    self.sequence = sequence
    self.synced = synced
    self.payload = payload
  }

  package var bytes: [UInt8] {
    let header = Header(
      kind: kind, sequence: sequence, synced: synced, length: payload.count, checksum: Checksum.of(payload))
    var bytes = header.bytes + payload
    bytes += [UInt8](repeating: UInt8(ascii: "\n"), count: Self.paddedCount(payload.count) - bytes.count)
    return bytes
  }

  /// How many bytes a frame takes whose payload has `count`.
  static func paddedCount(_ count: Int) -> Int { (Header.count + count + 63) & ~63 }

  /// The line that begins a frame: kind, sequence, synced, length of the payload, checksum of the payload, checksum of
  /// what stands before it in the line.
  struct Header: Equatable {
    static let count = 64
    static let checkedCount = 54

    var kind: Kind
    var sequence: UInt64
    var synced: UInt64
    var length: Int
    var checksum: UInt32

    var bytes: [UInt8] {
      let name = kind.rawValue + String(repeating: " ", count: 10 - kind.rawValue.utf8.count)
      let fields = [
        name, hex(sequence, 12), hex(synced, 12), hex(UInt64(length), 8), hex(UInt64(checksum), 8),
      ]
      let checked = Array((fields.joined(separator: " ")).utf8)
      return checked + Self.ending(Checksum.of(checked))
    }

    /// What follows the bytes with this checksum.
    static func ending(_ checksum: UInt32) -> [UInt8] { Array(" \(hex(UInt64(checksum), 8))\n".utf8) }

    init(kind: Kind, sequence: UInt64, synced: UInt64, length: Int, checksum: UInt32) {
      self.kind = kind
      self.sequence = sequence
      self.synced = synced
      self.length = length
      self.checksum = checksum
    }

    /// The header in these 64 bytes; `nil` where they are none, or not as they were written.
    init?(_ bytes: ArraySlice<UInt8>) {
      guard bytes.count == Self.count, bytes.first == UInt8(ascii: "c") || bytes.first == UInt8(ascii: "s"),
        bytes.last == UInt8(ascii: "\n")
      else { return nil }
      let fields = bytes.dropLast().split(separator: UInt8(ascii: " "))
      guard fields.count == 6,
        let kind = Kind(rawValue: String(decoding: fields[0], as: UTF8.self)),
        let sequence = number(fields[1]), let synced = number(fields[2]), let length = number(fields[3]),
        let checksum = number(fields[4]), let ownChecksum = number(fields[5]),
        ownChecksum == UInt64(Checksum.of(bytes.prefix(Self.checkedCount)))
      else { return nil }
      self.init(
        kind: kind, sequence: sequence, synced: synced, length: Int(length), checksum: UInt32(checksum))
      // So that one frame has one form.
      guard bytes.elementsEqual(self.bytes) else { return nil }
    }
  }
}

private func hex(_ number: UInt64, _ width: Int) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

private func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
  digits.count > 12 ? nil : UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
}
