import FileDBTables
import Testing

@Suite struct ChangeRecorderTests {
  private static let records = (1...1_000).map {
    EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: ["n": .integer($0)])
  }

  /// Otherwise each insertion would copy all records before it.
  @Test func recordsBelowOneAnotherAreAddedInPlace() throws {
    var recorder = ChangeRecorder(of: TableState())
    try recorder.apply(.create)
    var (copies, last) = (0, UnsafePointer<EncodedRecord>?.none)
    for (index, record) in Self.records.enumerated() {
      try recorder.insert(record, at: index)
      let records = try #require(recorder.changes.last?.change.records)
      try #require(records.count == index + 1)
      let memory = records.withUnsafeBufferPointer(\.baseAddress)
      if last != memory { copies += 1 }
      last = memory
    }
    #expect(recorder.changes.count == 2 && copies < 30)
    #expect(Array(recorder.table.records) == Self.records)
  }
}
