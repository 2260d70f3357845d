import FileDBStorage
import TestSupport
import Testing

@Suite struct ChecksumTests {
  /// Bit by bit, as the polynomial is defined.
  private func plainChecksum(_ bytes: [UInt8]) -> UInt32 {
    var register: UInt32 = .max
    for byte in bytes {
      register ^= UInt32(byte)
      for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x82F6_3B78 }
    }
    return ~register
  }

  /// RFC 3720, appendix B.4, and the check value that every catalogue of checksums gives.
  @Test func checksumsMatchPublishedValues() {
    #expect(Checksum.of("123456789".utf8) == 0xE306_9283)
    #expect(Checksum.of([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(Checksum.of([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(Checksum.of(0..<32 as Range<UInt8>) == 0x46DD_794E)
    #expect(Checksum.of((0..<32 as Range<UInt8>).reversed()) == 0x113F_DB5C)
    // A read command of iSCSI.
    let command: [UInt8] = [
      0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0,
      0,
      0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
    ]
    #expect(Checksum.of(command) == 0xD996_3A56)
    #expect(Checksum.of([]) == 0)
  }

  @Test func checksumInPiecesMatchesBitwiseChecksum() {
    var random = SeededRandom.fromEnvironment("checksums")
    for count in 0...70 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let expected = plainChecksum(bytes)
      #expect(Checksum.of(bytes) == expected)
      for cut in 0...count {
        var checksum = Checksum()
        bytes[..<cut].withUnsafeBytes { checksum.update($0) }
        bytes[cut...].withUnsafeBytes { checksum.update($0) }
        #expect(checksum.value == expected, "\(count) bytes, cut at \(cut)")
      }
    }
  }

  private static let noInstruction: Comment = "this CPU has no instruction for CRC-32C"

  @Test func byTablesMatchesPublishedValues() {
    #expect("123456789".bytes.withUnsafeBytes { ~Checksum.byTables(.max, $0) } == 0xE306_9283)
    #expect([UInt8](0..<32).withUnsafeBytes { ~Checksum.byTables(.max, $0) } == 0x46DD_794E)
  }

  @Test(.enabled(if: Checksum.hasInstruction, noInstruction))
  func byInstructionMatchesPublishedValues() {
    #expect("123456789".bytes.withUnsafeBytes { ~Checksum.byInstruction(.max, $0) } == 0xE306_9283)
    #expect([UInt8](0..<32).withUnsafeBytes { ~Checksum.byInstruction(.max, $0) } == 0x46DD_794E)
  }

  @Test(.enabled(if: Checksum.hasInstruction, noInstruction))
  func byInstructionEqualsByTablesAtEveryAlignment() {
    var random = SeededRandom.fromEnvironment("the instruction and the tables")
    let bytes = (0..<200_008).map { _ in UInt8.random(in: 0...255, using: &random) }
    // From 49,152 bytes on, three lanes run side by side.
    for count in Array(0...300) + [4_095, 4_096, 49_151, 49_152, 49_153, 65_537, 98_304, 200_000] {
      for start in 0..<8 {
        let register = UInt32.random(in: 0...UInt32.max, using: &random)
        bytes[start..<start + count].withUnsafeBytes {
          #expect(
            Checksum.byInstruction(register, $0) == Checksum.byTables(register, $0),
            "\(count) bytes from \(start)")
        }
      }
    }
  }

  @Test func checksumsOfPiecesAreJoined() {
    var random = SeededRandom.fromEnvironment("joined checksums")
    for length in [0, 1, 2, 63, 64, 65, 1_000, 100_000] {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      for cut in Set([0, length / 3, length / 2, length]) {
        let (first, second) = (Checksum.of(bytes[..<cut]), Checksum.of(bytes[cut...]))
        #expect(
          Checksum.joined(first, second, length: length - cut) == Checksum.of(bytes), "\(cut) of \(length)")
      }
    }
  }

  @Test func singleWrongByteIsCorrected() {
    let bytes = Array("a payload whose bytes may go wrong, one at a time".utf8)
    let checksum = Checksum.of(bytes)
    for position in bytes.indices {
      for change in 1...255 as ClosedRange<UInt8> {
        var damaged = bytes
        damaged[position] ^= change
        #expect(Checksum.correct(&damaged, to: checksum) == position)
        #expect(damaged == bytes)
      }
    }
  }

  @Test func twoWrongBytesAreLeftUnchanged() {
    let bytes = [UInt8](repeating: 7, count: 40)
    var random = SeededRandom.fromEnvironment("two wrong bytes")
    for _ in 0..<200 {
      var damaged = bytes
      damaged[Int.random(in: 0..<20, using: &random)] ^= .random(in: 1...255, using: &random)
      damaged[Int.random(in: 20..<40, using: &random)] ^= .random(in: 1...255, using: &random)
      let asFound = damaged
      // By chance once in 400,000 times.
      #expect(Checksum.correct(&damaged, to: Checksum.of(bytes)) == nil)
      #expect(damaged == asFound)
    }
    var sound = bytes
    #expect(Checksum.correct(&sound, to: Checksum.of(bytes)) == nil)
  }
}
