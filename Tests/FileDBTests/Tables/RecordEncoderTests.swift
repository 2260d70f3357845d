import FileDB
import TestSupport
import Testing

@Suite struct RecordEncoderTests {
  /// Many records share one block of memory.
  @Test func recordsEncodedTogetherEqualRecordsEncodedAlone() throws {
    var random = SeededRandom.fromEnvironment("records in blocks")
    for count in [1, 2, 300, 3_000] {
      let records = (1...count).map { number in
        let text = String(repeating: "\(number),", count: .random(in: 0..<60, using: &random))
        return (id: AnyRecordID(counted: Int64(number)), fields: Fields(["text": .string(text)]))
      }
      var encoder = RecordEncoder()
      for _ in 0..<2 {
        #expect(encoder.encode(records) == records.map { EncodedRecord(id: $0.id, fields: $0.fields) })
      }
      #expect(encoder.encode([]).isEmpty)
      for (id, fields) in records {
        #expect(encoder.encode(fields, id: id) == EncodedRecord(id: id, fields: fields))
      }
    }
  }
}
