import FileDBPlist
import FileDBTables

/// The records of copies that got new ids, and the fields of other records from the same machine that refer to them.
struct RenumberedReferences {
  private struct Copy {
    let table: TableKey
    let machine: String
    /// The new id of each record that has one, by the id in the copy.
    let newIDs: [Int64: Int64]
  }

  private let copies: [Copy]

  init(_ merges: [ConflictCopyMerge]) {
    copies = merges.map { merge in
      let pairs = merge.renumbered.filter { $0.side == .theirs }.map {
        ($0.oldID.rawValue, $0.newID.rawValue)
      }
      return Copy(
        table: TableKey(merge.copy.table), machine: merge.copy.machine,
        newIDs: Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
    }
  }

  /// The new ids in a table, as the copy with this number knows its records. If its machine is not known, or if there
  /// are several copies of the table from there, nobody can tell which one it refers to.
  private func newIDs(in table: TableKey, for number: Int) -> [Int64: Int64] {
    if copies[number].table == table { return copies[number].newIDs }
    if copies[number].machine.isEmpty { return [:] }
    let others = copies.filter { $0.table == table && $0.machine == copies[number].machine }
    return others.count == 1 ? others[0].newIDs : [:]
  }

  /// Corrects what a copy has brought into its table, and the values of the copy in the conflicts.
  func follow(
    _ merge: inout ConflictCopyMerge, number: Int, in transaction: inout StoreTransaction
  ) throws {
    let table = try transaction[merge.copy.table]
    for field in try table.snapshot().state.schema.schema?.fields ?? [] {
      guard let rule = field.references, rule.isToID else { continue }
      let newIDs = newIDs(in: rule.tableKey, for: number)
      if newIDs.isEmpty { continue }
      func renumbered(_ value: PlistValue?) -> PlistValue? {
        value?.integer.flatMap { newIDs[$0] }.map(PlistValue.integer)
      }
      for id in merge.added + merge.changed {
        let record = RecordID<Fields>(id)
        let value = try table.snapshot()[id: record]?.fields[field.name]
        // What another copy has changed since is not from this one.
        guard let new = renumbered(value), merge.before.record(id)?.fields[field.name] != value,
          merge.after.record(id)?.fields[field.name] == value
        else { continue }
        try table.set(Fields([field.name: new]), of: record)
      }
      merge.conflicts = merge.conflicts.map { $0.replacing(field.name, renumbered) }
    }
  }
}

extension MergeConflict {
  /// With another value of theirs, if the conflict is about this field.
  fileprivate func replacing(_ field: String, _ new: (PlistValue?) -> PlistValue?) -> MergeConflict {
    guard case .field(field, let base, let ours, let theirs) = kind, let value = new(theirs) else {
      return self
    }
    return MergeConflict(record: record, kind: .field(field, base: base, ours: ours, theirs: value))
  }
}
