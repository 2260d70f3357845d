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
    /// What the table files are, so that the frames before it say no more about them.
    case written
  }

  package let kind: Kind
  /// The number of the last commit up to here: one more than the last frame's in a commit, the same in the others.
  package let sequence: UInt64
  /// The last commit that was known to be on the medium when this frame was written.
  package let synced: UInt64
  /// A part of what was read from the journal, or a copy of it.
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

  /// The bytes of a frame, in the memory of its payload if nobody else has that.
  static func encode(_ header: Header, _ payload: consuming [UInt8], salt: UInt32) -> [UInt8] {
    let filling = filling(payload.count)
    var bytes = payload
    bytes.reserveCapacity(Header.count + bytes.count + filling.count)
    bytes.insert(contentsOf: header.bytes(salt: salt), at: 0)
    bytes += filling
    return bytes
  }

  /// The line feeds behind a payload of `count` bytes.
  static func filling(_ count: Int) -> Repeated<UInt8> {
    repeatElement(UInt8(ascii: "\n"), count: paddedCount(count) - Header.count - count)
  }

  /// How many bytes a frame takes whose payload has `count`.
  package static func paddedCount(_ count: Int) -> Int { (Header.count + count + 63) & ~63 }

  /// The line that begins a frame: kind, sequence, synced, length of the payload, checksum of the payload, checksum of
  /// what stands before it in the line, mixed with the journal's salt.
  ///
  /// The salt tells a line that was written as a frame of this journal from one that a record or another journal's
  /// frame brings along in a payload.
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
        append(number, width: width, to: &line)
      }
      return line
    }

    /// What follows the bytes before it, with this checksum.
    static func ending(_ checksum: UInt32) -> [UInt8] {
      var ending = [UInt8(ascii: " ")]
      append(UInt64(checksum), width: 8, to: &ending)
      ending.append(UInt8(ascii: "\n"))
      return ending
    }

    init(kind: Kind, sequence: UInt64, synced: UInt64, length: Int, checksum: UInt32) {
      self.kind = kind
      self.sequence = sequence
      self.synced = synced
      self.length = length
      self.checksum = checksum
    }

    /// The header in these 64 bytes; `nil` if they are none, or not as they were written with this salt.
    init?(_ bytes: ArraySlice<UInt8>, salt: UInt32) {
      guard let (header, found) = Self.salted(bytes), found == header.kind.mixed(salt) else { return nil }
      self = header
    }

    /// The header in these 64 bytes, and the salt that its checksum was mixed with if it is one.
    static func salted(_ bytes: ArraySlice<UInt8>) -> (header: Header, salt: UInt32)? {
      let first = bytes.startIndex
      func number(_ range: Range<Int>) -> UInt64? {
        hexadecimal(bytes[first + range.lowerBound..<first + range.upperBound])
      }
      guard bytes.count == count, let ownChecksum = number(55..<63),
        let kind = Kind.allCases.first(where: { bytes.starts(with: $0.rawValue.utf8) }),
        let sequence = number(11..<23), let synced = number(24..<36), let length = number(37..<45),
        let checksum = number(46..<54)
      else { return nil }
      let header = Header(
        kind: kind, sequence: sequence, synced: synced, length: Int(length), checksum: UInt32(checksum))
      // So that one frame has one form.
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

extension JournalFrame.Kind {
  /// The first frame says what the salt is, so that it has none itself.
  fileprivate func mixed(_ salt: UInt32) -> UInt32 { self == .start ? 0 : salt }
}

private func append(_ number: UInt64, width: Int, to line: inout [UInt8]) {
  for shift in stride(from: 4 * (width - 1), through: 0, by: -4) {
    let digit = UInt8(number >> UInt64(shift) & 0xF)
    line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
  }
}

private func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
  var number: UInt64 = 0
  for digit in digits {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
    default: return nil
    }
  }
  return number
}

/// The eight hexadecimal digits of a checksum or a salt, lower case.
package func hexadecimal(_ number: UInt32) -> String {
  var digits: [UInt8] = []
  append(UInt64(number), width: 8, to: &digits)
  return String(decoding: digits, as: UTF8.self)
}
