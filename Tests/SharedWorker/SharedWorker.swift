import FileDB
import FileDBCluster
import Foundation

/// SharedWorker CONNECTION STORE FOLDER NUMBER COUNT PATIENCE: moves an amount from one account to another, COUNT times.
/// Then it continues, less often, as long as the file `FOLDER.busy` exists. It prints the outcome of each transfer:
/// `done 3`, or `unknown 3`. If the server cannot be reached, it waits and tries again, for PATIENCE seconds.
///
/// Each transfer changes a record in two tables and adds one to a third table, all in one transaction. Between
/// transfers, it reads the tables, sometimes after asking for what the others have written. A snapshot must show a
/// single commit, so the sum of the amounts never changes. For each operation, it prints a line `history …` for
/// `History` in the tests.
@main
struct SharedWorker {
  static let total: Int64 = 8_000
  /// How long it tries again.
  static let patience = Duration.seconds(Int(CommandLine.arguments.last ?? "") ?? 0)

  static func main() throws {
    let words = CommandLine.arguments
    guard words.count == 7, let number = Int64(words[4]), let count = Int(words[5]) else {
      throw StoreError(.invalidValue, "CONNECTION STORE FOLDER NUMBER COUNT PATIENCE")
    }
    let log =
      words[1].hasPrefix("etcd:")
      ? try SharedLog.etcd(words[1], store: words[2], timeout: .seconds(3))
      : SharedLog.postgreSQL(words[1], store: words[2], timeout: .seconds(3))
    let options = StoreOptions(lockTimeout: .seconds(20))
    let store = try open(URL(fileURLWithPath: words[3]), log, options)
    var transfers = Transfers(store: store, worker: number)
    var made = 0
    while made < count || access("\(words[3]).busy", F_OK) == 0 {
      try transfers.make(made)
      made += 1
      if made > count, .random() { usleep(.random(in: 0...300_000)) }
    }
    try transfers.readAll()
    try store.close()
    say("end")
  }

  /// Opens the store. A new folder needs the server, which may be down.
  private static func open(_ folder: URL, _ log: SharedLog, _ options: StoreOptions) throws -> RecordStore {
    try untilReached { try RecordStore(at: folder, sharedBy: log, options: options) }
  }

  /// Runs `body` again until it reaches the server.
  static func untilReached<Result>(_ body: () throws -> Result) throws -> Result {
    let deadline = ContinuousClock.now + patience
    while true {
      do { return try body() } catch let error as StoreError
        where [.unreachable, .locked].contains(error.code) && .now < deadline
      {
        say("waiting: \(error)")
        usleep(50_000)
      }
    }
  }
}

/// The transfers of one worker. It records each one in a list, which is a table. All workers add to the newest lists.
private struct Transfers {
  private static let accounts: Int64 = 8
  /// When the newest list is this long, the next one begins.
  private static let length = 40

  let store: RecordStore
  let worker: Int64
  /// The number of attempts so far. With it, each attempt adds a different number.
  private var attempts: Int64 = 0

  init(store: RecordStore, worker: Int64) { (self.store, self.worker) = (store, worker) }

  mutating func make(_ number: Int) throws {
    try SharedWorker.untilReached {
      let lists = try readAndCheck()
      if .random(in: 0..<4) == 0 { try readFresh() }
      attempts += 1
      let mark = worker * 1_000_000 + attempts
      let list = lists.randomElement() ?? Self.list(0)
      var operation = Operation(worker, .write, appending: (list, mark))
      do {
        try store.write { tx in
          operation.lists = try Self.transfer(in: &tx, lists, to: list, worker, number, mark)
        }
        operation.tell("done")
        say("done \(number)")
      } catch StoreError.Code.outcomeUnknown {
        operation.tell("unknown")
        say("unknown \(number)")
      } catch {
        operation.tell("failed")
        throw error
      }
    }
  }

  /// - Returns: the lists before the transfer.
  private static func transfer(
    in tx: inout StoreTransaction, _ lists: [String], to list: String, _ worker: Int64, _ number: Int,
    _ mark: Int64
  ) throws -> [String: [Int64]] {
    let (left, right) = (try tx["left"], try tx["right"])
    let amount = Int64.random(in: 1...20)
    for (table, change) in [(left, -amount), (right, amount)] {
      let id = RecordID<Fields>(rawValue: .random(in: 1...accounts))!
      let balance = try table.snapshot()[id: id]?.fields["balance"]?.integer ?? 0
      try table.set(["balance": .integer(balance + change)], of: id)
    }
    var before: [String: [Int64]] = [:]
    for list in lists { before[list] = marks(try tx[list].snapshot()) }
    try tx[list].add(["by": .integer(worker), "number": .integer(Int64(number)), "mark": .integer(mark)])
    return before
  }

  // MARK: Reading

  /// Reads the newest lists in the folder, and checks the sum.
  /// - Returns: the names of these lists.
  private func readAndCheck() throws -> [String] {
    var operation = Operation(worker, .read)
    let snapshot = try store.snapshot()
    let newest = Self.newestLists(in: snapshot)
    operation.lists = Self.lists(newest, in: snapshot)
    operation.tell("done")
    let sum = ["left", "right"].flatMap { Array(snapshot[$0]) }
      .reduce(Int64(0)) { $0 + ($1.fields["balance"]?.integer ?? 0) }
    guard sum == SharedWorker.total else {
      throw StoreError(.invalidValue, "the accounts have \(sum) together, not \(SharedWorker.total)")
    }
    return newest
  }

  /// Reads the newest lists, including everything that the other workers have written so far.
  private func readFresh() throws { try readFresh(Self.newestLists) }

  /// Does the same with all lists.
  func readAll() throws {
    try SharedWorker.untilReached {
      try readFresh { snapshot in (0...Self.newest(in: snapshot)).map(Self.list) }
    }
  }

  private func readFresh(_ names: (StoreSnapshot) -> [String]) throws {
    var operation = Operation(worker, .fresh)
    do {
      try store.catchUp()
      let snapshot = try store.snapshot()
      operation.lists = Self.lists(names(snapshot), in: snapshot)
      operation.tell("done")
    } catch {
      operation.tell("failed")
      throw error
    }
  }

  // MARK: Lists

  private static let prefix = "transfers"

  private static func list(_ number: Int) -> String { "\(prefix)\(number)" }

  private static func newest(in snapshot: StoreSnapshot) -> Int {
    snapshot.tableNames.filter { $0.hasPrefix(prefix) }.compactMap { Int($0.dropFirst(prefix.count)) }.max()
      ?? 0
  }

  /// The list to which to add next, and the one before it.
  private static func newestLists(in snapshot: StoreSnapshot) -> [String] {
    let newest = newest(in: snapshot)
    let next = snapshot[list(newest)].count < length ? newest : newest + 1
    return (max(next - 1, 0)...next).map(list)
  }

  private static func lists(_ names: [String], in snapshot: StoreSnapshot) -> [String: [Int64]] {
    Dictionary(uniqueKeysWithValues: names.map { ($0, marks(snapshot[$0])) })
  }

  private static func marks(_ table: TableSnapshot<Fields>) -> [Int64] {
    table.compactMap { $0.fields["mark"]?.integer }
  }
}

/// An operation of the worker, and when it ran.
private struct Operation {
  enum Kind: String {
    case write, read, fresh
  }

  private let worker: Int64
  private let kind: Kind
  private let added: String
  private let start = DispatchTime.now().uptimeNanoseconds
  /// The lists that the operation read.
  var lists: [String: [Int64]] = [:]

  init(_ worker: Int64, _ kind: Kind, appending: (list: String, mark: Int64)? = nil) {
    (self.worker, self.kind) = (worker, kind)
    added = appending.map { "\($0.list)=\($0.mark)" } ?? "-"
  }

  func tell(_ outcome: String) {
    let end = DispatchTime.now().uptimeNanoseconds
    let read = lists.map { "\($0.key)=\($0.value.map(\.description).joined(separator: ","))" }
    say(
      "history w\(worker) \(kind.rawValue) \(start) \(end) \(outcome) "
        + "\(read.isEmpty ? "-" : read.joined(separator: ";")) \(added)")
  }
}

private func say(_ words: String) {
  // One system call, with nothing left in a buffer when the process is killed.
  try? FileHandle.standardOutput.write(contentsOf: Data("\(words)\n".utf8))
}
