import FileDBEssentials

/// One entry of a journal, in the bytes that <doc:Journal> describes: a line of 64 characters, a payload, and line
/// feeds up to a multiple of 64.
///
/// A frame is text, so a zero byte was never written. This tells a frame that a crash cut off from one that was damaged
/// later.
package struct JournalFrame: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The first frame: its format, and the initial length of the file.
    case start
    /// A transaction.
    case commit
    /// The versions that the table files are about to have.
    case checkpoint
    /// The versions that the table files now have, and the last commit that each includes.
    case written
    /// A commit to a table that is in conflict. It is from an earlier journal, and keeps its number.
    case parked
  }

  /// The highest number of a commit. A line has twelve hexadecimal digits for it.
  package static let highestSequence: UInt64 = 1 << 48 - 1

  package let kind: Kind
  /// The number of the last commit so far. A commit has one more than the frame before it, and other frames have the
  /// same.
  package let sequence: UInt64
  /// The last commit that was known to be durable when this frame was written.
  package let synced: UInt64
  /// A slice of what was read from the journal, or a copy of it.
  package let payload: ArraySlice<UInt8>

  package init(kind: Kind, sequence: UInt64, synced: UInt64, payload: ArraySlice<UInt8>) {
    self.kind = kind
    self.sequence = sequence
    self.synced = synced
    self.payload = payload
  }

  /// - Parameter salt: the journal's; see ``JournalStart/salt``.
  package func bytes(salt: UInt32) -> [UInt8] {
    let payload = Array(payload)
    let header = Header(
      kind: kind, sequence: sequence, synced: synced, length: payload.count, checksum: Checksum.of(payload))
    return Self.encode(header, payload, salt: salt)
  }

  /// The bytes of a frame. They reuse the payload's memory if nobody else has it.
  static func encode(_ header: Header, _ payload: consuming [UInt8], salt: UInt32) -> [UInt8] {
    let filling = filling(payload.count)
    var bytes = payload
    bytes.reserveCapacity(Header.count + bytes.count + filling.count)
    bytes.insert(contentsOf: header.bytes(salt: salt), at: 0)
    bytes += filling
    return bytes
  }

  /// The line feeds after a payload of `count` bytes.
  static func filling(_ count: Int) -> Repeated<UInt8> {
    repeatElement(UInt8(ascii: "\n"), count: paddedCount(count) - Header.count - count)
  }

  /// The length of a frame whose payload has `count` bytes.
  package static func paddedCount(_ count: Int) -> Int { (Header.count + count + 63) & ~63 }

  /// The first line of a frame: kind, sequence, synced, length of the payload, checksum of the payload, and a checksum
  /// of the line up to here, mixed with the journal's salt.
  ///
  /// A payload may contain lines that look like this: a record can, and so can a frame of another journal. The salt
  /// tells them from the lines of this journal's frames.
  struct Header: Equatable {
    static let count = 64
    static let checkedCount = 54

    var kind: Kind
    var sequence: UInt64
    var synced: UInt64
    var length: Int
    var checksum: UInt32

    func bytes(salt: UInt32) -> [UInt8] {
      let line = checkedBytes
      return line + Self.ending(Checksum.of(line) ^ kind.mixed(salt))
    }

    private var checkedBytes: [UInt8] {
      var line: [UInt8] = []
      line.reserveCapacity(Self.count)
      line += kind.rawValue.utf8
      while line.count < 10 { line.append(UInt8(ascii: " ")) }
      for (number, width) in [(sequence, 12), (synced, 12), (UInt64(length), 8), (UInt64(checksum), 8)] {
        line.append(UInt8(ascii: " "))
        line.append(hexadecimal: number, width: width)
      }
      return line
    }

    /// The end of the line, with the checksum of the bytes before it.
    static func ending(_ checksum: UInt32) -> [UInt8] {
      var ending = [UInt8(ascii: " ")]
      ending.append(hexadecimal: checksum, width: 8)
      ending.append(UInt8(ascii: "\n"))
      return ending
    }

    /// The header in these 64 bytes, and the salt that would fit its checksum.
    static func salted(_ bytes: ArraySlice<UInt8>) -> (header: Header, salt: UInt32)? {
      let first = bytes.startIndex
      func number(_ range: Range<Int>) -> UInt64? {
        UInt64(hexadecimal: bytes[first + range.lowerBound..<first + range.upperBound])
      }
      guard bytes.count == count, let ownChecksum = number(55..<63),
        let kind = Kind.allCases.first(where: { bytes.starts(with: $0.rawValue.utf8) }),
        let sequence = number(11..<23), let synced = number(24..<36), let length = number(37..<45),
        let checksum = number(46..<54)
      else { return nil }
      let header = Header(
        kind: kind, sequence: sequence, synced: synced, length: Int(length), checksum: UInt32(checksum))
      // Accept only one form for each frame.
      let checked = header.checkedBytes
      let end = ending(UInt32(ownChecksum))
      guard bytes.prefix(checkedCount).elementsEqual(checked), bytes.suffix(end.count).elementsEqual(end)
      else {
        return nil
      }
      return (header, UInt32(ownChecksum) ^ Checksum.of(checked))
    }
  }
}

extension JournalFrame.Header {
  /// The header in these 64 bytes; `nil` if they are not a header as it is written with this salt.
  init?(_ bytes: ArraySlice<UInt8>, salt: UInt32) {
    guard let (header, found) = Self.salted(bytes), found == header.kind.mixed(salt) else { return nil }
    self = header
  }
}

extension JournalFrame.Kind {
  /// The first frame contains the salt, so it has none itself.
  fileprivate func mixed(_ salt: UInt32) -> UInt32 { self == .start ? 0 : salt }
}
