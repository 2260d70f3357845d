import FileDB
import FileDBCluster
import Foundation

/// SharedTimes postgres|etcd CONNECTION FOLDER COUNT: compares a store that several machines share with the bare engine,
/// and with a plain folder. Each line is the median of three runs. Catching up is measured over COUNT commits.
@main
struct SharedTimes {
  static let rounds = 3

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 5, let engine = Engine(kind: words[1], connection: words[2]),
      let count = Int(words[4])
    else { throw StoreError(.invalidValue, "postgres|etcd CONNECTION FOLDER COUNT") }
    let folder = URL(fileURLWithPath: words[3])
    say("| \(words[1]) | FileDB | beside | ratio |\n| --- | --- | --- | --- |")
    try Commits(engine, folder).measure()
    try await Writers(engine, folder).measure()
    try CatchingUp(engine, folder, count).measure()
    try LocalReads(engine, folder).measure()
  }

  /// Prints a line. The figures are from the same rounds.
  static func tell(_ what: String, _ unit: String, _ ours: [Double], beside other: String, _ bare: [Double]) {
    let ratio = median(zip(ours, bare).map { $0 / $1 })
    say(
      "| \(what) | \(text(median(ours))) \(unit) | \(other): \(text(median(bare))) \(unit) | "
        + "\(String(format: "%.2f", ratio)) |")
  }

  /// Prints a line at once, also into a pipe.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func text(_ value: Double) -> String { String(format: value < 100 ? "%.2f" : "%.0f", value) }

  /// - Returns: how many milliseconds `body` takes.
  static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  /// A record of about 200 bytes.
  static func fields(_ number: Int) -> Fields {
    ["number": .integer(Int64(number)), "text": .string(String(repeating: "some words ", count: 12))]
  }
}

/// PostgreSQL or etcd.
struct Engine: Sendable {
  enum Kind: String {
    case postgres, etcd
  }

  let kind: Kind
  let connection: String

  init?(kind: String, connection: String) {
    guard let kind = Kind(rawValue: kind) else { return nil }
    (self.kind, self.connection) = (kind, connection)
  }

  func bare() throws -> any BareEngine {
    switch kind {
    case .postgres: return try BarePostgres(connection)
    case .etcd:
      let first = connection.dropFirst("etcd://127.0.0.1:".count).prefix { $0 != "," }
      return try BareEtcd(port: Int(first) ?? 2379)
    }
  }

  func log(_ store: String) throws -> SharedLog {
    switch kind {
    case .postgres: SharedLog.postgreSQL(connection, store: store, timeout: .seconds(30))
    case .etcd: try SharedLog.etcd(connection, store: store, timeout: .seconds(30))
    }
  }

  /// A new machine with a folder of its own.
  func machine(_ store: String, in folder: URL, _ following: RecordStore.Following = .always) throws
    -> RecordStore
  {
    let log = try log(store)
    try log.create()
    return try RecordStore(
      at: folder.appendingPathComponent(UUID().uuidString), sharedBy: log, following: following,
      options: StoreOptions())
  }
}

/// One writer: each commit replaces a record.
struct Commits {
  private static let count = 300
  private let engine: Engine
  private let folder: URL

  init(_ engine: Engine, _ folder: URL) { (self.engine, self.folder) = (engine, folder) }

  func measure() throws {
    let store = try engine.machine("commits", in: folder)
    let table = try store.table("t")
    let id = try table.add(SharedTimes.fields(0))
    let bare = try engine.bare()
    let bytes = [UInt8](
      repeating: UInt8(ascii: "a"), count: try payloadLength { try table.set(SharedTimes.fields(1), of: id) })
    var (ours, plain, fresh): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<SharedTimes.rounds {
      var (commits, writes, looks): ([Double], [Double], [Double]) = ([], [], [])
      for number in 0..<Self.count {
        commits.append(
          try SharedTimes.milliseconds { try table.set(SharedTimes.fields(number), of: id) })
        writes.append(try SharedTimes.milliseconds { try bare.write(bytes) })
        looks.append(try SharedTimes.milliseconds { try store.catchUp() })
      }
      ours.append(SharedTimes.median(commits))
      plain.append(SharedTimes.median(writes))
      fresh.append(SharedTimes.median(looks))
    }
    SharedTimes.tell(
      "one commit of \(bytes.count) bytes", "ms", ours, beside: "a plain write of the same bytes", plain)
    SharedTimes.tell("`catchUp` without news", "ms", fresh, beside: "a plain write", plain)
    try store.close()
  }

  /// How many bytes of payload a commit has in the log.
  private func payloadLength(of commit: () throws -> Void) throws -> Int {
    guard let log = try engine.log("commits").log as? any EngineLog else { return 0 }
    let before = try log.status().commitBytes
    try commit()
    return Int(try log.status().commitBytes - before)
  }
}
