/// The version of a table to keep if another program changed its file while commits were waiting in the journal.
public enum ConflictChoice: String, CaseIterable, Sendable {
  /// The file as it is. FileDB discards the waiting commits.
  case file
  /// The commits. FileDB applies them to the file as it is. If both have a record with the same id, the commits'
  /// version is kept.
  case journal
  /// The file as it is, and the records that the commits added. If the commits changed a record, both versions are
  /// kept: the commits' version gets a new id and comes below the file's. Records that the commits removed or moved
  /// stay where the file has them.
  case both
}

extension TableState {
  /// Carries out `change` as far as the table has what it needs. It never fails.
  /// - Returns: the changes that were made.
  mutating func applyFitting(_ change: Change) -> [AppliedChange] {
    var fitting = self.fitting(change)
    if !exists, !change.records.isEmpty { fitting.insert(.create, at: 0) }
    return applyAll(fitting)
  }

  /// Adds what `change` adds, and removes nothing. New ids are above `floor`.
  mutating func applyAdding(_ change: Change, newIDsAbove floor: Int64) {
    if !exists, !change.records.isEmpty { applyAll([.create]) }
    for (offset, record) in change.records.enumerated() {
      if let index = records.index(of: record.id) {
        let highest = max(counter, floor)
        guard records[index] != record, highest < .max else { continue }
        let copy = EncodedRecord(id: AnyRecordID(counted: highest + 1), fields: record.fields)
        applyAll([.insert([copy], index: index + 1)])
      } else {
        var index = records.count
        if case .insert(_, let first) = change { index = min(first + offset, index) }
        applyAll([.insert([record], index: index)])
      }
    }
  }

  @discardableResult
  private mutating func applyAll(_ changes: [Change]) -> [AppliedChange] {
    changes.compactMap { change in try? applyRecording(change) }
  }

  private func fitting(_ change: Change) -> [Change] {
    switch change {
    case .create: return exists ? [] : [change]
    case .drop, .removeAll, .truncate, .raiseCounter, .declare: return exists ? [change] : []
    case .insert(let new, let index):
      let known = new.filter { records.index(of: $0.id) != nil }
      let unknown = new.filter { records.index(of: $0.id) == nil }
      let insertion = unknown.isEmpty ? [] : [Change.insert(unknown, index: min(index, records.count))]
      return known.map(Change.replace) + insertion
    case .replace(let record):
      return [records.index(of: record.id) == nil ? .insert([record], index: records.count) : change]
    case .remove(let ids):
      let known = ids.filter { records.index(of: $0) != nil }
      return known.isEmpty ? [] : [.remove(known)]
    case .move(let id, let index):
      return records.index(of: id) == nil ? [] : [.move(id, index: min(index, records.count - 1))]
    case .reorder(let ids):
      let named = Set(ids)
      let known = ids.filter { records.index(of: $0) != nil }
      return records.isEmpty ? [] : [.reorder(known + records.map(\.id).filter { !named.contains($0) })]
    }
  }
}
