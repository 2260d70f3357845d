import FileDB
import Testing

@Suite struct RecordMapTests {
  @Test func mapHandlesWidelySpacedIDs() throws {
    var map = RecordMap()
    let ids: [AnyRecordID] = [0, 1, 63, 64, 4_095, 4_096, 1_700_000_000_000, AnyRecordID(rawValue: .max)!]
    for (number, id) in ids.enumerated() { map.set(UInt32(number), for: id) }
    let all = map
    for (number, id) in ids.enumerated() {
      #expect(map[id] == UInt32(number))
      map.remove(id)
      #expect(map[id] == nil)
      #expect(ids.dropFirst(number + 1).allSatisfy { map[$0] != nil })
    }
    #expect(ids.enumerated().allSatisfy { all[$1] == UInt32($0) })
    #expect(all[2] == nil && all[AnyRecordID(rawValue: .max - 1)!] == nil)
  }
}
