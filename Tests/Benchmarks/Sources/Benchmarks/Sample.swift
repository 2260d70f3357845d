import FileDB
import Foundation

/// The row that everybody reads and writes.
struct Row: Codable, Sendable {
  var title: String
  var note: String
  var amount: Int
  var price: Double
  var due: Date
  var isDone: Bool
}

extension TableName<Row> {
  static var sample: Self { "sample" }
}

/// The same table for everybody: a file that FileDB wrote, and its content. The same numbers give the same bytes on
/// every machine.
struct Sample {
  let folder: URL
  let records: Int
  var file: URL { folder.appendingPathComponent("sample.plist") }

  /// A sample that is there already.
  init(folder: URL, records: Int) {
    self.folder = folder
    self.records = records
  }

  static func make(records: Int) throws -> Sample {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-benchmark-\(UUID())")
    let sample = Sample(folder: folder, records: records)
    let table = try RecordStore(at: folder).table(.sample)
    try table.add(contentsOf: sample.rows())
    return sample
  }

  func rows() -> [Row] {
    var numbers = SplitMix(state: 42)
    return (0..<records).map { number in
      Row(
        title: "Entry \(number): \(words(1, &numbers))", note: words(2, &numbers),
        amount: Int(numbers.next() % 100_000), price: Double(numbers.next() % 1_000_000) / 100,
        due: Date(timeIntervalSince1970: Double(1_500_000_000 + numbers.next() % 500_000_000)),
        isDone: numbers.next() % 2 == 0)
    }
  }

  /// Mostly plain words, with now and then one that is not ASCII or must be escaped.
  private func words(_ count: Int, _ numbers: inout SplitMix) -> String {
    let words = [
      "milk", "butter", "letter", "garden", "window", "harbour", "copper", "silver", "paper", "river",
      "mountain", "Käse", "café", "salt & pepper", "a < b", "station", "thunder", "blanket", "needle",
      "orchard",
    ]
    return (0..<count).map { _ in words[Int(numbers.next() % UInt64(words.count))] }.joined(separator: " ")
  }

  func bytes() throws -> [UInt8] { Array(try Data(contentsOf: file)) }
}

/// A generator that is the same everywhere: Swift's own is not meant to be.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
