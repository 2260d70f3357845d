import FileDB
import FileDBCluster
import Foundation

/// PagedTimes CONNECTION FOLDER COUNT: loads COUNT records into a paged table, and prints how long its calls take.
@main
struct PagedTimes {
  struct Event: Codable, Sendable {
    var kind: String
    var level: Int
    var text: String
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let count = Int(words[3]) else {
      throw StoreError(.invalidValue, "CONNECTION FOLDER COUNT")
    }
    let log = SharedLog.postgreSQL(words[1], store: "times", timeout: .seconds(30))
    try log.create()
    let store = try RecordStore(at: URL(fileURLWithPath: words[2]), sharedBy: log)
    let events = try store.paged(TableName<Event>("events"))
    let start = ContinuousClock.now
    try await events.load((0..<count).lazy.map(event))
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("loading \(count) records: \(Int(seconds)) s, \(Int(Double(count) / seconds)) a second\n")
    print("| ms | median | 99 of 100 | longest |\n| --- | --- | --- | --- |")
    try await read(events, count)
    try await write(events, count)
  }

  private static func event(_ number: Int) -> Event {
    Event(
      kind: "login", level: number % 10, text: "Somebody logged in at the machine with the number \(number)")
  }

  private static func read(_ events: PagedTable<Event>, _ count: Int) async throws {
    func index() -> Int { .random(in: 0..<count) }
    func id() -> RecordID<Event> { RecordID(rawValue: Int64(index()) + 1)! }
    for length in [20, 500] {
      try await time("page of \(length) at a random index") {
        let start = Int.random(in: 0...count - length)
        let page = try await events.records(in: start..<start + length)
        guard page.count == length else { throw StoreError(.invalidValue, "a page is too short") }
      }
    }
    try await time("page of 20 below a random record") {
      _ = try await events.records(after: id(), limit: 20)
    }
    try await time("record at a random index") { _ = try await events.record(at: index()) }
    try await time("record with a random id") { _ = try await events.record(with: id()) }
    try await time("index of a random record") { _ = try await events.index(of: id()) }
    try await time("count") { _ = try await events.count() }
  }

  private static func write(_ events: PagedTable<Event>, _ count: Int) async throws {
    func id() -> RecordID<Event> { RecordID(rawValue: .random(in: 1...Int64(count)))! }
    try await time("add at the bottom") { try await events.add(event(0)) }
    try await time("add at a random index") {
      try await events.add(event(0), at: .index(.random(in: 0..<count)))
    }
    try await time("update a random record") { try await events.update(id()) { $0.level += 1 } }
    try await time("move a random record to the top") { try await events.move(id(), to: .top) }
    var last = try await events.counter()
    try await time("delete a record") {
      try await events.delete(RecordID(rawValue: last)!)
      last -= 1
    }
  }

  /// Runs `body` 500 times and prints how long it takes.
  private static func time(_ what: String, _ body: () async throws -> Void) async throws {
    var times: [Double] = []
    for _ in 0..<500 {
      let start = ContinuousClock.now
      try await body()
      times.append((ContinuousClock.now - start) / .milliseconds(1))
    }
    times.sort()
    func text(_ place: Int) -> String { String(format: "%.1f", times[place]) }
    print("| \(what) | \(text(250)) | \(text(494)) | \(text(499)) |")
  }
}
