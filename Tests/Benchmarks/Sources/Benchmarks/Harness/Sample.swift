import FileDB
import Foundation

/// The row that everybody reads and writes.
struct Entry: Codable, Equatable, Sendable {
  var title: String
  var note: String
  var amount: Int
  var price: Double
  var due: Date
  var isDone: Bool
}

/// A row with its id beside the fields, for who has no place of his own for ids.
struct IdentifiedEntry: Codable {
  var id: Int
  var entry: Entry
}

extension TableName<Entry> {
  static var sample: Self { "sample" }
}

/// The same table for everybody: a file that FileDB wrote, and its content. The same numbers give the same bytes on
/// every machine. The ids are 1, 2 and so on, in the order of the rows.
final class Sample {
  let folder: URL
  let records: Int
  /// What the file holds, in order. Made when it is first asked for.
  private(set) lazy var entries: [Entry] = Sample.entries(records)

  /// The store in which the table is.
  var store: URL { folder.appendingPathComponent("store") }
  var file: URL { store.appendingPathComponent("sample.plist") }

  /// A sample that is there already.
  init(folder: URL, records: Int) {
    self.folder = folder
    self.records = records
  }

  /// Makes the sample's file in `folder`.
  static func make(in folder: URL, records: Int) throws -> Sample {
    let sample = Sample(folder: folder, records: records)
    let store = try RecordStore(at: sample.store)
    try store.table(.sample).add(contentsOf: sample.entries)
    try store.close()
    return sample
  }

  func remove() throws { try FileManager.default.removeItem(at: folder) }

  /// A place for a peer's own files, gone with the sample.
  func scratch(_ name: String) throws -> URL {
    let url = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// A copy of the table's file, to be changed.
  func copy(in scratch: String, named name: String = "sample.plist") throws -> URL {
    let copy = try self.scratch(scratch).appendingPathComponent(name)
    try FileManager.default.copyItem(at: file, to: copy)
    return copy
  }

  /// The records that a script adds.
  var scriptEntries: ArraySlice<Entry> { entries.prefix(Workload.transactionLength) }

  /// The record whose printing is timed: one in the middle.
  var recordToPrint: (id: Int, title: String) { (records / 2, entries[records / 2 - 1].title) }

  func bytes() throws -> [UInt8] { Array(try Data(contentsOf: file)) }

  static func entries(_ count: Int, seed: UInt64 = 42) -> [Entry] {
    var numbers = SplitMix(state: seed)
    return (0..<count).map { number in
      Entry(
        title: "Entry \(number): \(words(1, &numbers))", note: words(2, &numbers),
        amount: Int(numbers.next() % 100_000), price: Double(numbers.next() % 1_000_000) / 100,
        due: Date(timeIntervalSince1970: Double(1_500_000_000 + numbers.next() % 500_000_000)),
        isDone: numbers.next() % 2 == 0)
    }
  }

  /// Mostly plain words, with now and then one that is not ASCII or must be escaped.
  private static func words(_ count: Int, _ numbers: inout SplitMix) -> String {
    (0..<count).map { _ in vocabulary[Int(numbers.next() % UInt64(vocabulary.count))] }.joined(separator: " ")
  }

  private static let vocabulary = [
    "milk", "butter", "letter", "garden", "window", "harbour", "copper", "silver", "paper", "river",
    "mountain", "Käse", "café", "salt & pepper", "a < b", "station", "thunder", "blanket", "needle",
    "orchard",
  ]
}

/// A generator that is the same everywhere: Swift's own is not meant to be.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
