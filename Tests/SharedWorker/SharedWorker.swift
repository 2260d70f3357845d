import FileDB
import FileDBCluster
import Foundation

/// SharedWorker CONNECTION STORE FOLDER NAME COUNT: moves an amount from one account to another COUNT times, and says of
/// each what became of it: `done 3`, or `unknown 3`. Where the server cannot be reached it waits and tries again.
///
/// Each transfer changes a record in two tables, and adds one to a third, all in one transaction. What it reads in
/// between has to be as of one commit: then the amounts always add up.
@main
struct SharedWorker {
  static let accounts = 8
  static let total: Int64 = 8_000

  static func main() throws {
    let words = CommandLine.arguments
    guard words.count == 6, let count = Int(words[5]) else {
      throw StoreError(.invalidValue, "CONNECTION STORE FOLDER NAME COUNT")
    }
    let log = SharedLog.postgreSQL(words[1], store: words[2], timeout: .seconds(3))
    let options = StoreOptions(lockTimeout: .seconds(20))
    let store = try open(URL(fileURLWithPath: words[3]), log, options)
    for number in 0..<count { try transfer(store, words[4], number) }
    try checkTotal(store)
    try store.close()
    say("end")
  }

  /// A new folder needs the server, which may be down.
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

  private static func transfer(_ store: RecordStore, _ name: String, _ number: Int) throws {
    while true {
      try checkTotal(store)
      do {
        try store.write { tx in try transfer(in: &tx, name, number) }
        return say("done \(number)")
      } catch StoreError.Code.outcomeUnknown {
        return say("unknown \(number)")
      } catch let error as StoreError where [.unreachable, .locked].contains(error.code) {
        say("waiting: \(error)")
        usleep(50_000)
      }
    }
  }

  private static func transfer(in tx: inout StoreTransaction, _ name: String, _ number: Int) throws {
    let (left, right) = (try tx["left"], try tx["right"])
    let amount = Int64.random(in: 1...20)
    for (table, change) in [(left, -amount), (right, amount)] {
      let id = RecordID<Fields>(rawValue: .random(in: 1...Int64(accounts)))!
      let balance = try table.snapshot()[id: id]?.fields["balance"]?.integer ?? 0
      try table.set(["balance": .integer(balance + change)], of: id)
    }
    try tx["transfers"].add(["by": .string(name), "number": .integer(Int64(number))])
  }

  private static func checkTotal(_ store: RecordStore) throws {
    let snapshot = try store.snapshot()
    let sum = ["left", "right"].flatMap { Array(snapshot[$0]) }
      .reduce(Int64(0)) { $0 + ($1.fields["balance"]?.integer ?? 0) }
    guard sum == total else {
      throw StoreError(.invalidValue, "the accounts have \(sum) together, not \(total)")
    }
  }

  private static func say(_ words: String) {
    // One system call, with nothing left in a buffer when the process is killed.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(words)\n".utf8))
  }
}
