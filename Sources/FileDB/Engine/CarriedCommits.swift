import FileDBStorage
import FileDBTables

/// Commits were waiting while another program saved the table's file, and they changed the same records. So they cannot
/// be carried out on that file.
struct SaveConflict: Error {
  /// The records in order; empty if the conflict is about the whole table.
  let records: [AnyRecordID]
}

extension PendingTable {
  /// Carries out all commits on a table as another program saved it.
  ///
  /// Each change must find what it found when it was committed: the record that it replaces or removes is unchanged,
  /// and the record below which it puts something is still there.
  /// - Throws: all records for which this is not true; none if ``mayCarryOut(on:)`` is `false`.
  func carriedOut(on saved: TableState, _ version: FileVersion) throws(SaveConflict) -> TableState {
    guard mayCarryOut(on: version) else { throw SaveConflict(records: []) }
    var (table, conflicts, isWhole) = (saved, Set<AnyRecordID>(), true)
    for change in commits.flatMap(\.changes) {
      do throws(SaveConflict) { try table.carryOut(change) } catch {
        conflicts.formUnion(error.records)
        isWhole = false
      }
    }
    if isWhole { return table }
    throw SaveConflict(records: conflicts.sorted())
  }
}

extension TableState {
  fileprivate mutating func carryOut(_ logged: LoggedChange) throws(SaveConflict) {
    let change = try changeToCarryOut(logged)
    do throws(StoreError) { try apply(change) } catch {
      throw SaveConflict(records: error.record.map { [$0] } ?? [])
    }
  }

  /// The change, with the index that is right in this table.
  private func changeToCarryOut(_ logged: LoggedChange) throws(SaveConflict) -> Change {
    switch (logged.change, logged.found) {
    case (.insert(let records, _), .insertion(let above)):
      let known = records.map(\.id).filter { self.records.index(of: $0) != nil }
      guard known.isEmpty else { throw SaveConflict(records: known) }
      return .insert(records, index: try place(beneath: above))
    case (.replace(let record), .records(let formers)):
      try check([record.id], formers)
      return logged.change
    case (.remove(let ids), .records(let formers)):
      try check(ids, formers)
      return logged.change
    case (.move(let id, _), .move(_, let above)):
      guard let index = records.index(of: id) else { throw SaveConflict(records: [id]) }
      let place = try place(beneath: above)
      // The record leaves its old place first, which shifts the records after it.
      return .move(id, index: index < place ? place - 1 : place)
    case (.drop, .table(let count, let checksum, _)), (.removeAll, .table(let count, let checksum, _)),
      (.truncate, .table(let count, let checksum, _)):
      guard records.count == count, records.checksum == checksum else { throw SaveConflict(records: []) }
      return logged.change
    case (.reorder(let ids), _):
      let others = Set(ids).symmetricDifference(records.ids)
      guard others.isEmpty else { throw SaveConflict(records: others.sorted()) }
      return logged.change
    case (.declare, .schema(let checksum)):
      guard schemaValue?.checksum == checksum else { throw SaveConflict(records: []) }
      return logged.change
    case (.create, _), (.raiseCounter, _): return logged.change
    // A change that does not say what it found fits nothing.
    default: throw SaveConflict(records: logged.change.records.map(\.id))
    }
  }

  private func place(beneath above: AnyRecordID?) throws(SaveConflict) -> Int {
    guard let above else { return 0 }
    guard let index = records.index(of: above) else { throw SaveConflict(records: [above]) }
    return index + 1
  }

  private func check(_ ids: [AnyRecordID], _ formers: [LoggedChange.FoundRecord]) throws(SaveConflict) {
    guard ids.count == formers.count else { throw SaveConflict(records: ids) }
    let changed = zip(ids, formers).filter { id, former in
      records.index(of: id).map { Checksum.of(records[$0].bytes) != former.checksum } ?? true
    }
    guard changed.isEmpty else { throw SaveConflict(records: changed.map(\.0)) }
  }
}
