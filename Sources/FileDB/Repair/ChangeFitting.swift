/// What of two versions of a table counts, where another program changed its file while commits were waiting in the
/// journal.
public enum ConflictChoice: String, CaseIterable, Sendable {
  /// The file as it is. The commits that were waiting are given up.
  case file
  /// The commits, carried out on the file as it is: where both have a record, the commits' version counts.
  case journal
  /// The file as it is, and what the commits added. A record that they changed is there in both versions, theirs with a
  /// new id behind the file's; what they removed or moved stays where the file has it.
  case both
}

extension TableState {
  /// Carries out as much of `change` as there is anything for, and never fails.
  /// - Returns: the changes that it came to.
  mutating func applyFitting(_ change: Change) -> [Change] {
    var fitting = self.fitting(change)
    if !exists, !fitting.isEmpty, fitting.first?.name != "create" { fitting.insert(.create, at: 0) }
    return applyAll(fitting)
  }

  /// Adds what `change` brings, and takes nothing away. New ids are above `floor`.
  /// - Returns: the changes that it came to.
  mutating func applyAdding(_ change: Change, newIDsAbove floor: Int64) -> [Change] {
    var applied = exists || change.records.isEmpty ? [] : applyAll([.create])
    for (offset, record) in change.records.enumerated() {
      if let row = records.row(of: record.id) {
        let highest = max(counter, floor)
        guard records[row] != record, highest < .max else { continue }
        let copy = StoredRecord(id: RecordID(counted: highest + 1), record: record.record)
        applied += applyAll([.insert([copy], row: row + 1)])
      } else {
        var row = records.count
        if case .insert(_, let first) = change { row = min(first + offset, row) }
        applied += applyAll([.insert([record], row: row)])
      }
    }
    return applied
  }

  private mutating func applyAll(_ changes: [Change]) -> [Change] {
    changes.filter { change in (try? apply(change)) != nil }
  }

  private func fitting(_ change: Change) -> [Change] {
    switch change {
    case .create: return exists ? [] : [change]
    case .drop, .removeAll, .truncate: return exists ? [change] : []
    case .insert(let new, let row):
      let known = new.filter { records.row(of: $0.id) != nil }
      let unknown = new.filter { records.row(of: $0.id) == nil }
      let insertion = unknown.isEmpty ? [] : [Change.insert(unknown, row: min(row, records.count))]
      return known.map(Change.replace) + insertion
    case .replace(let record):
      return [records.row(of: record.id) == nil ? .insert([record], row: records.count) : change]
    case .remove(let ids):
      let known = ids.filter { records.row(of: $0) != nil }
      return known.isEmpty ? [] : [.remove(known)]
    case .move(let id, let row):
      return records.row(of: id) == nil ? [] : [.move(id, row: min(row, records.count - 1))]
    case .reorder(let ids):
      let named = Set(ids)
      let known = ids.filter { records.row(of: $0) != nil }
      return records.isEmpty ? [] : [.reorder(known + records.map(\.id).filter { !named.contains($0) })]
    }
  }
}
