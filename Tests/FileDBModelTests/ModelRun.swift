import FileDB
import FileDBPlist
import FileDBStorage
import Foundation
import TestSupport

/// Several stores on one folder, as if each were a process, that take turns at random; an editor that changes the files
/// between them; and plain tables that are told the same.
struct ModelRun {

  private enum Turn: CaseIterable {
    case transaction, regrettedTransaction, checkpoint, reopen, look, edit, editBesidePending,
      editAgainstPending
  }

  private var stores: [RecordStore]
  private var verbs: RandomVerbs
  private var counts: [String: Int] = [:]
  private(set) var verbCount = 0
  private(set) var lastTurn = ""

  init(stores: [RecordStore], random: SeededRandom) {
    self.stores = stores
    verbs = RandomVerbs(random: random, tables: ["a", "b", "c"], size: 20)
  }

  var summary: String {
    let turns = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return "\(verbCount) verbs; \(turns)"
  }

  mutating func turn() throws {
    let store = stores.indices.randomElement(using: &verbs.random)!
    let turn = someTurn()
    lastTurn = "\(turn) in store \(store)"
    counts["\(turn)", default: 0] += 1
    switch turn {
    case .transaction: try transaction(in: stores[store])
    case .regrettedTransaction: try regret(in: stores[store])
    case .checkpoint: try stores[store].checkpoint()
    case .reopen: try reopen(store)
    case .look: try look(at: stores[store])
    case .edit: try edit(stores[store])
    case .editBesidePending: try editBesidePending(stores[store])
    case .editAgainstPending: try editAgainstPending(stores[store])
    }
  }

  /// Everything once more, with what a checkpoint makes of it.
  mutating func finish() throws {
    for store in stores {
      try look(at: store)
      try store.checkNothingIsLeftBehind()
    }
  }

  private mutating func someTurn() -> Turn {
    switch Int.random(in: 0..<100, using: &verbs.random) {
    case ..<62: .transaction
    case ..<70: .regrettedTransaction
    case ..<78: .checkpoint
    case ..<86: .reopen
    case ..<94: .look
    case ..<96: .edit
    case ..<98: .editBesidePending
    default: .editAgainstPending
    }
  }

  private mutating func transaction(in store: RecordStore) throws {
    try store.write { tx in
      for _ in 0..<someCount() { try verbs.step(&tx) }
    }
    try look(at: store)
  }

  private mutating func regret(in store: RecordStore) throws {
    try verbs.stepAndRegret(in: store, count: someCount())
    try look(at: store)
  }

  private mutating func someCount() -> Int {
    let count = Int.random(in: 1...8, using: &verbs.random)
    verbCount += count
    return count
  }

  private mutating func reopen(_ index: Int) throws {
    let old = stores[index]
    stores[index] = try RecordStore(at: old.url, disk: old.disk, options: old.options)
    try verbs.compare(with: stores[index])
    try stores[index].checkInvariants()
  }

  private func look(at store: RecordStore) throws {
    try store.refresh()
    try verbs.compare(with: store)
  }

  /// Somebody takes the first record out of a file by hand, when nothing waits for it.
  private mutating func edit(_ store: RecordStore) throws {
    try store.checkpoint()
    guard let table = someTable(with: 1) else { return }
    try removeFirstRecord(of: table, in: store)
    verbs.plain[table]?.records.removeFirst()
    try look(at: store)
  }

  /// The same while commits wait that have nothing to do with it: both are there then.
  private mutating func editBesidePending(_ store: RecordStore) throws {
    try store.checkpoint()
    guard let table = someTable(with: 2) else { return }
    let last = verbs.plain[table]!.records.last!.id
    try store.write { tx in
      try tx[table].add(["number": 1], at: .bottom)
      try tx[table].set(["number": 2], of: RecordID<Fields>(rawValue: last)!)
      try tx[table].move(RecordID<Fields>(rawValue: last)!, to: .bottom)
    }
    _ = verbs.plain[table]!.perform(.add([["number": 1]], .bottom))
    _ = verbs.plain[table]!.perform(.set(last, ["number": 2]))
    _ = verbs.plain[table]!.perform(.move(last, .bottom))
    try removeFirstRecord(of: table, in: store)
    verbs.plain[table]?.records.removeFirst()
    try look(at: store)
  }

  /// The same while commits wait that change that record: nobody takes the table then, until it is said that the file
  /// counts.
  private mutating func editAgainstPending(_ store: RecordStore) throws {
    try store.checkpoint()
    guard let table = someTable(with: 2) else { return }
    let inFile = verbs.plain[table]!
    try store.write { tx in
      try tx[table].add(["number": 1])
      try tx[table].set(["number": 3], of: RecordID<Fields>(rawValue: inFile.records[0].id)!)
      try tx[table].set(["number": 4], of: RecordID<Fields>(rawValue: inFile.records[0].id)!)
    }
    try removeFirstRecord(of: table, in: store)
    for other in stores {
      guard
        (storeError { try other.write { tx in try tx[table].deleteAll() } })?.code
          == .conflict
      else { throw BrokenInvariant(description: "no conflict") }
    }
    let backups = try store.repair(table, keeping: .file).backups
    // Thousands of them would slow every look at their folder.
    for backup in backups { try store.disk.remove(backup.path) }
    verbs.plain[table] = inFile
    verbs.plain[table]?.records.removeFirst()
    verbs.plain[table]?.counter += 1  // The record is given up, its id is not given again.
    try look(at: store)
  }

  private mutating func someTable(with count: Int) -> String? {
    verbs.plain.filter { $0.value.records.count >= count }.keys.sorted().randomElement(using: &verbs.random)
  }

  private func removeFirstRecord(of table: String, in store: RecordStore) throws {
    let file = try store.url(of: table).path
    guard var root = try PlistParser.parse(store.disk.read(file).bytes).dict, var data = root["data"]?.array
    else { throw BrokenInvariant(description: "\(file) is no table") }
    data.removeFirst()
    root["data"] = .array(data)
    let ids = data.map { $0.dict?["wgFileDbSecretId"]?.string ?? "" }
    var index = PlistDictionary()
    for (number, id) in ids.enumerated() { index[id] = .string(number.description) }
    root["index"] = .dict(index)
    _ = try store.disk.replace(file, with: PlistWriter.document(.dict(root)))
  }
}
