import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A transaction in the form of the journal: lines of words, and the records in the same bytes as in a table's file.
/// See <doc:Journal>.
struct JournalCommit: Sendable {
  struct Table: Sendable {
    /// The last commit that the writer had read; `nil` in what a repair wrote.
    var sequence: UInt64?
    /// The version of the table's file, if this is the journal's first change of the table.
    var base: FileVersion?
  }

  var date: Date
  var token: CommitToken?
  var undo = UndoEffect.none
  var tables: [TableKey: Table]
  var changes: [LoggedChange]

  /// The records of all changes, in order.
  var records: some Sequence<EncodedRecord> { changes.lazy.flatMap(\.change.records) }
}

/// The file of records that a commit refers to. A commit with many records has one.
struct RecordsFile: Equatable, Sendable {
  let name: String
  let count: Int
  let size: Int
  let checksum: UInt32
}

// MARK: - Writing

extension JournalCommit {
  /// The payload of the commit's frame.
  /// - Parameters:
  ///   - file: the file with its records; `nil` if the records follow their changes.
  ///   - body: called with the range of each record and each schema in the payload, in order.
  func payload(recordsIn file: RecordsFile? = nil, forEachElement body: (Range<Int>) -> Void = { _ in })
    -> [UInt8]
  {
    var writer = LineWriter()
    writer.reserve(512 + (file == nil ? records.reduce(0) { $0 + $1.bytes.count } : 0))
    writer.beginLine("date")
    writer.add(date)
    writer.endLine()
    if let token {
      writer.beginLine("token")
      writer.add(token)
      writer.endLine()
    }
    switch undo {
    // This occurs only in a log that several machines share: one of them ended its undo log.
    case .none: if changes.isEmpty { writer.writeLine("undo", "none") }
    case .step: writer.writeLine("undo", "step")
    case .end: writer.writeLine("undo", "end")
    }
    for (key, table) in tables.sorted(by: { $0.key < $1.key }) { table.write(key, to: &writer) }
    file?.write(to: &writer)
    for change in changes {
      change.write(to: &writer)
      var start = writer.bytes.count
      for record in file == nil ? change.change.records : [] {
        writer.append(record)
        body(start..<writer.bytes.count)
        start = writer.bytes.count
      }
      if case .declare(let schema?) = change.change {
        writer.append(schema)
        body(start..<writer.bytes.count)
      }
    }
    return writer.bytes
  }
}

extension JournalCommit.Table {
  fileprivate func write(_ key: TableKey, to writer: inout LineWriter) {
    writer.beginLine("table")
    writer.add(key)
    if let sequence {
      writer.add("at" as StaticString)
      writer.add(sequence)
    }
    if let base {
      writer.add("base" as StaticString)
      writer.add(base)
    }
    writer.endLine()
  }
}

extension RecordsFile {
  fileprivate func write(to writer: inout LineWriter) {
    writer.beginLine("records")
    writer.add(name)
    writer.add(count)
    writer.add(size)
    writer.add(checksum: checksum)
    writer.endLine()
  }
}

extension LoggedChange {
  fileprivate func write(to writer: inout LineWriter) {
    switch change {
    case .create: begin("create", &writer)
    case .drop: beginWithFoundTable("drop", &writer)
    case .removeAll: beginWithFoundTable("removeAll", &writer)
    case .truncate: beginWithFoundTable("truncate", &writer)
    case .insert(let records, let index):
      begin("insert", &writer)
      writer.add(records.count)
      writer.add("index" as StaticString)
      writer.add(index)
      if case .insertion(let above) = found {
        writer.add("below" as StaticString)
        writer.add(above)
      }
    case .replace:
      begin("replace", &writer)
      if case .records(let formers) = found {
        writer.add("was" as StaticString)
        for former in formers { writer.add(former) }
      }
    case .remove(let ids):
      begin("remove", &writer)
      if case .records(let formers) = found {
        writer.add("were" as StaticString)
        for (id, former) in zip(ids, formers) { writer.add(id, former) }
      } else {
        for id in ids { writer.add(id) }
      }
    case .move(let id, let index):
      begin("move", &writer)
      writer.add(id)
      writer.add("index" as StaticString)
      writer.add(index)
      if case .move(let former, let above) = found {
        writer.add("below" as StaticString)
        writer.add(above)
        writer.add("was" as StaticString)
        writer.add(former)
      }
    case .reorder(let ids):
      begin("reorder", &writer)
      for id in ids { writer.add(id) }
    case .raiseCounter(let counter):
      begin("counter", &writer)
      writer.add(UInt64(counter))
    case .declare(let schema):
      begin(schema == nil ? "noSchema" : "schema", &writer)
      if case .schema(let checksum) = found {
        writer.add("was" as StaticString)
        if let checksum { writer.add(checksum: checksum) } else { writer.add("-" as StaticString) }
      }
    }
    writer.endLine()
  }

  private func begin(_ verb: StaticString, _ writer: inout LineWriter) {
    writer.beginLine(verb)
    writer.add(table)
  }

  private func beginWithFoundTable(_ verb: StaticString, _ writer: inout LineWriter) {
    begin(verb, &writer)
    guard case .table(let count, let checksum, let counter) = found else { return }
    writer.add("were" as StaticString)
    writer.add(count)
    writer.add(checksum: checksum)
    writer.add("counter" as StaticString)
    writer.add(UInt64(counter))
  }
}
