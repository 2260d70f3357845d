import FileDBStorage
import FileDBTables

/// A ``RecordLookup`` in a file beside the offsets of its table. A query reads only some kilobytes of it.
///
/// The file has a head, and blocks of up to 512 entries. All numbers are little-endian, with 64 bits unless this says
/// otherwise.
///
///     head   "FDBLOOK1"; the length of the head; a random number; for the table's file: device, inode, size, time of
///            the content, time of the status, checksum, number of records; the number of entries; the number of
///            fields, and the length and name of each; the first hash of each block; a checksum of 32 bits of all this
///     block  the hash of each entry, and its index in 32 bits; a checksum of 32 bits of the random number, the number
///            of the block and the entries
///
/// The random number exposes blocks that are left from a file that was on the disk before.
final class LookupFile: Sendable {
  private let file: any OpenFile
  private let head: LookupHead

  /// - Returns: `nil` if the file is damaged, or was made for another file or other fields than these.
  init?(_ file: any OpenFile, by names: [String], for known: KnownOffsets) {
    guard let start = try? file.read(at: 0, count: LookupHead.prefixLength),
      let length = LookupHead.length(startingWith: start), let size = try? file.status().stamp.size,
      length <= size,
      let bytes = try? file.read(at: 0, count: length), let head = LookupHead(bytes),
      head.file == LookupHead.File(known),
      head.names.elementsEqual(names, by: { $0.utf8.elementsEqual($1.utf8) })
    else { return nil }
    (self.file, self.head) = (file, head)
  }

  /// The indices of the records that may have these values, in ascending order; `nil` if the file is damaged.
  func indices(of hash: ValueHash) -> [Int]? {
    let start = head.firstHashes.partitioningIndex { $0 >= hash.number }
    var indices: [Int] = []
    // Entries with this hash may begin in the block before the first block that begins with it.
    for number in max(start - 1, 0)..<head.firstHashes.count {
      if head.firstHashes[number] > hash.number { break }
      guard let block = block(number) else { return nil }
      for entry in block where entry.hash == hash.number { indices.append(Int(entry.index)) }
    }
    return indices.allSatisfy { $0 < head.file.recordCount } ? indices : nil
  }

  private func block(_ number: Int) -> [RecordLookup.Entry]? {
    let count = head.entryCount(ofBlock: number)
    let length = count * LookupHead.entryLength
    guard let bytes = try? file.read(at: head.offset(ofBlock: number), count: length + 4),
      bytes.count == length + 4
    else { return nil }
    var (entries, end) = (NumberReader(bytes.prefix(length)), NumberReader(bytes.suffix(4)))
    guard end.nextHalf() == head.checksum(ofBlock: number, bytes.prefix(length)) else { return nil }
    return (0..<count).compactMap { _ in
      guard let hash = entries.next(), let index = entries.nextHalf() else { return nil }
      return RecordLookup.Entry(hash: hash, index: index)
    }
  }
}

/// The first part of a ``LookupFile``.
struct LookupHead: Equatable {
  /// The file for which a lookup is valid.
  struct File: Equatable {
    var numbers: [UInt64]
    var recordCount: Int { Int(numbers[6]) }

    init(_ known: KnownOffsets) {
      let stamp = known.stamp
      var checksum: UInt32 = 0
      if case .file(_, let value) = known.version { checksum = value }
      numbers = [
        stamp.device, stamp.inode, UInt64(stamp.size), UInt64(bitPattern: stamp.modified),
        UInt64(bitPattern: stamp.changed), UInt64(checksum), UInt64(known.offsets.count),
      ]
    }

    fileprivate init?(_ reader: inout NumberReader) {
      numbers = (0..<7).compactMap { _ in reader.next() }
      guard numbers.count == 7, Int(exactly: numbers[6]) != nil else { return nil }
    }
  }

  /// The bytes "FDBLOOK1" as a number.
  private static let mark: UInt64 = 0x314B_4F4F_4C42_4446
  private static let blockLength = 512
  static let entryLength = 12
  /// The number of bytes that tell how long the head is.
  static let prefixLength = 16

  let file: File
  let names: [String]
  let entryCount: Int
  /// The first hash of each block.
  let firstHashes: [UInt64]
  private let salt: UInt64

  init(_ lookup: RecordLookup, for known: KnownOffsets) {
    (file, names, entryCount) = (File(known), lookup.names, lookup.entries.count)
    firstHashes = stride(from: 0, to: lookup.entries.count, by: Self.blockLength).map {
      lookup.entries[$0].hash
    }
    salt = .random(in: .min ... .max)
  }

  var bytes: [UInt8] {
    var rest: [UInt8] = []
    for number in [salt] + file.numbers + [UInt64(entryCount), UInt64(names.count)] {
      rest.append(littleEndian: number)
    }
    for name in names {
      rest.append(littleEndian: UInt64(name.utf8.count))
      rest += name.utf8
    }
    for hash in firstHashes { rest.append(littleEndian: hash) }
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Self.mark)
    bytes.append(littleEndian: UInt64(Self.prefixLength + rest.count + 4))
    bytes += rest
    bytes.append(littleEndian: Checksum.of(bytes))
    return bytes
  }

  static func length(startingWith bytes: [UInt8]) -> Int? {
    var reader = NumberReader(bytes[...])
    guard reader.next() == mark, let length = reader.nextInt(), length > prefixLength else { return nil }
    return length
  }

  /// `nil` for anything but what ``bytes`` makes.
  init?(_ bytes: [UInt8]) {
    var end = NumberReader(bytes.suffix(4))
    guard Self.length(startingWith: bytes) == bytes.count, end.nextHalf() == Checksum.of(bytes.dropLast(4))
    else {
      return nil
    }
    var reader = NumberReader(bytes.dropFirst(Self.prefixLength).dropLast(4))
    guard let salt = reader.next(), let file = File(&reader), let entryCount = reader.nextInt(),
      entryCount <= file.recordCount, let nameCount = reader.nextInt(), nameCount <= bytes.count
    else { return nil }
    let names = (0..<nameCount).compactMap { _ in reader.nextInt().flatMap { reader.nextText($0) } }
    let firstHashes = (0..<(entryCount + Self.blockLength - 1) / Self.blockLength).compactMap { _ in
      reader.next()
    }
    guard names.count == nameCount, reader.rest.isEmpty,
      firstHashes.count == (entryCount + Self.blockLength - 1) / Self.blockLength
    else { return nil }
    (self.file, self.names, self.entryCount, self.firstHashes, self.salt) = (
      file, names, entryCount, firstHashes, salt
    )
  }

  func entryCount(ofBlock number: Int) -> Int {
    min(Self.blockLength, entryCount - number * Self.blockLength)
  }

  func offset(ofBlock number: Int) -> Int {
    bytesBeforeBlocks + number * (Self.blockLength * Self.entryLength + 4)
  }

  private var bytesBeforeBlocks: Int {
    let numbers = 2 + 1 + 7 + 2 + names.count + firstHashes.count
    return 8 * numbers + names.reduce(0) { $0 + $1.utf8.count } + 4
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

  /// The block with this number.
  func bytes(ofBlock number: Int, of lookup: RecordLookup) -> [UInt8] {
    let start = number * Self.blockLength
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.blockLength * Self.entryLength + 4)
    for entry in lookup.entries[start..<start + entryCount(ofBlock: number)] {
      bytes.append(littleEndian: entry.hash)
      bytes.append(littleEndian: entry.index)
    }
    bytes.append(littleEndian: checksum(ofBlock: number, bytes[...]))
    return bytes
  }
}

extension NumberReader {
  fileprivate mutating func nextText(_ count: Int) -> String? {
    nextBytes(count).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
