import FileDBPlist
import FileDBStorage
import FileDBTables

/// The offsets of a table's file, with the stamp and the checksum of that file.
struct KnownOffsets: Equatable {
  var stamp: FileStamp
  var version: FileVersion
  var offsets: TableOffsets
}

/// What is known about the tables' files, so that they need not be read as a whole. FileDB rebuilds it if it is missing
/// or damaged. So none of it is synced, and errors are ignored.
extension StoreFolder {
  private func offsetsFile(of table: TableKey) -> String { "\(offsetsFolder)/\(table.text)" }

  /// - Returns: `nil` if there are no offsets for the file with this stamp.
  func offsets(of table: TableKey, for stamp: FileStamp) -> KnownOffsets? {
    guard let bytes = try? disk.read(offsetsFile(of: table)).bytes, let known = KnownOffsets(bytes),
      stamp.provesUnchanged(since: known.stamp)
    else { return nil }
    return known
  }

  /// Keeps what is known about a table's file.
  /// - Parameter lookups: all lookups that the table may have, complete with its records.
  func note(_ known: KnownOffsets, _ lookups: [LookupDraft], of table: TableKey) {
    guard known.stamp.isSettled, Self.hasOffsets(table), let bytes = known.bytes else { return }
    for lookup in lookups { note(RecordLookup(lookup), of: table, for: known) }
    removeLookups(of: table, except: lookups.map(\.names))
    note(offsetsFile(of: table)) { file throws(DiskError) in try file.append(bytes) }
  }

  private func note(_ path: String, write: (any WritableFile) throws(DiskError) -> Void) {
    let draft = "\(offsetsFolder)/.\(UInt64.random(in: .min ... .max))"
    do throws(StoreError) {
      guard try disk.status(ownFolder) != nil else { return }
      try disk.makeFolder(offsetsFolder)
      try disk.createUnsynced(draft, write: write)
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
    let digits = String(ValueHash(names.map(PlistValue.string)).number, radix: 16)
    let padding = String(repeating: "0", count: 16 - digits.count)
    return "\(offsetsFolder)/\(table.text).\(padding)\(digits)\(Self.lookupSuffix)"
  }

  /// - Returns: `nil` if there is no lookup for this file.
  func lookup(of table: TableKey, by names: [String], for known: KnownOffsets) -> LookupFile? {
    guard let file = try? disk.open(lookupFile(of: table, by: names)) else { return nil }
    return LookupFile(file, by: names, for: known)
  }

  func note(_ lookup: RecordLookup, of table: TableKey, for known: KnownOffsets) {
    guard known.stamp.isSettled, Self.hasOffsets(table) else { return }
    let head = LookupHead(lookup, for: known)
    note(lookupFile(of: table, by: lookup.names)) { file throws(DiskError) in
      var piece = head.bytes
      for number in head.firstHashes.indices {
        piece += head.bytes(ofBlock: number, of: lookup)
        guard piece.count >= 1 << 20 else { continue }
        try file.append(piece)
        piece.removeAll(keepingCapacity: true)
      }
      try file.append(piece)
    }
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
  /// The bytes "FDBOFFS1" as a number.
  private static let mark: UInt64 = 0x3153_4646_4F42_4446

  /// The file: little-endian numbers of 64 bits, then the other programs' keys as a property list, then a checksum of
  /// all this.
  var bytes: [UInt8]? {
    guard case .file(let size, let checksum) = version,
      let foreign = try? PlistWriter.document(.dict(offsets.foreignKeys))
    else { return nil }
    let head: [UInt64] = [
      Self.mark, stamp.device, stamp.inode, UInt64(size), UInt64(bitPattern: stamp.modified),
      UInt64(bitPattern: stamp.changed), UInt64(checksum), UInt64(bitPattern: offsets.counter),
      UInt64(offsets.count), UInt64(offsets.chunkLength), UInt64(offsets.indexMap.lowerBound),
      UInt64(offsets.indexMap.upperBound),
      UInt64(foreign.count), UInt64(offsets.chunks.count),
    ]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * (head.count + offsets.chunks.count) + foreign.count + 4)
    for number in head { bytes.append(littleEndian: number) }
    for offset in offsets.chunks { bytes.append(littleEndian: UInt64(offset)) }
    bytes += foreign
    bytes.append(littleEndian: Checksum.of(bytes))
    return bytes
  }

  /// `nil` for anything but what ``bytes`` makes.
  init?(_ bytes: [UInt8]) {
    var reader = NumberReader(bytes[...].dropLast(4))
    var end = NumberReader(bytes.suffix(4))
    guard bytes.count > 4, end.nextHalf() == Checksum.of(bytes.dropLast(4)),
      reader.next() == Self.mark
    else { return nil }
    let head = (0..<13).compactMap { _ in reader.next() }
    guard head.count == 13, let size = Int(exactly: head[2]), let checksum = UInt32(exactly: head[5]),
      let count = Int(exactly: head[7]), let length = Int(exactly: head[8]), length > 0,
      let start = Int(exactly: head[9]), let end = Int(exactly: head[10]), start <= end,
      let foreignCount = Int(exactly: head[11])
    else { return nil }
    let chunks = (0..<head[12]).compactMap { _ in reader.next().flatMap { Int(exactly: $0) } }
    guard chunks.count == head[12], count == 0 || chunks.count == (count - 1) / length + 2,
      reader.rest.count == foreignCount
    else { return nil }
    guard case .dict(let foreignKeys)? = try? PlistParser.parse(Array(reader.rest), limits: PlistLimits())
    else {
      return nil
    }
    stamp = FileStamp(
      device: head[0], inode: head[1], size: size, modified: Int64(bitPattern: head[3]),
      changed: Int64(bitPattern: head[4]), isSettled: true)
    version = .file(size: size, checksum: checksum)
    offsets = TableOffsets(
      counter: Int64(bitPattern: head[6]), count: count, chunkLength: length, chunks: chunks,
      indexMap: start..<end, foreignKeys: foreignKeys)
  }
}
