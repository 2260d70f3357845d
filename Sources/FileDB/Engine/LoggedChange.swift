import FileDBPlist
import FileDBStorage
import FileDBTables

/// A change in a log. It includes checksums of what the change found, so that whoever carries it out can check that it
/// finds the same.
package struct LoggedChange: Sendable {
  package let table: TableKey
  package let change: Change
  package let found: Found

  /// See ``AppliedChange/Found``.
  package enum Found: Equatable, Sendable {
    case nothing
    case records([FoundRecord])
    case insertion(above: AnyRecordID?)
    case move(FoundRecord, above: AnyRecordID?)
    case table(count: Int, checksum: UInt32, counter: Int64)
    /// The checksum of the former schema; `nil` for none.
    case schema(checksum: UInt32?)
  }

  /// A record as it was: the checksum of its bytes, and the id of the record above it; `nil` for the first record.
  package struct FoundRecord: Equatable, Sendable {
    package let checksum: UInt32
    package let above: AnyRecordID?
  }

  init(_ change: Change, of table: TableKey, found: Found) {
    (self.table, self.change, self.found) = (table, change, found)
  }

  /// - Complexity: O(*n*) in the bytes of the records that the change replaces, removes or moves.
  package init(_ applied: AppliedChange, of table: TableKey) {
    self.init(applied.change, of: table, found: Found(applied.found))
  }
}

extension LoggedChange.Found {
  init(_ found: AppliedChange.Found) {
    self =
      switch found {
      case .nothing: .nothing
      case .records(let records): .records(records.map { LoggedChange.FoundRecord($0) })
      case .insertion(let above): .insertion(above: above)
      case .move(let record, let above): .move(LoggedChange.FoundRecord(record), above: above)
      case .table(let records, let counter):
        .table(count: records.count, checksum: records.checksum, counter: counter)
      case .schema(let schema): .schema(checksum: schema?.checksum)
      }
  }
}

extension LoggedChange.FoundRecord {
  init(_ found: AppliedChange.FoundRecord) {
    self.init(checksum: found.record.checksum, above: found.above)
  }
}

extension EncodedRecord {
  /// The checksum of its bytes.
  package var checksum: UInt32 { Checksum.of(bytes) }
}

extension PlistValue {
  /// The checksum of its canonical bytes, as they are in the root of a file.
  var checksum: UInt32 {
    var writer = PlistWriter()
    writer.append(self, indentation: 1)
    return Checksum.of(writer.bytes)
  }
}

extension OrderedRecords {
  /// The checksum of the bytes of all records, one after another.
  var checksum: UInt32 {
    var checksum = Checksum()
    for record in self { record.bytes.withUnsafeBytes { checksum.update($0) } }
    return checksum.value
  }
}

extension TableState {
  /// Carries out a change from a log.
  /// - Throws: ``StoreError/Code/damagedJournal`` if a record that it replaces, removes or moves is not the one that it
  ///   found; the errors of ``apply(_:)``.
  package mutating func apply(_ logged: LoggedChange) throws(StoreError) {
    try check(logged)
    try apply(logged.change)
  }

  private func check(_ logged: LoggedChange) throws(StoreError) {
    switch (logged.change, logged.found) {
    case (.replace(let record), .records(let formers)) where formers.count == 1:
      try check(record.id, formers[0])
    case (.remove(let ids), .records(let formers)) where formers.count == ids.count:
      for (id, former) in zip(ids, formers) { try check(id, former) }
    case (.move(let id, _), .move(let former, _)): try check(id, former)
    case (.declare, .schema(let checksum)) where schemaValue?.checksum != checksum:
      throw StoreError(.damagedJournal, "this is not the schema that the commit changed")
    default: break
    }
  }

  private func check(_ id: AnyRecordID, _ former: LoggedChange.FoundRecord) throws(StoreError) {
    let index = try index(of: id)
    guard records[index].checksum == former.checksum else {
      throw StoreError(
        .damagedJournal, "this is not the record that the commit changed", record: id)
    }
  }
}
