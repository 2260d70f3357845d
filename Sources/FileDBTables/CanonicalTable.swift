import FileDBPlist

/// A table's records, cut out of the canonical bytes of its file without decoding them.
///
/// It accepts only what ``TableFile/encode(_:)`` writes. Other programs' property lists and damaged files go to the
/// parser, which reads them or says what is wrong.
package struct CanonicalTable {
  private var scanner: CanonicalScanner
  private let limits: PlistLimits
  private let leastPart: Int
  private var counter: AnyRecordID?
  private var places: [(id: AnyRecordID, range: Range<Int>)] = []
  private var indexMap = 0..<0
  private var foreignKeys = PlistDictionary()

  /// The table in `bytes`, and where its parts are; `nil` if they are not canonical. There are no offsets if a record
  /// has a higher id than the counter: only a look at all records shows that.
  /// - Parameter leastPart: the least number of bytes for which another thread pays.
  package static func decode(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits(), shape: OrderedRecords.Shape = .standard,
    leastPart: Int = 1 << 22
  ) -> (state: TableState, offsets: TableOffsets?)? {
    guard bytes.count <= limits.fileBytes else { return nil }
    let table = bytes.withUnsafeBytes { all -> CanonicalTable? in
      var table = CanonicalTable(
        scanner: CanonicalScanner(all, limits: limits), limits: limits, leastPart: leastPart)
      return table.scan(all) ? table : nil
    }
    guard let table, let counter = table.counter else { return nil }
    // Lazily, so that the records go into their chunks without an array of all of them.
    let records = table.places.lazy.map { EncodedRecord(id: $0.id, bytes: bytes[$0.range]) }
    let state = TableState(
      counter: counter.rawValue, records: records, foreignKeys: table.foreignKeys, shape: shape)
    let isCounted = counter.rawValue == state.counter
    return (state, isCounted ? table.offsets(chunkLength: shape.filledChunk) : nil)
  }

  /// The table without its records, from the pieces of its file that ``TableOffsets/rest(fileSize:)`` names; `nil` if
  /// they are not what a canonical file has around its records and the entries of its index map.
  package static func decode(rest pieces: [[UInt8]], limits: PlistLimits) -> TableState? {
    guard pieces.count == 3, let head = pieces[0].without(suffix: "\t<array>\n"),
      let middle = pieces[1].without(prefix: "\t</array>\n")?.without(suffix: "\t<dict>\n"),
      let tail = pieces[2].without(prefix: "\t</dict>\n")
    else { return nil }
    var bytes = Array(head)
    bytes += "\t<array/>\n".utf8
    bytes += middle
    bytes += "\t<dict/>\n".utf8
    bytes += tail
    return decode(bytes, limits: limits)?.state
  }

  private func offsets(chunkLength: Int) -> TableOffsets {
    let starts = stride(from: 0, to: places.count, by: chunkLength)
    var chunks = starts.map { places[$0].range.lowerBound }
    if let last = places.last { chunks.append(last.range.upperBound) }
    return TableOffsets(count: places.count, chunkLength: chunkLength, chunks: chunks, indexMap: indexMap)
  }

  private mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard scanner.skip(PlistWriter.header), scanner.skip("<dict>\n") else { return false }
    var last = ""
    var found: Set<String> = []
    while !scanner.skip("</dict>\n") {
      guard let text = scanner.scanKey(indentation: 1) else { return false }
      let key = CanonicalReader(bytes).text(text)
      guard found.isEmpty || compareUTF8(last, key) < 0, scanValue(of: key, bytes) else { return false }
      last = key
      found.insert(key)
    }
    let ownKeys = [TableFile.counterKey, TableFile.recordsKey, TableFile.indexKey]
    return scanner.skip("</plist>\n") && scanner.isAtEnd && found.isSuperset(of: ownKeys)
  }

  private mutating func scanValue(of key: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    switch key {
    case TableFile.counterKey:
      guard let element = scanner.scanValue(indentation: 1), element.kind == .string else { return false }
      counter = AnyRecordID(CanonicalReader(bytes).text(element.content))
      return counter != nil
    case TableFile.recordsKey: return scanRecords(bytes)
    case TableFile.indexKey: return scanIndexMap()
    default:
      guard let element = scanner.scanValue(indentation: 1) else { return false }
      foreignKeys[key] = CanonicalReader(bytes).value(of: element)
      return true
    }
  }

  /// Several threads scan the parts of a long array. Each begins where a record seems to begin. That was right if the
  /// part before ends at exactly this place.
  private mutating func scanRecords(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if scanner.skip("\t<array/>\n") { return true }
    guard scanner.skip("\t<array>\n") else { return false }
    let first = scanner.position
    let parts = Parts(of: bytes.count - first, leastLength: leastPart)
    let starts = (1..<parts.count).compactMap {
      scanner.startOfDict(behind: first + parts[$0].lowerBound, indentation: 2)
    }
    let bounds = [first] + starts + [bytes.count]
    let runs = concurrentMap(bounds.count - 1) { [scanner, limits] number in
      RecordRun(scanner.moved(to: bounds[number]), upTo: bounds[number + 1], limits: limits)
    }
    for run in runs {
      guard run.start == scanner.position else { return false }
      if places.isEmpty { places = run.places } else { places += run.places }
      scanner = scanner.moved(to: run.end)
      if scanner.skip("\t</array>\n") { return true }
    }
    return false
  }

  /// Scans the index map. It must match the records, so no two of them can have the same id.
  private mutating func scanIndexMap() -> Bool {
    if scanner.skip("\t<dict/>\n") { return places.isEmpty }
    guard scanner.skip("\t<dict>\n") else { return false }
    let start = scanner.position
    var last: Int64?
    for _ in places {
      guard let (id, index) = scanner.scanNumbers(), let index = Int(exactly: index),
        places.indices.contains(index), places[index].id.rawValue == id
      else { return false }
      // Usually this is the next number with as many digits, unless it ends in zeros.
      if let last, id != last &+ 1 || id % 10 == 0, DecimalOrder(id) <= DecimalOrder(last) { return false }
      last = id
    }
    indexMap = start..<scanner.position
    return scanner.skip("\t</dict>\n")
  }
}

/// Records that follow each other.
private struct RecordRun: Sendable {
  let start: Int
  private(set) var places: [(id: AnyRecordID, range: Range<Int>)] = []
  private(set) var end: Int

  /// Continues as long as records begin before `limit`.
  init(_ scanner: CanonicalScanner, upTo limit: Int, limits: PlistLimits) {
    var scanner = scanner
    start = scanner.position
    // Memory that is reserved and not used costs nothing.
    places.reserveCapacity((limit - start) / 256)
    let shape = DictShape(
      indentation: TableFile.depthOfFields - 1, numberKey: TableFile.idName, limits: limits)
    while scanner.position < limit, let (range, number) = scanner.scanDict(alike: shape) {
      places.append((AnyRecordID(counted: number), range))
    }
    end = scanner.position
  }
}

extension RangeReplaceableCollection<UInt8> where Self: BidirectionalCollection {
  /// `nil` if they do not begin with this.
  fileprivate func without(prefix text: String) -> SubSequence? {
    starts(with: text.utf8) ? dropFirst(text.utf8.count) : nil
  }

  /// `nil` if they do not end with this.
  fileprivate func without(suffix text: String) -> SubSequence? {
    suffix(text.utf8.count).elementsEqual(text.utf8) ? dropLast(text.utf8.count) : nil
  }
}
