import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables

/// The offsets of a table's file, with the stamp and the checksum of that file.
///
/// Whoever can write to `.filedb` can forge them, checksum and all. So each number is checked against the table's file
/// before it is used, and none decides what is written.
struct KnownOffsets: Equatable {
  var stamp: FileStamp
  /// What the file's version was said to be. It counts only if the journal names the same.
  var version: FileVersion
  var offsets: TableOffsets
}

/// What is known about the tables' files, so that they need not be read as a whole. FileDB rebuilds it if it is missing
/// or damaged. So none of it is synced, and errors are ignored.
extension StoreFolder {
  private func offsetsFile(of table: TableKey) -> String { "\(offsetsFolder)/\(table.text)" }

  /// - Returns: `nil` if there are no offsets for the file with this stamp.
  func offsets(of table: TableKey, for stamp: FileStamp) -> KnownOffsets? {
    // The table itself is longer than what is known about it.
    guard let file = try? disk.open(offsetsFile(of: table)), let size = try? file.extent().size,
      size <= stamp.size, let bytes = try? file.read(at: 0, count: size)
    else { return nil }
    return KnownOffsets(bytes, for: stamp)
  }

  /// Keeps what is known about a table's file.
  /// - Parameter lookups: all lookups that the table may have, complete with its records.
  func writeOffsets(_ known: KnownOffsets, _ lookups: [LookupDraft], of table: TableKey) {
    guard known.stamp.isSettled, Self.hasOffsets(table), let bytes = known.bytes else { return }
    for lookup in lookups { writeLookup(lookup.bytes(for: known), of: table, by: lookup.names, for: known) }
    removeLookups(of: table, except: lookups.map(\.names))
    write(offsetsFile(of: table), bytes)
  }

  private func write(_ path: String, _ bytes: [UInt8]) {
    let draft = "\(offsetsFolder)/.\(UInt64.random(in: .min ... .max))"
    do throws(StoreError) {
      guard try disk.status(ownFolder) != nil else { return }
      try disk.makeFolder(offsetsFolder)
      try disk.createUnsynced(draft, [bytes])
      try disk.rename(draft, to: path)
    } catch {
      try? disk.remove(draft)
    }
  }

  /// The store's own tables are too small for this.
  private static func hasOffsets(_ table: TableKey) -> Bool { table.text != installedTable }
}

/// The lookups of a table: one file for each list of fields.
extension StoreFolder {
  private static let lookupSuffix = ".lookup"

  /// Another list of fields is unlikely to have the same name. The file says which list it is for.
  private func lookupFile(of table: TableKey, by names: [String]) -> String {
    let digits = String(hexadecimal: ValueHash(names.map(PlistValue.string)).number, width: 16)
    return "\(offsetsFolder)/\(table.text).\(digits)\(Self.lookupSuffix)"
  }

  /// - Returns: `nil` if there is no lookup for this file.
  func lookup(of table: TableKey, by names: [String], for known: KnownOffsets) -> RecordLookup? {
    guard let file = try? disk.open(lookupFile(of: table, by: names)) else { return nil }
    return RecordLookup(file, by: names, for: known)
  }

  func writeLookup(_ bytes: [UInt8], of table: TableKey, by names: [String], for known: KnownOffsets) {
    guard known.stamp.isSettled, Self.hasOffsets(table) else { return }
    write(lookupFile(of: table, by: names), bytes)
  }

  /// Removes the lookups of a table, except those by these lists of fields.
  private func removeLookups(of table: TableKey, except kept: [[String]]) {
    let keptFiles = Set(kept.map { fileName(of: lookupFile(of: table, by: $0)) })
    for name in (try? disk.list(offsetsFolder)) ?? [] where !keptFiles.contains(name) {
      guard name.hasSuffix(Self.lookupSuffix) else { continue }
      // The rest of the name is a full stop and sixteen digits.
      let owner = name.dropLast(Self.lookupSuffix.count + 17)
      if TableKey(String(owner)) == table { try? disk.remove("\(offsetsFolder)/\(name)") }
    }
  }

  /// Removes what is known about the file of a table that is gone.
  func forgetOffsets(of table: TableKey) {
    removeLookups(of: table, except: [])
    try? disk.remove(offsetsFile(of: table))
  }
}

extension KnownOffsets {
  /// The bytes "FDBOFFS2" as a number.
  private static let magic: UInt64 = 0x3253_4646_4F42_4446

  /// The file: little-endian numbers of 64 bits, then a checksum of all this. `nil` for a table without records.
  var bytes: [UInt8]? {
    guard case .file(_, let checksum) = version, offsets.count > 0 else { return nil }
    let head: [UInt64] =
      [Self.magic] + stamp.numbers + [
        UInt64(checksum), UInt64(offsets.count), UInt64(offsets.chunkLength),
        UInt64(offsets.indexMap.lowerBound), UInt64(offsets.indexMap.upperBound),
      ]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * (head.count + offsets.chunks.count) + 4)
    for number in head { bytes.append(littleEndian: number) }
    for offset in offsets.chunks { bytes.append(littleEndian: UInt64(offset)) }
    bytes.append(littleEndian: Checksum.of(bytes))
    return bytes
  }

  /// - Returns: `nil` for anything but what ``bytes`` makes for a file with this stamp, and for offsets that no such
  ///   file can have.
  init?(_ bytes: [UInt8], for stamp: FileStamp) {
    var reader = NumberReader(bytes[...].dropLast(4))
    guard reader.next() == Self.magic, stamp.numbers.allSatisfy({ reader.next() == $0 }) else { return nil }
    var end = NumberReader(bytes.suffix(4))
    guard end.nextHalf() == Checksum.of(bytes.dropLast(4)),
      let checksum = reader.next().flatMap({ UInt32(exactly: $0) }), let count = reader.nextInt(),
      let chunkLength = reader.nextInt(), let mapStart = reader.nextInt(), let mapEnd = reader.nextInt(),
      mapStart <= mapEnd
    else { return nil }
    var chunks: [Int] = []
    while let offset = reader.nextInt() { chunks.append(offset) }
    offsets = TableOffsets(
      count: count, chunkLength: chunkLength, chunks: chunks, indexMap: mapStart..<mapEnd)
    guard reader.rest.isEmpty, offsets.fit(fileSize: stamp.size) else { return nil }
    self.stamp = stamp
    self.stamp.isSettled = true  // It was when the offsets were kept.
    version = .file(size: stamp.size, checksum: checksum)
  }
}

extension FileStamp {
  /// Everything that tells whether a file is unchanged.
  var numbers: [UInt64] {
    [device, inode, UInt64(size), UInt64(bitPattern: modified), UInt64(bitPattern: changed)]
  }
}
