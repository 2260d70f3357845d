import FileDBPlist

/// A commit's records, cut out of the canonical bytes of its frame without being built.
///
/// It takes only what ``CommitEncoder`` writes, and leaves everything else to the parser.
struct CanonicalCommit {
  private var scanner: CanonicalScanner
  private let reader: CanonicalReader

  /// The commit in `payload`, of which its records are parts; `nil` where the bytes are not canonical.
  static func decode(_ payload: ArraySlice<UInt8>, limits: PlistLimits) -> LoggedCommit? {
    payload.withUnsafeBytes { bytes in
      var commit = CanonicalCommit(
        scanner: CanonicalScanner(bytes, limits: limits), reader: CanonicalReader(bytes))
      return commit.scan(payload)
    }
  }

  private mutating func scan(_ payload: ArraySlice<UInt8>) -> LoggedCommit? {
    guard scanner.skip(PlistWriter.header), scanner.skip("<dict>\n"), let bases = scanBases(),
      scanner.skip("\t<key>changes</key>\n\t<array>\n")
    else { return nil }
    let changes = scanner
    while let change = scanner.scanValue(indentation: 2) { guard change.kind == .dict else { return nil } }
    guard scanner.skip("\t</array>\n\t<key>data</key>\n"), let records = scanRecords(payload),
      scanner.skip("\t<key>date</key>\n"), let date = scanner.scanValue(indentation: 1).flatMap(reader.date),
      scanner.skip("</dict>\n</plist>\n"), scanner.isAtEnd
    else { return nil }
    let commit = LoggedCommit(date: date, bases: bases, changes: [])
    return add(changes, taking: records, to: commit)
  }

  private mutating func scanBases() -> [TableKey: FileVersion]? {
    guard scanner.skip("\t<key>bases</key>\n") else { return [:] }
    guard let element = scanner.scanValue(indentation: 1) else { return nil }
    return try? Dictionary(reader.value(of: element))
  }

  private mutating func scanRecords(_ payload: ArraySlice<UInt8>) -> [StoredRecord]? {
    if scanner.skip("\t<array/>\n") { return [] }
    guard scanner.skip("\t<array>\n") else { return nil }
    var records: [StoredRecord] = []
    while let (range, id) = scanner.scanDict(indentation: 2, numberKey: "wgFileDbSecretId") {
      let bytes = payload[payload.startIndex + range.lowerBound..<payload.startIndex + range.upperBound]
      records.append(StoredRecord(id: RecordID(counted: id), bytes: bytes))
    }
    return scanner.skip("\t</array>\n") ? records : nil
  }

  /// The commit with its changes, which are read one by one, now that their records are known.
  private func add(
    _ changes: CanonicalScanner, taking records: [StoredRecord], to commit: LoggedCommit
  ) -> LoggedCommit? {
    var (changes, records, commit) = (changes, records[...], commit)
    while let change = changes.scanValue(indentation: 2) {
      guard commit.add(reader.dictionary(change), taking: &records) else { return nil }
    }
    return records.isEmpty ? commit : nil
  }
}
