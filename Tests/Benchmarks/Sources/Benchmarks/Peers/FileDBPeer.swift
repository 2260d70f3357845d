import FileDB
import FileDBExchange
import FileDBPlist
import Foundation

final class FileDBPeer: Peer {
  static let name = "FileDB"

  let sample: Sample
  /// The sample, for those who only read.
  private lazy var opened = Result { try RecordStore(at: sample.store).table(.sample) }
  /// A copy, for those who change it.
  private lazy var copied = Result {
    try RecordStore(at: sample.copy(in: "FileDB").deletingLastPathComponent())
  }
  private lazy var edited = Result {
    try EditedTable(FileDBEditor(copied.get().table(.sample)), records: sample.records)
  }
  private lazy var unsynced = Result { try unsyncedTable() }
  /// What the commands do, on a copy in a store that was written to: commands that read keep offsets only there.
  lazy var commands = Result {
    let folder = try sample.copy(in: "FileDB-commands").deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent(".filedb"), withIntermediateDirectories: false)
    return CommandTable(folder, sample)
  }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .parse: try parsing()
    case .serialize: try serializing()
    case .open: { [self] in try openOnce() }
    case .rows: { [self] in try readRows() }
    case .record: try readingRecords()
    case .page: try readingPages()
    case .filter: try filtering()
    case .predicate: try matchingFirst()
    case .predicateAgain: try matching(in: opened.get())
    case .groups: groupingFirst()
    case .groupsAgain: try grouping(opened.get())
    case .lookup: try lookingUp()
    case .range: try readingRanges()
    case .edit, .writers, .tasks, .slow: try edited.get().prepare(workload)
    case .processorTime: try unsynced.get().prepare(workload)
    case .deliver(let rows): try delivering(rows)
    case .sortedView: try sortingView()
    case .sort: try sorting()
    case .importTables: try importing()
    case .ruled(let work, let rules):
      try FileDBRuledTables.prepare(work, rules, sample, in: "FileDB-rules")
    case .checkpoint: try writingTable()
    case .csv(.import): try importingCSV()
    case .csv(.export): try exportingCSV()
    case .script: try runningScript()
    case .firstLine: try printingFirstLine()
    case .command(let verb): try running(verb)
    case .start: try startingProgram(program(), ["--version"])
    }
  }

  func memoryOfOpening() throws -> ResidentMemory.Growth? {
    try ResidentMemory.growth { try readOnce(RecordStore(at: sample.store).table(.sample)) }
  }

  func memoryOfLookup() throws -> ResidentMemory.Growth? {
    try ResidentMemory.growth {
      let table = try readOnce(RecordStore(at: sample.store).table(.sample).withLookup(by: \.amount))
      let found = try table.lastSnapshot.records(where: \.amount, equals: -1)
      try expect(found.isEmpty, "a record with that amount")
      return table
    }
  }

  private func readOnce(_ table: RecordTable<Entry>) throws -> RecordTable<Entry> {
    for record in table.lastSnapshot { _ = try record.value }
    return table
  }
}

/// Reading.
extension FileDBPeer {
  private func parsing() throws -> Run {
    let bytes = try sample.bytes()
    return {
      try seconds(
        of: { try PlistParser.parse(bytes) },
        check: { root in
          guard case .dict(let root) = root, case .array(let records)? = root["data"] else {
            throw WrongResult("the root")
          }
          try expect(records.count == self.sample.records, "the number of records")
        })
    }
  }

  private func openOnce() throws -> Double {
    try seconds(
      of: {
        let table = try RecordStore(at: sample.store).table(.sample)
        return try (table, table.count, table.lastSnapshot.first?.value)
      }, check: { try sample.checkOpening($0.1, $0.2?.title) })
  }

  private func readRows() throws -> Double {
    try seconds(
      of: { try RecordStore(at: sample.store).table(.sample).lastSnapshot.values().get() },
      check: sample.check)
  }

  private func readingRecords() throws -> Run {
    let table = try opened.get()
    return { [sample] in
      try sample.readRecords { id in
        try RecordID(rawValue: Int64(id)).map { try table.value(of: $0).amount }
      }
    }
  }

  private func readingPages() throws -> Run {
    let table = try opened.get()
    return { [sample] in
      try sample.readPages { row in
        try table.lastSnapshot.dropFirst(row).prefix(Workload.pageLength).map { try $0.value }
      }
    }
  }

  private func filtering() throws -> Run {
    let table = try opened.get()
    return { [sample] in
      try sample.filterRows {
        try table.lastSnapshot.records.filter { $0.price >= Sample.dear }.map { try $0.value }
      }
    }
  }

  /// In a store that has not been asked yet.
  private func matchingFirst() throws -> Run {
    { [self] in try matching(in: RecordStore(at: sample.store).table(.sample))() }
  }

  private func matching(in table: RecordTable<Entry>) throws -> Run {
    let isDear = try RecordPredicate("price >= %@", Sample.dear)
    return { [sample] in
      try sample.filterRows {
        try table.lastSnapshot.records(where: isDear).values().get()
      }
    }
  }

  private func groupingFirst() -> Run {
    { [self] in try grouping(RecordStore(at: sample.store).table(.sample))() }
  }

  private func grouping(_ table: RecordTable<Entry>) -> Run {
    { [sample] in
      try sample.readGroups {
        try table.lastSnapshot.grouped(by: \.isDone).map { group in
          Sample.Group(
            isDone: group.key, count: group.count, amounts: try group.sum(of: \.amount),
            averagePrice: try group.average(of: \.price) ?? 0,
            highestPrice: try group.maximum(of: \.price) ?? 0)
        }
      }
    }
  }

  private func lookingUp() throws -> Run {
    let table = try opened.get().withLookup(by: \.amount)
    return { [sample] in
      try sample.lookUpRows { amount in
        try table.lastSnapshot.records(where: \.amount, equals: amount).map { try $0.value }
      }
    }
  }

  private func readingRanges() throws -> Run {
    let table = try opened.get().withLookup(by: \.amount)
    return { [sample] in
      try sample.readRanges { amounts in
        try table.lastSnapshot.records(where: \.amount, in: amounts).map { try $0.value }
      }
    }
  }

  private func delivering(_ rows: ObservedRows) throws -> Run {
    let store = try RecordStore(at: sample.copy(in: "FileDB-\(rows)").deletingLastPathComponent())
    let table = try store.table(.sample)
    let id = RecordID<Entry>(integerLiteral: Int64(sample.observedID))
    let delivery = Delivery()
    // Both end with the store.
    switch rows {
    case .row:
      let changes = table.changes(of: id)
      Task.detached { for await change in changes { delivery.take(try? change.after?.value.amount) } }
    case .list:
      let changes = table.changes()
      Task.detached { for await change in changes { delivery.take(try? change.after[id: id]?.value.amount) } }
    }
    var amounts = NewAmounts()
    return { [sample] in
      try sample.deliver(delivery, from: amounts.take()) { amount in
        try table.update(id) { $0.amount = amount }
      }
    }
  }

  private func sortingView() throws -> Run {
    let table = try opened.get()
    return { [sample] in
      try seconds(
        of: { try table.lastSnapshot.sorted(by: EntryOrder().sortKeys).values().get() },
        check: { try EntryOrder().check($0, count: sample.records) })
    }
  }
}

/// Writing.
extension FileDBPeer {
  private func unsyncedTable() throws -> EditedTable {
    // No checkpoint of its own, so that what is measured is the commit alone.
    let options = StoreOptions(checkpoints: .manual, durability: .none)
    let store = try RecordStore(
      at: sample.copy(in: "FileDB-unsynced").deletingLastPathComponent(), options: options)
    return try EditedTable(FileDBEditor(store.table(.sample)), records: sample.records)
  }

  private func serializing() throws -> Run {
    let bytes = try sample.bytes()
    let root = try PlistParser.parse(bytes)
    return {
      try seconds(
        of: { try PlistWriter.document(root) },
        check: { try expect($0.elementsEqual(bytes), "the document") })
    }
  }

  private func sorting() throws -> Run {
    let table = try copied.get().table(.sample)
    var order = EntryOrder()
    return { [sample] in
      order.isReversed.toggle()
      return try seconds(
        of: { try table.sort(by: order.sortKeys) },
        check: {
          try order.check(table.lastSnapshot.values().get(), count: sample.records)
          try table.store.checkpoint()
        })
    }
  }

  private func writingTable() throws -> Run {
    let store = try copied.get()
    let table = try store.table(.sample)
    guard let first = table.lastSnapshot.first?.id else { throw WrongResult("no records") }
    var price = 0.0
    return {
      price += 1
      try table.set(["price": .real(price)], of: first)
      return try seconds(
        of: { try store.checkpoint() },
        check: {
          // A store of its own reads the file and not this store's memory.
          let written = try RecordStore(at: store.url).table(.sample)
          try expect(try written.value(of: first).price == price, "the written table")
        })
    }
  }

  private func importing() throws -> Run {
    let files = try USDATables.files()
    let folder = try sample.scratch("FileDB-import")
    return {
      defer { try? FileManager.default.removeItem(at: folder) }
      return try seconds(
        of: {
          let store = try RecordStore(at: folder)
          let rows = try store.write { tx in try files.reduce(0) { try $0 + FileDBPeer.importFile($1, &tx) } }
          try store.close()
          return rows
        }, check: { try expect($0 == USDATables.rows(files), "the number of rows") })
    }
  }

  private static func importFile(_ file: URL, _ tx: inout StoreTransaction) throws -> Int {
    let reader = try USDATables.reader(file)
    var records: [Fields] = []
    try DelimitedImport(fields: try USDATables.fields(file)).run(reader, file: file.path) {
      records.append($0)
    }
    return try tx[USDATables.table(file)].add(contentsOf: records).count
  }
}

extension EntryOrder {
  fileprivate var sortKeys: [SortKey] {
    isReversed
      ? [.descending("isDone"), .ascending("price")] : [.ascending("isDone"), .descending("price")]
  }
}
