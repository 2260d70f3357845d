import FileDB
import Foundation
import TestSupport

/// Made-up records with the fields `a`, `b` and `text`: those of one part are alike, those of another hold anything.
enum MixedRecords {
  static let fields = ["a", "b", "text"]

  static func record(_ isMixed: Bool, _ random: inout SeededRandom) -> Fields {
    var record = Fields()
    if isMixed {
      for field in fields { record[field] = value(&random) }
    } else {
      record["a"] = .integer(.random(in: -3...3, using: &random))
      record["b"] = .real(Double(Int.random(in: -30...30, using: &random)) / 10)
      record["text"] = .string(["b", "B", "bcd", "é", "xyz", "a < b"].randomElement(using: &random)!)
    }
    return record
  }

  static func value(_ random: inout SeededRandom) -> PlistValue? {
    let values: [PlistValue?] = [
      nil, true, false, 0, 1, 2, .integer(9_007_199_254_740_993), .unsigned(.max), -0.0, 0.5, 1.0, 1.5,
      .real(.nan), .real(.infinity), .date(Date(timeIntervalSince1970: 0)),
      .date(Date(timeIntervalSince1970: 86_400)), "x", "", "b", "B", "bb", "a & b", "é", "e\u{301}b", "<",
      .data(Data([1])), [1, 2], ["k": 1],
    ]
    return values.randomElement(using: &random)!
  }
}
