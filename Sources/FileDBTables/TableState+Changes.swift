extension TableState {
  /// The changes that lead from this table to another. They leave other programs' root keys as they are, and do not
  /// lower the counter.
  /// - Parameter movedIDs: see ``RecordsDifference/init(from:to:moving:)``.
  package func changes(to other: TableState, moving movedIDs: Set<AnyRecordID> = []) -> [Change] {
    if !exists, other.records.isEmpty { return [] }
    var changes: [Change] = exists ? [] : [.create]
    let difference = RecordsDifference(from: records, to: other.records, moving: movedIDs)
    if !difference.removed.isEmpty { changes.append(.remove(difference.removed.map(\.record.id))) }
    for case .move(let id, _, let index) in ListSteps(difference).sequence {
      changes.append(.move(id, index: index))
    }
    changes += Self.insertions(difference.inserted)
    changes += difference.updated.map { .replace($0.new) }
    if other.counter > counter { changes.append(.raiseCounter(to: other.counter)) }
    return changes + schemaChanges(to: other)
  }

  /// The value of `schema` stays if another program wrote it.
  private func schemaChanges(to other: TableState) -> [Change] {
    if schemaValue == other.schemaValue || schema.isForeign || other.schema.isForeign { return [] }
    return [.declare(other.schemaValue)]
  }

  /// Records that follow one another become one change.
  private static func insertions(_ inserted: [RecordsDifference.Insertion]) -> [Change] {
    var runs: [(records: [EncodedRecord], index: Int)] = []
    for insertion in inserted {
      if let last = runs.indices.last, runs[last].index + runs[last].records.count == insertion.newIndex {
        runs[last].records.append(insertion.record)
      } else {
        runs.append(([insertion.record], insertion.newIndex))
      }
    }
    return runs.map { .insert($0.records, index: $0.index) }
  }
}
