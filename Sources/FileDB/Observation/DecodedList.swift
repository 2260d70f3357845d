import FileDBTables

/// A filtered and sorted part of a table with decoded values, which follows the table's changes. Each record is decoded
/// once, and again when it changes. A record that does not fit the type becomes a fault and is not in the list.
struct DecodedList<Value: Codable & Sendable>: Sendable {
  private var selection: RecordSelection<Value>
  private var table: TableSnapshot<Value>
  private var values: [AnyRecordID: Value] = [:]
  private var faultsByID: [AnyRecordID: StoreError] = [:]
  private var matching: Set<AnyRecordID> = []
  /// Why the selection's condition cannot be used. Then the list is empty.
  private(set) var conditionFault: StoreError?
  /// The part of the table.
  private(set) var snapshot: TableSnapshot<Value>

  init(_ selection: RecordSelection<Value>, of table: TableSnapshot<Value>) {
    (self.selection, self.table, snapshot) = (selection, table, table)
    let all = table.values()
    for record in all.records { values[record.id.plain] = record.value }
    take(all.faults)
    select(selection)
  }

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
  mutating func select(_ newSelection: RecordSelection<Value>) {
    selection = newSelection
    (matching, conditionFault) = ([], nil)
    let test = RecordTest(selection.condition, of: table.state.records)
    for record in table.state.records { take(record, test) }
    refuse(test.fault)
    snapshot = selection.records(of: table, matching: matching)
  }

  /// - Returns: whether a record's fault has appeared or disappeared.
  mutating func follow(_ newTable: TableSnapshot<Value>) -> Bool {
    let difference = RecordsDifference(from: table.state.records, to: newTable.state.records)
    let isOther = !difference.isEmpty || table.exists != newTable.exists
    table = newTable
    guard isOther else { return false }
    let former = faultsByID
    for removal in difference.removed { forget(removal.record.id) }
    let test = RecordTest(selection.condition, of: difference.newRecords)
    var reader = ValueReader<Value>()
    for record in difference.newRecords {
      forget(record.id)
      do throws(StoreError) {
        values[record.id] = try StoreError.naming(record, of: table.source) { try reader.value(of: record) }
      } catch {
        take([error])
      }
      take(record, test)
    }
    refuse(test.fault)
    snapshot = selection.records(of: table, matching: matching)
    return former.mapValues(\.message) != faultsByID.mapValues(\.message)
  }

  private mutating func take(_ faults: [StoreError]) {
    for fault in faults { if let id = fault.record { faultsByID[id] = fault } }
  }

  private mutating func forget(_ id: AnyRecordID) {
    values[id] = nil
    faultsByID[id] = nil
    matching.remove(id)
  }

  /// Empties the list if the condition cannot be used, now or before.
  private mutating func refuse(_ fault: StoreError?) {
    conditionFault = conditionFault ?? fault?.adding(table: table.table)
    if conditionFault != nil { matching = [] }
  }

  private mutating func take(_ record: EncodedRecord, _ test: RecordTest<Value>) {
    guard let value = values[record.id] else { return }
    if test.includes(record, value) { matching.insert(record.id) }
  }
}
