import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A small store that is to be damaged: two tables with three records each in their files, and an id that is given no
/// more.
struct DamagedStore {
  enum Commits: CaseIterable {
    /// All is in the tables' files.
    case none
    /// Several commits, each over one table or both, wait in the journal.
    case waiting
  }

  typealias Contents = [String: [StoredRecord<Fields>]]

  static let journal = "/store/.filedb/journal"
  static let tables = ["a", "b"]

  let commits: Commits
  /// What is in the tables after each of the commits that wait, and before the first.
  let history: [Contents]
  private let disk: MemoryDisk

  init(_ commits: Commits) throws {
    self.commits = commits
    disk = MemoryDisk()
    let store = try Self.open(disk)
    for table in Self.tables {
      try store.table(table).add(
        contentsOf: (1...4).map { ["n": .integer($0), "text": .string("as it was <&> \($0)")] })
      try store.table(table).delete(4)
    }
    try store.checkpoint()
    var history = [try Self.contents(store)]
    if commits == .waiting {
      try store.write { tx in
        for table in Self.tables {
          try tx[table].set(["n": 20], of: 2)
          try tx[table].add(contentsOf: [["n": 5], ["n": 6]], at: .top)
        }
      }
      history.append(try Self.contents(store))
      try store.table("a").move(1, to: .top)
      history.append(try Self.contents(store))
      try store.table("b").delete(3)
      history.append(try Self.contents(store))
    }
    self.history = history
  }

  /// What is in the tables.
  var contents: Contents { history[history.count - 1] }

  static func file(of table: String) -> String { "/store/\(table).plist" }

  static func contents(_ store: RecordStore) throws -> Contents {
    var contents: Contents = [:]
    for table in tables { contents[table] = try Array(store.table(table).lastSnapshot) }
    return contents
  }

  static func open(_ disk: MemoryDisk) throws -> RecordStore {
    let folder = URL(fileURLWithPath: "/store")
    return try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  func bytes(_ file: String) throws -> [UInt8] { try disk.read(file).bytes }

  /// The store with other bytes in one of its files.
  func with(_ bytes: [UInt8], in file: String) throws -> RecordStore {
    let copy = disk.surviving()
    _ = try copy.replace(file, with: bytes)
    return try Self.open(copy)
  }

  /// Where the records lie in a table's file, by id.
  func places(in bytes: [UInt8]) throws -> [Int64: Range<Int>] {
    let (open, close) = (Array("\t\t<dict>\n".utf8), Array("\t\t</dict>\n".utf8))
    var places: [Int64: Range<Int>] = [:]
    var position = 0
    while let start = bytes[position...].firstRange(of: open)?.lowerBound,
      let end = bytes[start...].firstRange(of: close)?.upperBound
    {
      places[Int64(places.count + 1)] = start..<end
      position = end
    }
    try #require(places.count == 3)
    return places
  }

  /// Whether everything is tried, or a part of it that a developer can wait for.
  static let isFull = TestLength.isFull

  /// How far the lengths lie apart at which a file is cut off.
  static let step = isFull ? 1 : 3

  static let allBits: UInt8 = 0xFF

  /// The changes of a byte that are tried: one bit or all bits, or in a full run every bit and all of them.
  static func changes(_ random: inout SeededRandom) -> [UInt8] {
    isFull ? (0..<8).map { 1 << $0 } + [allBits] : [Bool.random(using: &random) ? oneBit(&random) : allBits]
  }

  static func oneBit(_ random: inout SeededRandom) -> UInt8 { 1 << Int.random(in: 0..<8, using: &random) }
}

/// What happened to damaged stores.
struct DamageCounts {
  /// Nothing changed, or only what no checksum guards: the record that is hit.
  var harmless = 0
  var noticed = 0
  var repaired = 0

  var all: Int { harmless + noticed }

  func print(_ what: String) {
    Swift.print("\(what): \(all) cases, \(harmless) harmless, \(noticed) noticed, \(repaired) repaired")
  }

  /// Adds a record, and checks all that is always true of a store. In a run that is not full, of every fifth store.
  func checkWriting(_ store: RecordStore, _ table: String) throws {
    guard DamagedStore.isFull || all % 5 == 0 else { return }
    try store.table(table).add(["n": 7])
    try store.checkpoint()
    try store.checkInvariants()
  }
}

extension DamagedStore {
  /// Whether a store has these records in this order. A record that is hit may be gone, or be there with another id.
  static func has(_ store: RecordStore, _ expected: Contents, besides hit: Set<Int64> = []) throws -> Bool {
    let found = try contents(store)
    return expected.allSatisfy { table, contents in
      let sound = contents.filter { !hit.contains($0.id.rawValue) }
      let ids = Set(sound.map(\.id))
      let kept = (found[table] ?? []).filter { hit.isEmpty || ids.contains($0.id) }
      return kept.elementsEqual(sound) { $0.id == $1.id && $0.fields == $1.fields }
    }
  }
}
