import FileDBTables

/// The total effect of a transaction on the records of a table.
struct WrittenRecords {
  /// Each record that was added or changed: its old version, `nil` for a new record, and its new version.
  private(set) var written: [(before: EncodedRecord?, now: EncodedRecord)] = []
  /// The old versions of the deleted records.
  private(set) var removed: [EncodedRecord] = []

  /// - Complexity: O(*k*) in the records that the changes name, with a search for each; O(*n*) if all records were
  ///   removed.
  init(of table: TransactionState.Touched) {
    if let records = table.onlyNewRecords {
      written = records.map { (nil, $0) }
      return
    }
    var (ids, gone, isEmptied): ([AnyRecordID], [AnyRecordID], Bool) = ([], [], false)
    for change in table.changes.lazy.map(\.change) {
      switch change {
      case .insert(let records, _): ids += records.map(\.id)
      case .replace(let record): ids.append(record.id)
      case .remove(let removed): gone += removed
      case .removeAll, .truncate, .drop: isEmptied = true
      case .create, .move, .reorder, .raiseCounter, .declare: break
      }
    }
    var seen: Set<AnyRecordID> = []
    for id in ids where seen.insert(id).inserted {
      guard let now = table.now.record(id) else { continue }
      let before = table.first.record(id)
      if before?.hasSameBytes(as: now) != true { written.append((before, now)) }
    }
    if isEmptied {
      removed = table.first.records.filter { !table.now.records.contains($0.id) }
    } else {
      for id in Set(gone).sorted() where !table.now.records.contains(id) {
        if let before = table.first.record(id) { removed.append(before) }
      }
    }
  }
}

extension TableState {
  func record(_ id: AnyRecordID) -> EncodedRecord? { records.index(of: id).map { records[$0] } }
}

extension TransactionState.Touched {
  /// The records of a table to which some were added at once, with no other change, as by an import.
  fileprivate var onlyNewRecords: [EncodedRecord]? {
    var inserted: [EncodedRecord]?
    for change in changes.lazy.map(\.change) {
      switch change {
      case .insert(let records, _) where inserted == nil: inserted = records
      case .create, .declare, .raiseCounter: break
      default: return nil
      }
    }
    return inserted
  }
}
