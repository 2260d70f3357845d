import FileDBPlist
import FileDBStorage
import FileDBTables
import Synchronization

/// The records of a canonical file whose offsets are known. Looking at a record reads the piece that contains it, and
/// checks that the file is still the one that the offsets belong to, and that the piece is where it should be.
///
/// Whoever looks at many records out of order would read the same pieces again and again. Before that has cost more
/// than reading the file, all records are read, and stay in memory.
final class UnreadTable: UnreadRecords {
  /// What was read so far.
  private struct Found {
    /// The chunks that were read last, newest first.
    var latest: [(number: Int, records: [EncodedRecord])] = []
    /// The chunks that certainly begin with the right record. The end of the last chunk counts as one more.
    var starts: Set<Int>
    /// What searching for ids and reading pieces again has cost so far, in bytes. A call counts as much as the bytes
    /// that can be read in its time.
    var repeatedCost = 0
    var whole: Whole?
  }

  /// All records. This is a class so that taking them out of the lock copies one reference.
  private final class Whole: Sendable {
    let chunks: [[EncodedRecord]]
    let indices: RecordMap

    init(_ records: [EncodedRecord], chunkLength: Int) {
      chunks = stride(from: 0, to: records.count, by: chunkLength).map {
        Array(records[$0..<min($0 + chunkLength, records.count)])
      }
      var indices = RecordMap()
      for (index, record) in records.enumerated() { indices.set(UInt32(index), for: record.id) }
      self.indices = indices
    }
  }

  var count: Int { offsets.count }
  var chunkLength: Int { offsets.chunkLength }
  private let file: any OpenFile
  let known: KnownOffsets
  let table: TableKey
  let folder: StoreFolder
  /// The table without its records.
  let rest: TableState
  private let limits: PlistLimits
  private let path: String
  private let giveUp: @Sendable (StoreError) -> Never
  private let found: Mutex<Found>
  /// Lookups, by the UTF-8 bytes of the fields' names.
  let lookups = Mutex<[[[UInt8]]: RecordLookup]>([:])

  /// - Parameters:
  ///   - file: the open file, which stays the same even if another file takes its name.
  ///   - known: what is known about it. The offsets must fit a file of its size.
  ///   - folder: where lookups of the table are kept.
  ///   - path: the file's path, for errors.
  /// - Returns: `nil` if the offsets are not those of the file.
  init?(
    _ file: any OpenFile, _ known: KnownOffsets, of table: TableKey, in folder: StoreFolder,
    limits: PlistLimits, path: String, giveUp: @escaping @Sendable (StoreError) -> Never
  ) {
    let pieces = known.offsets.rest(fileSize: known.stamp.size).compactMap {
      try? file.read(at: $0.lowerBound, count: $0.count)
    }
    guard let rest = CanonicalTable.decode(rest: pieces, limits: limits) else { return nil }
    (self.file, self.known, self.table, self.folder, self.rest) = (file, known, table, folder, rest)
    (self.limits, self.path, self.giveUp) = (limits, path, giveUp)
    found = Mutex(Found(starts: [0, known.offsets.chunks.count - 1]))
    guard (try? isCounted() && indexMapEndsWithEntries()) == true else { return nil }
  }

  private var offsets: TableOffsets { known.offsets }

  func records(ofChunk number: Int) -> [EncodedRecord] {
    orGiveUp { () throws(StoreError) in try chunk(number) }
  }

  func index(of id: AnyRecordID) -> Int? {
    orGiveUp { () throws(StoreError) in try find(id) }
  }

  /// The version of the file, from its bytes.
  func readVersion() -> FileVersion {
    var checksum = Checksum()
    for start in stride(from: 0, to: known.stamp.size, by: 1 << 20) {
      let piece = orGiveUp { () throws(StoreError) in
        try read(start..<min(start + 1 << 20, known.stamp.size))
      }
      piece.withUnsafeBytes { checksum.update($0) }
    }
    return .file(size: known.stamp.size, checksum: checksum.value)
  }

  /// Checks that nobody has written into the file so far.
  func checkUnchanged() {
    orGiveUp { () throws(StoreError) in try throwIfChanged() }
  }

  private func orGiveUp<Result>(_ body: () throws(StoreError) -> Result) -> Result {
    do throws(StoreError) { return try body() } catch { giveUp(error) }
  }
}

// MARK: - Reading

extension UnreadTable {
  /// The records of a chunk.
  /// - Throws: ``StoreError/Code/locked`` if the file was changed, or if the offsets are not those of the file; the
  ///   disk's errors.
  func chunk(_ number: Int) throws(StoreError) -> [EncodedRecord] {
    if let whole = try whole() { return whole.chunks[number] }
    let bounds = offsets.chunks[number]..<offsets.chunks[number + 1]
    let (known, isPlaced) = found.withLock { found -> ([EncodedRecord]?, Bool) in
      if let latest = found.latest.first(where: { $0.number == number }) { return (latest.records, true) }
      let (start, end) = (found.starts.contains(number), found.starts.contains(number + 1))
      if start, end { found.repeatedCost += Self.costOfCall + bounds.count }
      return (nil, start || end)
    }
    if let known { return known }
    let records = try decode(read(bounds))
    let start = number * chunkLength
    guard let records, let first = records.first, records.count == min(chunkLength, count - start) else {
      throw misfit()
    }
    // The chunk has the right number of records. So it is enough to know that it begins, or ends, where it should.
    if !isPlaced, try mappedIndex(of: first.id) != start { throw misfit() }
    found.withLock { found in
      found.latest = [(number, records)] + found.latest.prefix(7)
      found.starts.formUnion([number, number + 1])
    }
    return records
  }

  /// The records whose lines take up all of these bytes; `nil` if there is something else.
  private func decode(_ bytes: [UInt8]) -> [EncodedRecord]? {
    bytes.withUnsafeBytes { all in
      var scanner = CanonicalScanner(all, limits: limits)
      var records: [EncodedRecord] = []
      while let (range, id) = scanner.scanDict(indentation: 2, numberKey: TableFile.idName) {
        records.append(EncodedRecord(id: AnyRecordID(counted: id), bytes: bytes[range]))
      }
      return scanner.isAtEnd ? records : nil
    }
  }

  /// All records, if reading pieces has cost enough; otherwise `nil`.
  private func whole() throws(StoreError) -> Whole? {
    let (known, cost) = found.withLock { ($0.whole, $0.repeatedCost) }
    if known != nil || cost <= self.known.stamp.size { return known }
    guard let records = try decode(read(offsets.chunks[0]..<offsets.chunks[offsets.chunks.count - 1])),
      records.count == count
    else { throw misfit() }
    let whole = Whole(records, chunkLength: chunkLength)
    found.withLock { $0.whole = whole }
    return whole
  }

  /// A call of the system takes as long as reading so many bytes.
  private static var costOfCall: Int { 4_096 }

  /// The index of the record with this id.
  /// - Throws: as ``chunk(_:)``.
  func find(_ id: AnyRecordID) throws(StoreError) -> Int? {
    if let whole = try whole() { return whole.indices[id].map(Int.init) }
    guard let index = try mappedIndex(of: id) else { return nil }
    guard index < count, try chunk(index / chunkLength)[index % chunkLength].id == id else { throw misfit() }
    return index
  }

  /// Whether the index map gives the last record the last index.
  private func isCounted() throws(StoreError) -> Bool {
    guard let last = try chunk(offsets.chunks.count - 2).last else { return false }
    return try mappedIndex(of: last.id) == count - 1
  }

  /// Whether the bytes up to the end of the index map are entries. Otherwise another dictionary could pass for its end.
  private func indexMapEndsWithEntries() throws(StoreError) -> Bool {
    let start = max(offsets.indexMap.lowerBound, offsets.indexMap.upperBound - Self.window)
    let lines = try read(start..<offsets.indexMap.upperBound)
    guard let first = start == offsets.indexMap.lowerBound ? 0 : lines.firstEntry?.start else { return false }
    return lines.withUnsafeBytes { bytes in
      var scanner = CanonicalScanner(bytes, limits: limits).moved(to: first)
      while scanner.scanNumbers() != nil {}
      return scanner.isAtEnd
    }
  }

  /// The length of the part of the index map that is read line by line.
  private static var window: Int { 4_096 }

  /// Finds the id in the file's index map, whose lines are ordered by the ids' digits.
  private func mappedIndex(of id: AnyRecordID) throws(StoreError) -> Int? {
    let wanted = DecimalOrder(id.rawValue)
    var (low, high) = (offsets.indexMap.lowerBound, offsets.indexMap.upperBound)
    var calls = 1
    defer { found.withLock { $0.repeatedCost += calls * Self.costOfCall } }
    while high - low > Self.window {
      calls += 1
      let middle = (low + high) / 2
      guard let entry = try read(middle..<middle + 256).firstEntry else { throw misfit() }
      let order = DecimalOrder(entry.id)
      if order == wanted { return entry.index }
      if order < wanted { low = middle + entry.end } else { high = middle + entry.start }
    }
    return try read(low..<high).withUnsafeBytes { lines in
      var scanner = CanonicalScanner(lines, limits: limits)
      while let (key, value) = scanner.scanNumbers() {
        if key == id.rawValue { return Int(exactly: value) }
      }
      return nil
    }
  }

  private func read(_ range: Range<Int>) throws(StoreError) -> [UInt8] {
    let bytes = try onDisk(file.read(at: range.lowerBound, count: range.count))
    // Check after reading: if somebody wrote before, the time has changed by now.
    try throwIfChanged()
    if bytes.count != range.count { throw changed }
    return bytes
  }

  private func throwIfChanged() throws(StoreError) {
    if try !onDisk(file.status()).stamp.isOfSameContent(as: known.stamp) { throw changed }
  }

  private var changed: StoreError {
    StoreError(.locked, "another program wrote into the file while it was read; try again", file: path)
  }

  /// Removes the offsets, so that the next program makes new ones.
  private func misfit() -> StoreError {
    folder.forgetOffsets(of: table)
    return StoreError(
      .locked, "the notes about this file in '.filedb/offsets' were wrong and are removed; try again",
      file: path)
  }
}

extension [UInt8] {
  /// The first entry of an index map that begins in these bytes, and the range of its lines.
  fileprivate var firstEntry: (id: Int64, index: Int, start: Int, end: Int)? {
    withUnsafeBytes { bytes in
      var scanner = CanonicalScanner(bytes)
      var line = 0
      // The lines of ids and indices alternate, so one of the next three lines begins an entry.
      for _ in 0..<3 {
        guard let end = bytes[line...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        line = end + 1
        scanner = scanner.moved(to: line)
        if let (id, index) = scanner.scanNumbers(), let index = Int(exactly: index) {
          return (id, index, line, scanner.position)
        }
      }
      return nil
    }
  }
}
