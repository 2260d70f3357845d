import ArgumentParser
import FileDB
import Foundation
import Synchronization

/// How long commits wait while a checkpoint of a large table is made.
struct CheckpointWaits: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoints",
    abstract: "Print how long a commit to a small table takes while the file of a large one is written.")

  @Option(help: "Numbers of records of the large table, with commas between.")
  var sizes = "10000,100000,1000000"
  @Option(help: "How many megabytes the checkpoints of each size write.")
  var megabytes = 2_000

  func run() throws {
    for word in sizes.split(separator: ",") {
      guard let records = Int(word), records > 0 else { throw ValidationError("--sizes takes numbers.") }
      let folder = Places.package.appendingPathComponent(".build/scratch-checkpoints")
      try? FileManager.default.removeItem(at: folder)
      defer { try? FileManager.default.removeItem(at: folder) }
      let sample = try Sample.make(in: folder, records: records)
      let size = try FileManager.default.attributesOfItem(atPath: sample.file.path)[.size] as? Int ?? 0
      let runs = max(5, megabytes * 1_000_000 / max(1, size))
      print("\(records) records, \(size / 1_000_000) MB")
      let store = try RecordStore(
        at: sample.store, options: StoreOptions(lockTimeout: .seconds(60), checkpoints: .manual))
      _ = try store.table(.sample)
      printWaits("without a checkpoint", try waits(in: store) { Thread.sleep(forTimeInterval: 1) })
      var durations: [Double] = []
      let inProcess = try waits(in: store) {
        for _ in 0..<runs { durations.append(try seconds { try Self.checkpoint(store) }) }
      }
      printWaits("in this process", inProcess)
      let across = try waits(in: store) { try Self.run(["checkpoint-loop", sample.store.path, "\(runs)"]) }
      printWaits("in another process", across)
      try printBareWaits(beside: runs, filesOf: size, in: folder)
      print("  a checkpoint takes \(milliseconds(durations.sorted()[durations.count / 2]))")
    }
  }

  /// Changes the large table, and writes its file.
  static func checkpoint(_ store: RecordStore) throws {
    try store.table(.sample).update(1) { $0.amount += 1 }
    try store.checkpoint()
  }

  /// The seconds that each commit takes while `body` runs.
  private func waits(in store: RecordStore, during body: () throws -> Void) throws -> [Double] {
    let table = try store.table("small")
    return try waits(of: { try table.add(["n": 1]) }, during: body)
  }

  private func waits(
    of commit: @escaping @Sendable () throws -> Void, during body: () throws -> Void
  ) throws -> [Double] {
    let writer = Writer(commit)
    Thread.detachNewThread { writer.run() }
    defer { writer.stop() }
    try body()
    return writer.stop()
  }

  /// What the machine can do at best: the bytes of a commit are written and synced, while another process writes and
  /// syncs a plain file of the same size as the table's.
  private func printBareWaits(beside runs: Int, filesOf size: Int, in folder: URL) throws {
    let (length, count) = (512, 1 << 16)
    let file = try RawFile(folder.appendingPathComponent("bare").path)
    try file.write([UInt8](repeating: 0, count: length * count), at: 0)
    try file.sync()
    let number = Atomic<Int>(0)
    let bare = try waits {
      let place = number.add(1, ordering: .relaxed).oldValue % count
      try file.write([UInt8](repeating: UInt8(place & 255), count: length), at: place * length)
      try file.sync()
    } during: {
      try Self.run(["bare-loop", folder.appendingPathComponent("plain").path, "\(size)", "\(runs)"])
    }
    printWaits("bare writes beside bare files", bare)
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  private func milliseconds(_ seconds: Double) -> String { String(format: "%.2f ms", seconds * 1_000) }

  private func printWaits(_ name: String, _ waits: [Double]) {
    let sorted = waits.sorted()
    func part(_ share: Double) -> String {
      milliseconds(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }
    print(
      "  \(name): \(sorted.count) commits; median \(part(0.5)), p99 \(part(0.99)), p99.9 \(part(0.999)), longest \(part(1))"
    )
  }

  private static func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
  }
}

/// Makes one commit after another, until it is told to stop.
private final class Writer: Sendable {
  private let commit: @Sendable () throws -> Void
  private let isStopping = Atomic<Bool>(false)
  private let waits = Mutex<[Double]>([])
  private let end = DispatchSemaphore(value: 0)

  init(_ commit: @escaping @Sendable () throws -> Void) { self.commit = commit }

  func run() {
    while !isStopping.load(ordering: .relaxed) {
      let start = ContinuousClock.now
      guard (try? commit()) != nil else { break }
      waits.withLock { $0.append((ContinuousClock.now - start) / .seconds(1)) }
    }
    end.signal()
  }

  /// - Returns: the seconds that each commit took.
  @discardableResult
  func stop() -> [Double] {
    if !isStopping.exchange(true, ordering: .relaxed) { end.wait() }
    return waits.withLock { $0 }
  }
}

/// What the other process does.
struct CheckpointLoop: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "checkpoint-loop", shouldDisplay: false)

  @Argument var folder: String
  @Argument var runs: Int

  func run() throws {
    let options = StoreOptions(lockTimeout: .seconds(60), checkpoints: .manual)
    let store = try RecordStore(at: URL(fileURLWithPath: folder), options: options)
    for _ in 0..<runs { try CheckpointWaits.checkpoint(store) }
  }
}

/// What the other process does beside bare writes.
struct BareLoop: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "bare-loop", shouldDisplay: false)

  @Argument var file: String
  @Argument var size: Int
  @Argument var runs: Int

  func run() throws {
    let bytes = [UInt8](repeating: 32, count: size)
    for _ in 0..<runs {
      let plain = try RawFile(file)
      try plain.write(bytes, at: 0)
      try plain.sync()
      unlink(file)
    }
  }
}
