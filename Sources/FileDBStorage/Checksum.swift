import CFileDB

/// CRC-32C (Castagnoli), as in iSCSI, ext4 and Btrfs: the reflected polynomial 0x1EDC6F41, with all ones as the initial
/// value and as the final XOR (RFC 3720, section 12.1).
package struct Checksum: Equatable, Sendable {
  private var register: UInt32 = .max

  package init() {}

  package var value: UInt32 { ~register }

  package static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var checksum = Checksum()
    if bytes.withContiguousStorageIfAvailable({ checksum.update(UnsafeRawBufferPointer($0)) }) == nil {
      Array(bytes).withUnsafeBytes { checksum.update($0) }
    }
    return checksum.value
  }

  /// - Complexity: O(*n*), at 8 GB/s with the CPU's own instruction, otherwise at 2 to 4 GB/s.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    register = Self.hasInstruction ? Self.byInstruction(register, bytes) : Self.byTables(register, bytes)
  }
}

/// The two ways to update the register. The tests compare them.
extension Checksum {
  package static var hasInstruction: Bool { filedb_has_crc32c() }

  /// Call it only if the CPU has the instruction.
  package static func byInstruction(_ register: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    filedb_crc32c(register, bytes.baseAddress, bytes.count)
  }

  /// Takes sixteen bytes at a time, each with its own table ("slicing by 16").
  package static func byTables(_ register: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { table in
      var register = register
      let whole = bytes.count & ~15
      for offset in stride(from: 0, to: whole, by: 16) {
        let first = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let second = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        register = entries(table, 15, first ^ UInt64(register)) ^ entries(table, 7, second)
      }
      for offset in whole..<bytes.count {
        register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[offset])]
      }
      return register
    }
  }

  /// How eight bytes change the register if `last` more bytes follow the first of them.
  @inline(__always)
  private static func entries(_ table: UnsafeBufferPointer<UInt32>, _ last: Int, _ word: UInt64) -> UInt32 {
    func entry(_ place: Int) -> UInt32 {
      table[(last - place) << 8 | Int(truncatingIfNeeded: word >> UInt64(8 * place) & 0xFF)]
    }
    return entry(0) ^ entry(1) ^ entry(2) ^ entry(3) ^ entry(4) ^ entry(5) ^ entry(6) ^ entry(7)
  }

  /// Table *k* is for a byte that *k* others follow.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = []
    for byte in 0..<256 as Range<UInt32> {
      var rest = byte
      for _ in 0..<8 { rest = rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0x82F6_3B78 }
      tables.append(rest)
    }
    for entry in 0..<0xF00 {
      let before = tables[entry]
      tables.append(before >> 8 ^ tables[Int(before & 0xFF)])
    }
    return tables
  }()
}

extension Checksum {
  /// Finds the one byte of `bytes` that was changed since they had the checksum `expected`, and corrects it.
  ///
  /// If one byte changed, the difference of the checksums tells which byte it was and how it changed. Other damage to
  /// *n* bytes looks like this by chance, once in 2^24 / *n* cases.
  /// - Returns: the position of that byte; `nil` if no change of a single byte explains the difference.
  package static func correct(_ bytes: inout [UInt8], to expected: UInt32) -> Int? {
    var difference = of(bytes) ^ expected
    guard difference != 0 else { return nil }
    // Go backwards through the bytes and undo what each does to the register, until the rest fits in one byte.
    for position in bytes.indices.reversed() {
      let entry = entryByTopByte[Int(difference >> 24)]
      difference = (difference ^ tables[entry]) << 8 | UInt32(entry)
      if difference <= 0xFF {
        bytes[position] ^= UInt8(difference)
        return position
      }
    }
    return nil
  }

  /// No two entries of the first table begin with the same byte.
  private static let entryByTopByte: [Int] = {
    var entries = [Int](repeating: 0, count: 256)
    for entry in 0..<256 { entries[Int(tables[entry] >> 24)] = entry }
    return entries
  }()
}

extension Checksum {
  /// The checksum of two pieces, from those of the pieces.
  /// - Parameter length: the length of the second piece in bytes.
  /// - Complexity: O(log *n*) in the length.
  package static func joined(_ first: UInt32, _ second: UInt32, length: Int) -> UInt32 {
    var (shifted, rest, power) = (first, length, 0)
    while rest > 0 {
      if rest & 1 == 1 { shifted = product(shifted, powers[power]) }
      (rest, power) = (rest >> 1, power + 1)
    }
    return shifted ^ second
  }

  /// The product of two polynomials modulo that of the checksum. The highest bit is the coefficient of 1.
  private static func product(_ first: UInt32, _ second: UInt32) -> UInt32 {
    var (result, factor) = (0 as UInt32, second)
    for bit in (0..<32 as Range<UInt32>).reversed() {
      if first >> bit & 1 == 1 { result ^= factor }
      factor = factor & 1 == 0 ? factor >> 1 : factor >> 1 ^ 0x82F6_3B78
    }
    return result
  }

  /// What 1, 2, 4, … more bytes do to a checksum: the powers of x with the exponents 8, 16, 32, …
  private static let powers: [UInt32] = {
    var powers = [1 << 23 as UInt32]
    while powers.count < Int.bitWidth {
      powers.append(product(powers[powers.count - 1], powers[powers.count - 1]))
    }
    return powers
  }()
}
