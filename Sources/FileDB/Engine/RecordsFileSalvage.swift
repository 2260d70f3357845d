import FileDBPlist
import FileDBStorage
import FileDBTables

/// The records of a commit whose file of records is not as it was written.
///
/// Each record that can be read is kept. Nothing is guessed: if it is unclear which change a record belongs to, the
/// record is left out.
struct RecordsFileSalvage {
  /// The records in the order of the file; `nil` for each that is left out.
  private(set) var records: [EncodedRecord?] = []
  private(set) var notes: [String] = []
  /// The number of records that are left out.
  var leftOutCount: Int { records.count { $0 == nil } }
  /// The same, and the record that is kept with another content.
  var lostCount: Int { leftOutCount + (hasWrongRecord ? 1 : 0) }
  /// Whether a record that is kept has another content than was written.
  private var hasWrongRecord = false

  private let limits: PlistLimits

  /// - Parameter isOfOneChange: whether a single change of the commit takes all records.
  /// - Returns: `nil` if the bytes have no records, or more than the commit.
  init?(_ bytes: [UInt8], of file: RecordsFile, depth: Int, isOfOneChange: Bool) {
    limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)
    let pieces = self.pieces(of: bytes)
    if let found = corrected(bytes, pieces, file) {
      records = found.records
      notes = ["byte \(found.place) of '\(file.name)' was wrong and was corrected by its checksum"]
      return
    }
    guard file.count <= max(bytes.count, Self.mostMissing), pieces.contains(where: { $0.record != nil }),
      place(pieces, file, isOfOneChange, isWhole: bytes.count == file.size)
    else { return nil }
    addNotes(pieces, bytes, file)
  }

  /// A forged number must not reserve memory without end.
  private static let mostMissing = 10_000_000

  // MARK: - Reading

  /// A record, or bytes in which no record can be read.
  private struct Piece {
    let range: Range<Int>
    let record: EncodedRecord?
  }

  private func pieces(of bytes: [UInt8]) -> [Piece] {
    bytes.withUnsafeBytes { all in
      var scanner = CanonicalScanner(all, limits: limits)
      var pieces: [Piece] = []
      while !scanner.isAtEnd {
        let start = scanner.position
        if let (range, id) = scanner.scanDict(indentation: 2, numberKey: TableFile.idName) {
          let record = EncodedRecord(id: AnyRecordID(counted: id), bytes: bytes[range])
          pieces.append(Piece(range: range, record: record))
        } else {
          let next = scanner.startOfDict(behind: start, indentation: 2) ?? bytes.count
          pieces.append(Piece(range: start..<next, record: nil))
          scanner = scanner.moved(to: next)
        }
      }
      return pieces
    }
  }

  /// The longest stretch in which a wrong byte is corrected anywhere. In a longer one, several wrong bytes may by
  /// chance look like a single wrong byte at another place. So there, a byte is corrected only if that makes a record
  /// readable, or gives it an id of its own. By chance, this hardly ever happens.
  private static let longestCorrected = 4 << 10

  private func corrected(
    _ bytes: [UInt8], _ pieces: [Piece], _ file: RecordsFile
  ) -> (records: [EncodedRecord?], place: Int)? {
    var bytes = bytes
    guard bytes.count == file.size, let place = Checksum.correct(&bytes, to: file.checksum),
      let piece = pieces.first(where: { $0.range.contains(place) })
    else { return nil }
    let isRepeated = pieces.count { $0.record?.id == piece.record?.id } > 1
    let isSuspect = piece.record == nil || isRepeated
    guard bytes.count <= Self.longestCorrected || isSuspect && piece.range.count <= Self.longestCorrected
    else {
      return nil
    }
    let records = self.pieces(of: bytes).map(\.record)
    return records.count == file.count && !records.contains { $0 == nil } ? (records, place) : nil
  }

  // MARK: - What belongs where

  /// Finds the number of each record.
  /// - Parameter isWhole: whether the file still has its length.
  private mutating func place(
    _ pieces: [Piece], _ file: RecordsFile, _ isOfOneChange: Bool, isWhole: Bool
  ) -> Bool {
    let found = pieces.compactMap(\.record)
    guard found.count <= file.count else { return false }
    let missing = file.count - found.count
    // Each unreadable piece is a single record.
    if pieces.count == file.count {
      records = pieces.map(\.record)
    } else if isOfOneChange {
      records = found + [EncodedRecord?](repeating: nil, count: missing)
    } else {
      let first = Array(pieces.prefix { $0.record != nil }.map(\.record))
      let last = isWhole ? Array(pieces.reversed().prefix { $0.record != nil }.reversed().map(\.record)) : []
      let between = max(file.count - first.count - last.count, 0)
      records = first + [EncodedRecord?](repeating: nil, count: between) + last
    }
    return records.count == file.count
  }

  /// The most places that are named.
  private static let mostNotes = 20

  private mutating func addNotes(_ pieces: [Piece], _ bytes: [UInt8], _ file: RecordsFile) {
    let unread = pieces.filter { $0.record == nil }
    for piece in unread.prefix(Self.mostNotes) {
      notes.append("byte \(piece.range.lowerBound) of '\(file.name)': a record cannot be read here")
    }
    if unread.count > Self.mostNotes {
      notes.append("and so at \(unread.count - Self.mostNotes) more places")
    }
    if leftOutCount > 0 {
      notes.append(
        "\(file.count - leftOutCount) of the \(file.count.counted("record")) in '\(file.name)' are kept; it is unknown whether all of these are as they were written"
      )
      return
    }
    hasWrongRecord = true
    var (copy, hint) = (bytes, "")
    if let place = Checksum.correct(&copy, to: file.checksum),
      let record = pieces.first(where: { $0.range.contains(place) })?.record
    {
      hint = "; if a single byte is wrong, it is in record \(record.id)"
    }
    notes.append("a record in '\(file.name)' has another content than was written\(hint)")
  }
}

/// A commit with those records of its damaged file that can still be read.
struct SalvagedCommit {
  let commit: JournalCommit
  let file: RecordsFile
  private(set) var notes: [String]
  /// The number of records that are left out.
  let leftOutCount: Int
  /// The same, and the record that is kept with another content.
  let lostCount: Int

  fileprivate init(_ commit: JournalCommit, _ salvage: RecordsFileSalvage, of file: RecordsFile) {
    (self.commit, self.file, notes) = (commit, file, salvage.notes)
    leftOutCount = file.count - commit.records.reduce(0) { count, _ in count + 1 }
    let repeatedCount = leftOutCount - salvage.leftOutCount
    lostCount = max(leftOutCount, salvage.lostCount)
    guard repeatedCount > 0 else { return }
    notes.append(
      "\(repeatedCount.counted("record")) in '\(file.name)' have the same id as another, and are left out")
  }
}

extension FileLog {
  /// - Returns: `nil` if a damaged file of records is not what is wrong with a commit.
  func salvagedCommit(in frame: JournalFrame) -> SalvagedCommit? {
    let depth = options.limits.depth
    guard let file = try? JournalCommit.recordsFile(of: frame.payload),
      let bytes = try? folder.readDamagedRecords(file),
      bytes.count != file.size || Checksum.of(bytes) != file.checksum,
      let salvage = RecordsFileSalvage(
        bytes, of: file, depth: depth, isOfOneChange: frame.payload.countOfChangesWithRecords == 1),
      let commit = try? JournalCommit(payload: frame.payload, depth: depth, salvaged: salvage.records)
    else { return nil }
    return SalvagedCommit(commit, salvage, of: file)
  }
}

extension ArraySlice<UInt8> {
  /// The number of changes that take records, in the payload of a commit that does not contain them itself.
  fileprivate var countOfChangesWithRecords: Int {
    split(separator: UInt8(ascii: "\n")).count {
      $0.starts(with: "insert ".utf8) || $0.starts(with: "replace ".utf8)
    }
  }
}
