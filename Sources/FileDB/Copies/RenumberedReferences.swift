import FileDBPlist
import FileDBTables

extension [ConflictCopyMerge] {
  /// Corrects the fields that refer to records of copies which got new ids: in the records that a copy from the same
  /// machine has brought into its table, and in that copy's values in the conflicts.
  mutating func followRenumberedRecords(in transaction: inout StoreTransaction) throws {
    for index in indices { try follow(index, in: &transaction) }
  }

  private mutating func follow(_ index: Int, in transaction: inout StoreTransaction) throws {
    let merge = self[index]
    let table = try transaction[merge.copy.table]
    for field in try table.snapshot().state.schema.schema?.fields ?? [] {
      guard let rule = field.references, rule.isToID else { continue }
      let newIDs = newIDs(in: rule.tableKey, forCopyAt: index)
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
      self[index].conflicts = self[index].conflicts.map { $0.replacing(field.name, renumbered) }
    }
  }

  /// The new ids in a table by the ids in its copy, as this copy knows them. If its machine is not known, or if there
  /// are several copies of the table from there, nobody can tell which one it refers to.
  private func newIDs(in table: TableKey, forCopyAt index: Int) -> [Int64: Int64] {
    let copy = self[index].copy
    var copies = [self[index]]
    if TableKey(copy.table) != table {
      copies = filter { TableKey($0.copy.table) == table && $0.copy.machine == copy.machine }
      guard !copy.machine.isEmpty, copies.count == 1 else { return [:] }
    }
    let pairs = copies[0].renumbered.filter { $0.side == .theirs }.map {
      ($0.oldID.rawValue, $0.newID.rawValue)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
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
