import FileDBLegacy
import Foundation
import Testing

extension LegacyTests {
  @Suite struct ItemTests {
    @Test func everySwiftValueGetsItsType() throws {
      try LegacyTests.withRoot { _ in
        let date = Date(timeIntervalSince1970: 1_266_939_261)
        let texts: [(Any, String)] = [
          ("é", "é"), (NSString(string: "s"), "s"), (NSMutableString(string: ""), ""),
        ]
        let integers: [(Any, Int64)] = [
          (1, 1), (0, 0), (Int64.min, .min), (UInt8(3), 3), (Int8(1), 1), (Int32(-5), -5), (UInt64(7), 7),
          (UInt(0), 0), (NSNumber(value: 1), 1), (NSNumber(value: 0), 0), (NSNumber(value: Int8(1)), 1),
          (Optional(3) as Any, 3),
        ]
        let reals: [(Any, Double)] = [
          (1.0, 1), (0.0, 0), (-0.0, -0.0), (1.5, 1.5), (Float(0.5), 0.5), (CGFloat(0.25), 0.25),
          (Double.infinity, .infinity), (Decimal(2), 2), (NSNumber(value: 1.0), 1),
          (NSNumber(value: Float(2)), 2),
        ]
        let bools: [(Any, Bool)] = [
          (true, true), (false, false), (NSNumber(value: true), true), (NSNumber(value: false), false),
        ]
        let others: [(Any, PlistValue)] = [
          (UInt64.max, .unsigned(.max)), (NSNumber(value: UInt64.max), .unsigned(.max)),
          (date, .date(date)), (NSDate(timeIntervalSince1970: 1_266_939_261), .date(date)),
          (date.addingTimeInterval(0.75), .date(date)),
          (Data([1, 2]), .data(Data([1, 2]))), (NSData(data: Data([3])), .data(Data([3]))),
          ([1, 2], .array([1, 2])), ([Any](), .array([])), (NSArray(array: ["a", 1]), .array(["a", 1])),
          (["k": "v"], .dict(["k": "v"])), ([String: Any](), .dict([:])),
          (NSDictionary(dictionary: ["k": [true]]), .dict(["k": .array([true])])),
        ]
        let all =
          texts.map { ($0, PlistValue.string($1)) } + integers.map { ($0, .integer($1)) }
          + reals.map { ($0, .real($1)) } + bools.map { ($0, .bool($1)) } + others
        try wgFileDb.saveFullData(all.map { ["f": $0.0] }, toDb: "t")
        let records = try wgFileDb.store.table("t").lastSnapshot
        #expect(records.count == all.count)
        for (record, (value, expected)) in zip(records, all) {
          #expect(record.fields["f"] == expected, "\(type(of: value)) \(value)")
        }
      }
    }

    @Test func returnedItemsCanBeCastAndSavedUnchanged() throws {
      try LegacyTests.withRoot { _ in
        let date = Date(timeIntervalSince1970: 5)
        let given: [String: Any] = [
          "string": "s", "integer": 2, "unsigned": UInt64.max, "real": 0.5, "whole": 3.0, "bool": true,
          "date": date,
          "data": Data([9]), "array": [1, ["x": false]] as [Any], "dict": ["a": ["b": 1]],
        ]
        let id = try wgFileDb.addItem(toBottom: given, intoDb: "t")
        var item = try wgFileDb.getItem(id, inDb: "t")
        #expect(item["string"] as? String == "s")
        #expect(item["integer"] as? Int == 2)
        #expect(item["integer"] as? Double == 2)
        #expect((item["integer"] as? NSNumber)?.int32Value == 2)
        #expect(item["unsigned"] as? UInt64 == .max)
        #expect(item["real"] as? Double == 0.5)
        #expect(item["bool"] as? Bool == true)
        #expect(item["date"] as? Date == date)
        #expect(item["data"] as? Data == Data([9]))
        #expect((item["array"] as? [Any])?.first as? Int == 1)
        #expect((item["dict"] as? [String: [String: Int]])?["a"]?["b"] == 1)
        #expect(item.count == given.count + 1)

        let before = try wgFileDb.store.table("t").lastSnapshot[0].fields
        try wgFileDb.updateItem(id, withData: item, inDb: "t")
        #expect(
          try wgFileDb.store.table("t").lastSnapshot[0].fields == before, "every type survives the way back")

        item["integer"] = 3
        #expect(try wgFileDb.getItem(id, inDb: "t")["integer"] as? Int == 2, "an item is a copy")
      }
    }

    @Test func unrepresentableValueIsAnError() throws {
      try LegacyTests.withRoot { _ throws in
        for (value, field) in [
          (NSNull(), "f"), (Int?.none as Any, "f"), (URL(fileURLWithPath: "/"), "f"), (UUID(), "f"),
          ([1: "a"], "f"), (["a", NSNull()] as [Any], "f.1"), (["k": ["l": NSNull()]], "f.k.l"),
          ("a\0b", "f"), (Date.distantFuture.addingTimeInterval(1e12), "f"),
        ] as [(Any, String)] {
          let error = LegacyTests.error { try wgFileDb.addItem(toTop: ["f": value], intoDb: "t") }
          #expect(error?.code == .unrepresentableValue, "\(value)")
          #expect(error?.field == field, "\(value)")
        }
        var deep: [Any] = []
        for _ in 0..<5000 { deep = [deep] }
        let tooDeep = LegacyTests.error { try wgFileDb.addItem(toTop: ["f": deep], intoDb: "t") }
        #expect(tooDeep?.code == .unrepresentableValue)
        #expect(try !wgFileDb.isDatabase("t"))
      }
    }

    /// A Swift dictionary holds only one of them, and an error is better than a lost field.
    @Test func canonicallyEquivalentFieldsAreAnError() throws {
      try LegacyTests.withRoot { _ in
        let table = try wgFileDb.store.table("t")
        let id = try table.add(["outer": ["\u{E9}": 1, "e\u{301}": 2]])
        let error = LegacyTests.error { _ = try wgFileDb.getItemsFromDb("t") }
        #expect(error?.code == .unrepresentableValue)
        #expect(error?.record == AnyRecordID(id))
        #expect(error?.field == "outer.\u{E9}")
        #expect(try wgFileDb.duplicateItem(toTop: 1, inDb: "t") == 2)
        #expect(try table.value(of: 2) == table.value(of: id))
      }
    }
  }
}
