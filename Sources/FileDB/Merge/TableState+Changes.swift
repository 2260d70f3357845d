extension TableState {
  /// The changes that lead from this table to another, but for the keys beside its records, and for a counter that is lower.
  /// - Parameter movedIDs: see ``RecordsDifference/init(from:to:moving:)``.
  package func changes(to other: TableState, moving movedIDs: Set<RecordID> = []) -> [Change] {
    if !exists, other.records.isEmpty { return [] }
    var changes: [Change] = exists ? [] : [.create]
    let difference = RecordsDifference(from: records, to: other.records, moving: movedIDs)
    if !difference.removed.isEmpty { changes.append(.remove(difference.removed.map(\.record.id))) }
    for case .move(let id, _, let row) in ListSteps(difference).sequence {
      changes.append(.move(id, row: row))
    }
    changes += Self.insertions(difference.inserted)
    changes += difference.updated.map { .replace($0.new) }
    return changes + raise(to: other)
  }

  /// Records that come one below the other are one change.
  private static func insertions(_ inserted: [RecordsDifference.Insertion]) -> [Change] {
    var runs: [(records: [StoredRecord], row: Int)] = []
    for insertion in inserted {
      if let last = runs.indices.last, runs[last].row + runs[last].records.count == insertion.newRow {
        runs[last].records.append(insertion.record)
      } else {
        runs.append(([insertion.record], insertion.newRow))
      }
    }
    return runs.map { .insert($0.records, row: $0.row) }
  }

  /// There is no change for the counter alone; a record that comes and goes has the same effect.
  private func raise(to other: TableState) -> [Change] {
    let highest = max(counter, other.records.lazy.map(\.id.rawValue).max() ?? 0)
    guard highest < other.counter, let id = RecordID(rawValue: other.counter) else { return [] }
    return [.insert([StoredRecord(id: id, record: Record())], row: other.records.count), .remove([id])]
  }
}
