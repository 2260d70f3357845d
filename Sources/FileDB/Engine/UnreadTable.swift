import FileDBPlist
import FileDBStorage
import FileDBTables
import Synchronization

/// The records of a canonical file whose offsets are known. Looking at a record reads the piece that contains it, and
/// checks that the file is still the one that the offsets belong to.
final class UnreadTable: UnreadRecords {
  var count: Int { offsets.count }
  var chunkLength: Int { offsets.chunkLength }
  private let file: any OpenFile
  let known: KnownOffsets
  let table: TableKey
  let folder: StoreFolder
  private let limits: PlistLimits
  private let changed: StoreError
  private let giveUp: @Sendable (StoreError) -> Never
  /// The chunks that were read last, newest first.
  private let latest = Mutex<[(number: Int, records: [EncodedRecord])]>([])
  /// Lookups, by the UTF-8 bytes of the fields' names.
  let lookups = Mutex<[[[UInt8]]: UnreadLookup]>([:])

  /// - Parameters:
  ///   - file: the open file, which stays the same even if another file takes its name.
  ///   - known: what is known about it.
  ///   - folder: where lookups of the table are kept.
  ///   - path: the file's path, for errors.
  init(
    _ file: any OpenFile, _ known: KnownOffsets, of table: TableKey, in folder: StoreFolder,
    limits: PlistLimits,
    path: String, giveUp: @escaping @Sendable (StoreError) -> Never
  ) {
    (self.file, self.known, self.table, self.folder) = (file, known, table, folder)
    (self.limits, self.giveUp) = (limits, giveUp)
    changed = StoreError(
      .locked, "another program wrote into the file while it was read; try again", file: path)
  }

  private var offsets: TableOffsets { known.offsets }

  func records(ofChunk number: Int) -> [EncodedRecord] {
    if let known = latest.withLock({ latest in latest.first { $0.number == number }?.records }) {
      return known
    }
    let bytes = read(offsets.chunks[number]..<offsets.chunks[number + 1])
    let records = bytes.withUnsafeBytes { all -> [EncodedRecord]? in
      var scanner = CanonicalScanner(all, limits: limits)
      var records: [EncodedRecord] = []
      while let (range, id) = scanner.scanDict(indentation: 2, numberKey: TableFile.idName) {
        records.append(EncodedRecord(id: AnyRecordID(counted: id), bytes: bytes[range]))
      }
      return scanner.isAtEnd ? records : nil
    }
    guard let records, records.count == min(chunkLength, count - number * chunkLength) else {
      giveUp(changed)
    }
    latest.withLock { latest in
      latest = [(number, records)] + latest.prefix(7)
    }
    return records
  }

  func index(of id: AnyRecordID) -> Int? {
    guard let index = mappedIndex(of: id) else { return nil }
    guard index < count, records(ofChunk: index / chunkLength)[index % chunkLength].id == id else {
      giveUp(changed)
    }
    return index
  }

  /// Finds the id in the file's index map, whose lines are ordered by the ids' digits.
  private func mappedIndex(of id: AnyRecordID) -> Int? {
    let wanted = DecimalOrder(id.rawValue)
    var (low, high) = (offsets.indexMap.lowerBound, offsets.indexMap.upperBound)
    while high - low > 4_096 {
      let middle = (low + high) / 2
      guard let entry = read(middle..<middle + 256).firstEntry else { giveUp(changed) }
      let order = DecimalOrder(entry.id)
      if order == wanted { return entry.index }
      if order < wanted { low = middle + entry.end } else { high = middle + entry.start }
    }
    return read(low..<high).withUnsafeBytes { lines in
      var scanner = CanonicalScanner(lines, limits: limits)
      while let (key, value) = scanner.scanNumbers(indentation: 2) {
        if key == id.rawValue { return Int(exactly: value) }
      }
      return nil
    }
  }

  private func read(_ range: Range<Int>) -> [UInt8] {
    do throws(DiskError) {
      let bytes = try file.read(at: range.lowerBound, count: range.count)
      // Check after reading: if somebody wrote before, the time has changed by now.
      checkUnchanged()
      if bytes.count != range.count { giveUp(changed) }
      return bytes
    } catch {
      giveUp(StoreError(error))
    }
  }

  /// Checks that nobody has written into the file so far.
  func checkUnchanged() {
    do throws(DiskError) {
      guard try file.status().stamp.isOfSameContent(as: known.stamp) else { giveUp(changed) }
    } catch {
      giveUp(StoreError(error))
    }
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
        if let (id, index) = scanner.scanNumbers(indentation: 2), let index = Int(exactly: index) {
          return (id, index, line, scanner.position)
        }
      }
      return nil
    }
  }
}
