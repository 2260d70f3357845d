import FileDBPlist
import FileDBTables

extension JournalCommit {
  /// The file of records that a commit refers to; `nil` for a commit that contains them itself.
  static func recordsFile(of payload: ArraySlice<UInt8>) throws(PayloadFault) -> RecordsFile? {
    try LineReader.read(payload) { lines throws(PayloadFault) in
      var head = try CommitHead(&lines)
      return try head.readFile(&lines)
    }
  }

  /// The token of a commit, if it has one and can be read.
  static func token(of payload: ArraySlice<UInt8>) -> CommitToken? {
    try? LineReader.read(payload) { lines throws(PayloadFault) in try CommitHead(&lines).commit.token }
  }

  /// The tables that a commit changes, even if only its beginning can be read.
  static func tables(of payload: ArraySlice<UInt8>) throws(PayloadFault) -> Set<TableKey> {
    try LineReader.read(payload) { lines throws(PayloadFault) in
      var head = try CommitHead(&lines)
      _ = try head.readFile(&lines)
      return try head.tables(&lines)
    }
  }

  /// - Parameters:
  ///   - depth: the depth of the deepest record.
  ///   - file: the records, if the commit refers to a file of them.
  init(payload: ArraySlice<UInt8>, depth: Int, records file: [UInt8]?) throws(PayloadFault) {
    self = try LineReader.read(payload) { lines throws(PayloadFault) in
      var head = try CommitHead(&lines)
      guard (try head.readFile(&lines) != nil) == (file != nil) else {
        throw lines.fault("the records are missing")
      }
      guard let file else {
        return try head.commit(&lines, RecordReader(payload, depth: depth, isInLines: true))
      }
      return try head.commit(&lines, RecordReader(file[...], depth: depth, isInLines: false))
    }
  }
}

extension JournalCommit {
  /// A commit whose file of records is damaged.
  /// - Parameter records: the records of the file; `nil` for each that cannot be read.
  init(payload: ArraySlice<UInt8>, depth: Int, salvaged records: [EncodedRecord?]) throws(PayloadFault) {
    self = try LineReader.read(payload) { lines throws(PayloadFault) in
      var head = try CommitHead(&lines)
      _ = try head.readFile(&lines)
      return try head.commit(&lines, RecordReader(salvaged: records, depth: depth))
    }
  }
}

/// The part of a commit before the changes.
private struct CommitHead {
  fileprivate var commit: JournalCommit
  private var file: RecordsFile?
  private var hasUndoEffect = false
  /// The first word of the line that is being read; `nil` at the end.
  private var verb: String?

  init(_ lines: inout LineReader) throws(PayloadFault) {
    guard try lines.beginLine() == "date" else { throw lines.fault("the date is missing") }
    commit = JournalCommit(date: try lines.date(), token: nil, tables: [:], changes: [])
    try lines.endLine()
    try advance(&lines)
    if verb == "token" {
      commit.token = try lines.token()
      try lines.endLine()
      try advance(&lines)
    }
    if verb == "undo" {
      commit.undo = try lines.undoEffect()
      hasUndoEffect = true
      try lines.endLine()
      try advance(&lines)
    }
    while verb == "table" {
      let key = try lines.table()
      let sequence = lines.skip("at") ? UInt64(try lines.number()) : nil
      let base = lines.skip("base") ? try lines.version() : nil
      guard commit.tables.updateValue(.init(sequence: sequence, base: base), forKey: key) == nil else {
        throw lines.fault("a table is named twice")
      }
      try lines.endLine()
      try advance(&lines)
    }
  }

  private mutating func advance(_ lines: inout LineReader) throws(PayloadFault) {
    verb = lines.isAtEnd ? nil : try lines.beginLine()
  }

  mutating func readFile(_ lines: inout LineReader) throws(PayloadFault) -> RecordsFile? {
    guard verb == "records" else { return nil }
    let file = RecordsFile(
      name: try lines.text(), count: try lines.count(), size: try lines.count(),
      checksum: try lines.checksum())
    self.file = file
    try lines.endLine()
    try advance(&lines)
    return file
  }

  /// The tables, if the line after theirs can be read as well. Otherwise it may have been one of them.
  func tables(_ lines: inout LineReader) throws(PayloadFault) -> Set<TableKey> {
    guard let verb, LineReader.changeVerbs.contains(verb), commit.tables[try lines.table()] != nil else {
      throw lines.fault("a change is missing")
    }
    return Set(commit.tables.keys)
  }

  /// Reads the changes.
  mutating func commit(
    _ lines: inout LineReader, _ records: consuming RecordReader
  ) throws(PayloadFault) -> JournalCommit {
    var records = records
    while let verb {
      let table = try lines.table()
      guard commit.tables[table] != nil else {
        throw lines.fault("it does not say which '\(table.text)' it changes")
      }
      if let (change, found) = try lines.change(verb, &records) {
        commit.changes.append(LoggedChange(change, of: table, found: found))
      }
      try advance(&lines)
    }
    if commit.changes.isEmpty, !hasUndoEffect, !records.isSalvaged { throw lines.fault("it has no changes") }
    guard records.isAtEnd, file.map({ $0.count == records.count }) ?? true else {
      throw lines.fault("it has more or fewer records than its changes")
    }
    return commit
  }
}

/// Cuts records out of canonical bytes without decoding them.
private struct RecordReader {
  /// Where the records are.
  private enum Source {
    /// Between the lines of the changes.
    case lines
    /// One after another.
    case file
    /// In a damaged file, of which these could be read.
    case salvaged(ArraySlice<EncodedRecord?>)
  }

  private let bytes: ArraySlice<UInt8>
  let limits: PlistLimits
  private var source: Source
  private var position = 0
  private(set) var count = 0

  init(_ bytes: ArraySlice<UInt8>, depth: Int, isInLines: Bool) {
    (self.bytes, source) = (bytes, isInLines ? .lines : .file)
    limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)  // Checked when they were written.
  }

  init(salvaged records: [EncodedRecord?], depth: Int) {
    (bytes, source) = ([], .salvaged(records[...]))
    limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)
  }

  var isAtEnd: Bool {
    switch source {
    case .lines: true
    case .file: position == bytes.count
    case .salvaged(let records): records.isEmpty
    }
  }

  var isSalvaged: Bool { if case .salvaged = source { true } else { false } }

  /// - Returns: fewer than `count` records if some could not be salvaged.
  mutating func read(_ count: Int, _ lines: inout LineReader) throws(PayloadFault) -> [EncodedRecord] {
    switch source {
    case .lines:
      position = lines.position
      let records = try scan(count, lines)
      lines.move(to: position)
      return records
    case .file: return try scan(count, lines)
    case .salvaged(let records):
      guard count <= records.count else { throw lines.fault("a record is missing") }
      self.count += count
      source = .salvaged(records.dropFirst(count))
      let read = records.prefix(count).compactMap(\.self)
      // Where two have the same id, nobody knows which of them has the wrong one.
      let counts = Dictionary(read.map { ($0.id, 1) }, uniquingKeysWith: +)
      return read.filter { counts[$0.id] == 1 }
    }
  }

  private mutating func scan(_ count: Int, _ lines: LineReader) throws(PayloadFault) -> [EncodedRecord] {
    var records: [EncodedRecord] = []
    // A wrong count must not reserve memory for records that are not there.
    records.reserveCapacity(min(count, (bytes.count - position) / 64))
    bytes.withUnsafeBytes { all in
      var scanner = CanonicalScanner(all, limits: limits).moved(to: position)
      while records.count < count,
        let (range, id) = scanner.scanDict(indentation: 2, numberKey: TableFile.idName)
      {
        let slice = bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
        records.append(EncodedRecord(id: AnyRecordID(counted: id), bytes: slice))
      }
      position = scanner.position
    }
    guard records.count == count else { throw lines.fault("a record is missing") }
    self.count += count
    return records
  }
}

extension LineReader {
  fileprivate mutating func undoEffect() throws(PayloadFault) -> UndoEffect {
    if skip("step") { return .step }
    if skip("none") { return .none }
    try expect("end")
    return .end
  }

  fileprivate static let changeVerbs: Set = [
    "create", "drop", "removeAll", "truncate", "insert", "replace", "remove", "move", "reorder", "counter",
    "schema",
    "noSchema",
  ]

  /// Reads a change whose verb and table have been read, to the end of its line, and its records. What the change found
  /// may be missing.
  /// - Returns: `nil` if none of its records could be salvaged.
  fileprivate mutating func change(
    _ verb: String, _ records: inout RecordReader
  ) throws(PayloadFault) -> (Change, LoggedChange.Found)? {
    switch verb {
    case "create": return (.create, try ended(.nothing))
    case "drop": return (.drop, try ended(try foundTable()))
    case "removeAll": return (.removeAll, try ended(try foundTable()))
    case "truncate": return (.truncate, try ended(try foundTable()))
    case "insert":
      let count = try count()
      try expect("index")
      let index = try self.count()
      let found = try ended(skip("below") ? .insertion(above: try optionalID()) : .nothing)
      let read = try records.read(count, &self)
      return read.isEmpty && count > 0 ? nil : (.insert(read, index: index), found)
    case "replace":
      let found = try ended(skip("was") ? .records([try foundRecord()]) : .nothing)
      return try records.read(1, &self).first.map { (.replace($0), found) }
    case "remove":
      guard skip("were") else { return (.remove(try ids()), try ended(.nothing)) }
      var (ids, formers): ([AnyRecordID], [LoggedChange.FoundRecord]) = ([], [])
      while hasWord {
        let (id, former) = try idAndFoundRecord()
        ids.append(id)
        formers.append(former)
      }
      return (.remove(ids), try ended(.records(formers)))
    case "move":
      let id = try id()
      try expect("index")
      let index = try count()
      guard skip("below") else { return (.move(id, index: index), try ended(.nothing)) }
      let above = try optionalID()
      try expect("was")
      return (.move(id, index: index), try ended(.move(try foundRecord(), above: above)))
    case "reorder":
      return (.reorder(try ids()), try ended(.nothing))
    case "counter": return (.raiseCounter(to: try number()), try ended(.nothing))
    case "schema":
      let found = try foundSchema()
      return (.declare(try value(records.limits)), found)
    case "noSchema": return (.declare(nil), try foundSchema())
    default: throw fault("this version does not know the change '\(verb)'")
    }
  }

  private mutating func ids() throws(PayloadFault) -> [AnyRecordID] {
    var ids: [AnyRecordID] = []
    while hasWord { ids.append(try id()) }
    return ids
  }

  private mutating func foundTable() throws(PayloadFault) -> LoggedChange.Found {
    guard skip("were") else { return .nothing }
    let (count, checksum) = (try count(), try checksum())
    try expect("counter")
    return .table(count: count, checksum: checksum, counter: try number())
  }

  private mutating func foundSchema() throws(PayloadFault) -> LoggedChange.Found {
    guard skip("was") else { return try ended(.nothing) }
    return try ended(.schema(checksum: try optionalChecksum()))
  }

  private mutating func ended(_ found: LoggedChange.Found) throws(PayloadFault) -> LoggedChange.Found {
    try endLine()
    return found
  }
}
