import FileDB
import FileDBPlist
import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

/// Another program saves a table's file while commits are waiting in the journal, and each changes something else.
@Suite struct SavedFileTests {
  /// A file with the records 1 to 4, and commits that change 1, remove 2, move 3 to the bottom and add 5 on top.
  private func withCommits(_ body: (RecordStore) throws -> Void) throws {
    try withStore(.disk, options: StoreOptions(checkpoints: .manual)) { store in
      let table = try store.table("t")
      for number in 1...4 { try table.add(["n": .integer(Int64(number))]) }
      try store.checkpoint()
      try store.write { tx in
        try tx["t"].set(["n": 100], of: 1)
        try tx["t"].delete(2)
        try tx["t"].move(3, to: .bottom)
      }
      try table.add(["n": 5], at: .top)
      try body(store)
    }
  }

  /// Saves the file with the records as `change` makes them.
  private func edit(_ store: RecordStore, _ change: (inout [PlistValue]) -> Void) throws {
    let path = try store.url(of: "t").path
    var root = try #require(try PlistParser.parse(store.disk.read(path).bytes).dict)
    var data = try #require(root["data"]?.array)
    change(&data)
    root["data"] = .array(data)
    let ids = data.compactMap { $0.dict?["wgFileDbSecretId"]?.string }
    var index = PlistDictionary()
    for (number, id) in ids.enumerated() { index[id] = .string("\(number)") }
    root["index"] = .dict(index)
    root["autoincrement"] = .string("\(max(4, ids.compactMap { Int($0) }.max() ?? 0))")
    _ = try store.disk.replace(path, with: PlistWriter.document(.dict(root)))
  }

  private func record(_ id: Int, _ number: Int64) -> PlistValue {
    .dict(["n": .integer(number), "wgFileDbSecretId": .string("\(id)")])
  }

  private func listing(_ store: RecordStore) throws -> [String] {
    try store.refresh()
    return try store.table("t").lastSnapshot.map { "\($0.id): \($0.fields["n"]?.integer ?? 0)" }
  }

  @Test func saveThatTouchesNothingOfTheCommitsIsMerged() throws {
    try withCommits { store in
      let other = try RecordStore(at: store.url, options: store.options)
      #expect(try listing(other) == ["5: 5", "1: 100", "4: 4", "3: 3"])
      try edit(store) { data in
        data[3] = record(4, 44)
        data.append(record(9, 9))
      }
      let merged = ["5: 5", "1: 100", "4: 44", "3: 3", "9: 9"]
      for store in [store, other, try RecordStore(at: store.url)] { #expect(try listing(store) == merged) }
      #expect(try other.table("t").add(["n": 10], at: .bottom) == 10)
      for store in [store, other, try RecordStore(at: store.url)] {
        #expect(try listing(store) == merged + ["10: 10"])
        try store.checkInvariants()
      }
      try store.checkNothingIsLeftBehind()
      for store in [store, other] { #expect(try listing(store) == merged + ["10: 10"]) }
    }
  }

  /// As an editor does that stays open.
  @Test func savesAgainAndAgainAreMerged() throws {
    try withCommits { store in
      for round in 1...4 {
        try edit(store) { $0.append(record(100 * round, Int64(round))) }
        try store.table("t").set(
          ["n": .integer(Int64(round))], of: RecordID<Fields>(rawValue: Int64(100 * round))!)
        if round == 3 { try store.checkpoint() }
        try store.table("t").add(["n": 0], at: .index(1))
        try store.checkInvariants()
      }
      let fresh = try RecordStore(at: store.url)
      #expect(
        try listing(fresh).filter { $0.hasSuffix("00: 1") || $0.hasSuffix("00: 4") } == ["100: 1", "400: 4"])
      #expect(try listing(fresh) == listing(store))
      try store.checkNothingIsLeftBehind()
    }
  }

  /// The journal knows the saved file as well as the one that was to replace it.
  @Test func checkpointOfAMergedTableMayBeInterrupted() throws {
    try withCommits { store in
      try edit(store) { $0.append(record(9, 9)) }
      let failing = try RecordStore(
        at: store.url, disk: FaultyDisk(over: SystemDisk(), faults: .refuse(.exchange, errno: EIO)),
        options: store.options)
      #expect(throws: StoreError.self) { try failing.checkpoint() }
      let merged = ["5: 5", "1: 100", "4: 4", "3: 3", "9: 9"]
      for store in [store, try RecordStore(at: store.url)] { #expect(try listing(store) == merged) }
      try store.table("t").add(["n": 10])
      #expect(try listing(RecordStore(at: store.url)) == merged + ["10: 10"])
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test func commitOnASavedFileIsNotCarriedOutOnTheFormerOne() throws {
    try withStore(.disk, options: StoreOptions(checkpoints: .manual)) { store in
      let table = try store.table("t")
      for number in 1...2 { try table.add(["n": .integer(Int64(number))]) }
      try store.checkpoint()
      let folder = StoreFolder(path: store.url.path, disk: StoreDisk(SystemDisk()))
      let log = InterruptedLog(FileLog(folder, options: store.options)) {
        try! edit(store) { $0.insert(record(9, 9), at: 0) }
        _ = try! table.add(["n": 10], at: .index(1))
      }
      let reader = RecordStore(at: store.url, log: log, options: store.options)
      #expect(try reader.table("t").lastSnapshot.map(\.id) == [9, 10, 1, 2])
    }
  }

  @Test(
    arguments: [
      ("a record that a commit changed", [1], 0, 1), ("one that a commit removed", [2], 1, 1),
      ("several", [1, 2], 0, 2), ("one beneath which a commit put another", [4], 3, 0),
    ] as [(String, [Int64], Int, Int)])
  func saveOfTheSameRecordIsAConflictThatNamesIt(
    what: String, ids: [Int64], first: Int, changed: Int
  ) throws {
    try withCommits { store in
      try edit(store) { data in
        if changed == 0 { data.remove(at: first) }
        for index in first..<first + changed { data[index] = record(index + 1, 1_000) }
      }
      let error = try #require(storeError { try store.refresh() })
      #expect(error.code == .conflict)
      let names = ids.map(\.description).joined(separator: ", ")
      #expect(ids.count > 1 || error.record?.rawValue == ids[0])
      #expect(ids.count == 1 || error.message.contains("(records \(names))"), "\(error)")
      try store.repair("t", keeping: .journal)
      #expect(try listing(store).contains("1: 100"))
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test func recordThatBothAddUnderOneIDIsAConflict() throws {
    try withCommits { store in
      try edit(store) { $0.append(record(5, 55)) }
      let error = storeError { try store.refresh() }
      #expect(error?.code == .conflict && error?.record == 5)
      try store.repair("t", keeping: .both)
      #expect(try Set(listing(store)).isSuperset(of: ["5: 55", "6: 100", "7: 5"]))
    }
  }

  @Test func removalOfAllRecordsIsInConflictWithASave() throws {
    try withStore(.disk, options: StoreOptions(checkpoints: .manual)) { store in
      let table = try store.table("t")
      for number in 1...2 { try table.add(["n": .integer(Int64(number))]) }
      try store.checkpoint()
      try table.deleteAll()
      try edit(store) { $0.append(record(9, 9)) }
      #expect(storeError { try store.refresh() }?.code == .conflict)
      try store.repair("t", keeping: .file)
      #expect(try listing(store) == ["1: 1", "2: 2", "9: 9"])
    }
  }
}

/// A log in which others write right after a base was read for the first time.
private final class InterruptedLog: CommitLog {
  private let log: FileLog
  private let interlude: Mutex<(@Sendable () -> Void)?>

  init(_ log: FileLog, interlude: @escaping @Sendable () -> Void) {
    self.log = log
    self.interlude = Mutex(interlude)
  }

  func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion? {
    let base = try log.base(of: table, unless: known)
    let interlude = interlude.withLock { interlude in
      defer { interlude = nil }
      return interlude
    }
    interlude?()
    return base
  }

  func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try log.append(timeout: timeout, transact, beforeOthersSee: beforeOthersSee)
  }

  func commits(after sequence: UInt64) throws(StoreError) -> LogNews { try log.commits(after: sequence) }
  func tables() throws(StoreError) -> Set<TableKey> { try log.tables() }
  func makeWatch() throws(StoreError) -> (any LogWatch)? { try log.makeWatch() }
  func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome { try log.outcome(of: token) }
}
