import FileDB
import FileDBCluster
import FileDBEtcd
import Foundation

/// SharedWorker CONNECTION STORE FOLDER NUMBER COUNT: moves an amount from one account to another, COUNT times. Then it
/// continues, less often, as long as the file `FOLDER.busy` exists. It prints the outcome of each transfer: `done 3`,
/// or `unknown 3`. If the server cannot be reached, it waits and tries again.
///
/// Each transfer changes a record in two tables and adds one to a third table, all in one transaction. Between
/// transfers, it reads the tables. A snapshot must show a single commit, so the sum of the amounts never changes. For
/// each operation, it prints a line `history …` for `History` in the tests.
@main
struct SharedWorker {
  static let total: Int64 = 8_000

  static func main() throws {
    let words = CommandLine.arguments
    guard words.count == 6, let number = Int64(words[4]), let count = Int(words[5]) else {
      throw StoreError(.invalidValue, "CONNECTION STORE FOLDER NUMBER COUNT")
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
    try transfers.readAll(made)
    try store.close()
    say("end")
  }

  /// Opens the store. A new folder needs the server, which may be down, so this tries again until it works.
  private static func open(_ folder: URL, _ log: SharedLog, _ options: StoreOptions) throws -> RecordStore {
    while true {
      do { return try RecordStore(at: folder, sharedBy: log, options: options) } catch StoreError.Code
        .unreachable
      {
        say("waiting for the server")
        usleep(50_000)
      }
    }
  }
}

/// The transfers of one worker. It records them in separate tables, each with up to `length` transfers per worker.
private struct Transfers {
  private static let accounts: Int64 = 8
  private static let length = 25

  let store: RecordStore
  let worker: Int64
  /// The number of attempts so far. With it, each attempt adds a different number.
  private var attempts: Int64 = 0

  init(store: RecordStore, worker: Int64) { (self.store, self.worker) = (store, worker) }

  private static func list(_ number: Int) -> String { "transfers\(number / length)" }

  mutating func make(_ number: Int) throws {
    while true {
      try readAndCheck(Self.list(number))
      attempts += 1
      let mark = worker * 1_000_000 + attempts
      var operation = Operation(worker, .write, Self.list(number), appending: mark)
      do {
        try store.write { tx in
          operation.list = try Self.transfer(in: &tx, to: Self.list(number), worker, number, mark)
        }
        operation.tell("done")
        return say("done \(number)")
      } catch StoreError.Code.outcomeUnknown {
        operation.tell("unknown")
        return say("unknown \(number)")
      } catch let error as StoreError where [.unreachable, .locked].contains(error.code) {
        operation.tell("failed")
        say("waiting: \(error)")
        usleep(50_000)
      }
    }
  }

  /// - Returns: the list before the transfer.
  private static func transfer(
    in tx: inout StoreTransaction, to list: String, _ worker: Int64, _ number: Int, _ mark: Int64
  ) throws -> [Int64] {
    let (left, right) = (try tx["left"], try tx["right"])
    let amount = Int64.random(in: 1...20)
    for (table, change) in [(left, -amount), (right, amount)] {
      let id = RecordID<Fields>(rawValue: .random(in: 1...accounts))!
      let balance = try table.snapshot()[id: id]?.fields["balance"]?.integer ?? 0
      try table.set(["balance": .integer(balance + change)], of: id)
    }
    let before = marks(try tx[list].snapshot())
    try tx[list].add(["by": .integer(worker), "number": .integer(Int64(number)), "mark": .integer(mark)])
    return before
  }

  /// Reads the folder's data and checks the sum.
  private func readAndCheck(_ list: String) throws {
    var operation = Operation(worker, .read, list)
    let snapshot = try store.snapshot()
    operation.list = Self.marks(snapshot[list])
    operation.tell("done")
    let sum = ["left", "right"].flatMap { Array(snapshot[$0]) }
      .reduce(Int64(0)) { $0 + ($1.fields["balance"]?.integer ?? 0) }
    guard sum == SharedWorker.total else {
      throw StoreError(.invalidValue, "the accounts have \(sum) together, not \(SharedWorker.total)")
    }
  }

  /// Reads all lists, including everything that the other workers have written so far.
  func readAll(_ count: Int) throws {
    for number in stride(from: 0, to: count, by: Self.length) {
      var operation = Operation(worker, .fresh, Self.list(number))
      while (try? store.catchUp()) == nil {
        usleep(50_000)
        operation = Operation(worker, .fresh, Self.list(number))
      }
      operation.list = Self.marks(try store.snapshot()[Self.list(number)])
      operation.tell("done")
    }
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
  private let name: String
  private let mark: Int64?
  private let start = DispatchTime.now().uptimeNanoseconds
  /// The list that the operation read.
  var list: [Int64] = []

  init(_ worker: Int64, _ kind: Kind, _ name: String, appending mark: Int64? = nil) {
    (self.worker, self.kind, self.name, self.mark) = (worker, kind, name, mark)
  }

  func tell(_ outcome: String) {
    let end = DispatchTime.now().uptimeNanoseconds
    let read = "\(name)=\(list.map(\.description).joined(separator: ","))"
    let added = mark.map { "\(name)=\($0)" } ?? "-"
    say("history w\(worker) \(kind.rawValue) \(start) \(end) \(outcome) \(read) \(added)")
  }
}

private func say(_ words: String) {
  // One system call, with nothing left in a buffer when the process is killed.
  try? FileHandle.standardOutput.write(contentsOf: Data("\(words)\n".utf8))
}
