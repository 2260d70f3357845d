import FileDBTables

/// A filtered and sorted part of a table with decoded values, which follows the table's changes. Each record is decoded
/// once, and again when it changes. A record that does not fit the type becomes a fault and is not in the list.
struct DecodedList<Value: Codable & Sendable>: Sendable {
  private var table: TableSnapshot<Value>
  private var values: [AnyRecordID: Value] = [:]
  private var faultsByID: [AnyRecordID: StoreError] = [:]
  private var selected: SelectedRecords<Value>

  init(_ selection: RecordSelection<Value>, of table: TableSnapshot<Value>) {
    let all = table.values()
    for record in all.records { values[record.id.plain] = record.value }
    for fault in all.faults { if let id = fault.record { faultsByID[id] = fault } }
    self.table = table
    selected = SelectedRecords(selection, of: table.without(faultsByID)) { [values] in values[$0.id] }
  }

  /// The part of the table.
  var snapshot: TableSnapshot<Value> { selected.records }

  /// Why the selection's condition cannot be used. Then the list is empty.
  var conditionFault: StoreError? { selected.fault?.adding(table: table.table) }

  /// The records of the list, in the list's order.
  /// - Complexity: O(*n*).
  var records: [DecodedRecord<Value>] {
    snapshot.state.records.compactMap { record in
      values[record.id].map { DecodedRecord(id: RecordID(record.id), value: $0) }
    }
  }

  /// What is wrong with the condition, and the faults of the table's records in the table's order.
  var faults: [StoreError] {
    let places = table.state.records
    let ofRecords = faultsByID.sorted { (places.index(of: $0.key) ?? 0) < (places.index(of: $1.key) ?? 0) }
    return [conditionFault].compactMap(\.self) + ofRecords.map(\.value)
  }

  /// Changes to another selection.
  mutating func select(_ selection: RecordSelection<Value>) {
    selected = SelectedRecords(selection, of: table.without(faultsByID)) { [values] in values[$0.id] }
  }

  /// - Returns: whether a record's fault has appeared or disappeared.
  mutating func follow(_ newTable: TableSnapshot<Value>) -> Bool {
    let difference = RecordsDifference(from: table.state.records, to: newTable.state.records)
    let isOther = !difference.isEmpty || table.exists != newTable.exists
    table = newTable
    guard isOther else { return false }
    let former = faultsByID
    for removal in difference.removed {
      values[removal.record.id] = nil
      faultsByID[removal.record.id] = nil
    }
    var reader = ValueReader<Value>()
    for record in difference.newRecords {
      do throws(StoreError) {
        values[record.id] = try StoreError.naming(record, of: table.source) { try reader.value(of: record) }
        faultsByID[record.id] = nil
      } catch {
        values[record.id] = nil
        faultsByID[record.id] = error
      }
    }
    selected.follow(table.without(faultsByID)) { [values] in values[$0.id] }
    return former.mapValues(\.message) != faultsByID.mapValues(\.message)
  }
}

extension TableSnapshot {
  fileprivate func without(_ faults: [AnyRecordID: StoreError]) -> TableSnapshot {
    faults.isEmpty ? self : with(state.records.filter { faults[$0.id] == nil })
  }
}
