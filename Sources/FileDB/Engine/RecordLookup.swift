import FileDBEssentials
import FileDBStorage
import FileDBTables

/// Finds the records of a table by the values of some fields. It contains only hashes, so the caller must check each
/// record that it finds. It is in a file beside the offsets of its table, of which a query reads only some kilobytes; or
/// in memory, if it was only just made.
///
/// The file has a head, and blocks of up to 512 entries. All numbers are little-endian, with 64 bits unless this says
/// otherwise.
///
///     head   "FDBLOOK2"; for the table's file: device, inode, size, time of the content, time of the status, number of
///            records; the number of entries; a random number; the number of fields, and the length and name of each;
///            the first hash of each block; a checksum of 32 bits of all this
///     block  the hash of each entry, and its index in 32 bits; a checksum of 32 bits of the random number, the number
///            of the block and the entries
///
/// The random number exposes blocks that are left from a file that was on the disk before.
///
/// Whoever can write to `.filedb` can forge a lookup, checksums and all. A record that it names is compared before it
/// is used. But it may name fewer records than there are.
final class RecordLookup: Sendable {
  private let head: LookupHead
  /// The bytes from an offset on, fewer if the file ends; `nil` if reading fails.
  private let read: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?

  /// - Returns: `nil` if the file is damaged, or was made for another file or other fields than these.
  convenience init?(_ file: any OpenFile, by names: [String], for known: KnownOffsets) {
    guard let size = try? file.extent().size else { return nil }
    self.init(size: size, by: names, for: known) { try? file.read(at: $0, count: $1) }
  }

  /// - Parameter bytes: what ``LookupDraft/bytes(for:)`` makes.
  convenience init?(_ bytes: [UInt8], by names: [String], for known: KnownOffsets) {
    self.init(size: bytes.count, by: names, for: known) { Array(bytes[$0..<min($0 + $1, bytes.count)]) }
  }

  private init?(
    size: Int, by names: [String], for known: KnownOffsets,
    read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?
  ) {
    guard let start = read(0, LookupHead.startLength),
      var head = LookupHead(startingWith: start, by: names, for: known), size == head.fileLength,
      let bytes = read(0, head.length), head.readFirstHashes(in: bytes)
    else { return nil }
    (self.head, self.read) = (head, read)
  }

  /// The indices of the records that may have these values, in ascending order; `nil` if the file is damaged.
  /// - Complexity: O(log *n*), and one block is read.
  func indices(of hash: ValueHash) -> [Int]? {
    let start = head.firstHashes.partitioningIndex { $0 >= hash.number }
    var indices: [Int] = []
    // Entries with this hash may begin in the block before the first block that begins with it.
    for number in max(start - 1, 0)..<head.firstHashes.count {
      if head.firstHashes[number] > hash.number { break }
      guard let block = block(number) else { return nil }
      let first = (0..<block.count).partitioningIndex { block.hash($0) >= hash.number }
      for entry in first..<block.count where block.hash(entry) == hash.number {
        indices.append(block.index(entry))
      }
    }
    let isAscending = zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }
    return isAscending && indices.last ?? 0 < head.recordCount ? indices : nil
  }

  private func block(_ number: Int) -> LookupBlock? {
    let length = head.entries(ofBlock: number).count * LookupHead.entryLength
    guard let bytes = read(head.offset(ofBlock: number), length + 4), bytes.count == length + 4 else {
      return nil
    }
    var end = NumberReader(bytes.suffix(4))
    let entries = bytes.prefix(length)
    return end.nextHalf() == head.checksum(ofBlock: number, entries) ? LookupBlock(bytes: entries) : nil
  }
}

/// The entries of a block.
private struct LookupBlock {
  let bytes: ArraySlice<UInt8>

  var count: Int { bytes.count / LookupHead.entryLength }

  func hash(_ entry: Int) -> UInt64 { number(at: entry * LookupHead.entryLength) }
  func index(_ entry: Int) -> Int { Int(number(at: entry * LookupHead.entryLength + 8) as UInt32) }

  private func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
  }
}

extension LookupDraft {
  /// The bytes of a ``RecordLookup``.
  /// - Parameter known: the offsets of the table with the records of the draft.
  func bytes(for known: KnownOffsets) -> [UInt8] {
    let entries = entries.sorted()
    let head = LookupHead(of: entries, by: names, for: known)
    var bytes = head.bytes
    bytes.reserveCapacity(head.fileLength)
    for number in head.firstHashes.indices {
      let start = bytes.count
      for entry in entries[head.entries(ofBlock: number)] {
        bytes.append(littleEndian: entry.hash)
        bytes.append(littleEndian: entry.index)
      }
      bytes.append(littleEndian: head.checksum(ofBlock: number, bytes[start...]))
    }
    return bytes
  }
}

/// The first part of a ``RecordLookup``.
struct LookupHead: Equatable {
  /// The bytes "FDBLOOK2" as a number.
  private static let magic: UInt64 = 0x324B_4F4F_4C42_4446
  private static let blockLength = 512
  static let entryLength = 12
  /// The number of bytes before the names.
  static let startLength = 8 * 9

  private let stamp: FileStamp
  let recordCount: Int
  private let names: [String]
  private let entryCount: Int
  private let salt: UInt64
  /// The first hash of each block, in ascending order.
  private(set) var firstHashes: [UInt64] = []

  /// - Parameter entries: sorted in ascending order.
  init(of entries: [LookupDraft.Entry], by names: [String], for known: KnownOffsets) {
    (stamp, recordCount) = (known.stamp, known.offsets.count)
    (self.names, entryCount) = (names, entries.count)
    salt = .random(in: .min ... .max)
    firstHashes = stride(from: 0, to: entries.count, by: Self.blockLength).map { entries[$0].hash }
  }

  /// The head without the first hashes.
  /// - Parameter bytes: the first ``startLength`` bytes.
  /// - Returns: `nil` if they are of a lookup for another file.
  init?(startingWith bytes: [UInt8], by names: [String], for known: KnownOffsets) {
    var reader = NumberReader(bytes[...])
    guard reader.next() == Self.magic, known.stamp.numbers.allSatisfy({ reader.next() == $0 }),
      reader.nextInt() == known.offsets.count, let entryCount = reader.nextInt(),
      entryCount <= known.offsets.count, let salt = reader.next()
    else { return nil }
    (stamp, recordCount, self.names) = (known.stamp, known.offsets.count, names)
    (self.entryCount, self.salt) = (entryCount, salt)
  }

  /// - Parameter bytes: the whole head.
  /// - Returns: false for anything but what ``bytes`` makes.
  mutating func readFirstHashes(in bytes: [UInt8]) -> Bool {
    var reader = NumberReader(bytes.dropLast(4).suffix(8 * blockCount))
    while let hash = reader.next() { firstHashes.append(hash) }
    return zip(firstHashes, firstHashes.dropFirst()).allSatisfy { $0 <= $1 } && self.bytes == bytes
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    let counts = [recordCount, entryCount].map { UInt64($0) }
    for number in [Self.magic] + stamp.numbers + counts + [salt, UInt64(names.count)] {
      bytes.append(littleEndian: number)
    }
    for name in names {
      bytes.append(littleEndian: UInt64(name.utf8.count))
      bytes += name.utf8
    }
    for hash in firstHashes { bytes.append(littleEndian: hash) }
    bytes.append(littleEndian: Checksum.of(bytes))
    return bytes
  }

  /// The length of ``bytes``.
  var length: Int { Self.startLength + 8 + names.reduce(0) { $0 + 8 + $1.utf8.count } + 8 * blockCount + 4 }

  /// The length of the file.
  var fileLength: Int { length + entryCount * Self.entryLength + blockCount * 4 }

  private var blockCount: Int { (entryCount + Self.blockLength - 1) / Self.blockLength }

  func entries(ofBlock number: Int) -> Range<Int> {
    number * Self.blockLength..<min((number + 1) * Self.blockLength, entryCount)
  }

  func offset(ofBlock number: Int) -> Int {
    length + number * (Self.blockLength * Self.entryLength + 4)
  }

  func checksum(ofBlock number: Int, _ entries: ArraySlice<UInt8>) -> UInt32 {
    var place: [UInt8] = []
    place.append(littleEndian: salt)
    place.append(littleEndian: UInt64(number))
    var checksum = Checksum()
    place.withUnsafeBytes { checksum.update($0) }
    entries.withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }
}
