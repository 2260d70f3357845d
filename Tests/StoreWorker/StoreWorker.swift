import FileDB
import Foundation
import Synchronization

private let usage = """
  usage: StoreWorker add FOLDER NAME COUNT                    adds plain records
         StoreWorker leave FOLDER                             adds a record, and ends with the store open
         StoreWorker hold FOLDER                              stays in the middle of a write until it is killed
         StoreWorker fork FOLDER                              writes while a process that it forked tries to
         StoreWorker writer FOLDER NAME SEED [--commits N]    commits, saying so, until it is killed
         StoreWorker reader FOLDER                            looks at the store until it is killed
         StoreWorker supervise FOLDER KILLS                   kills writers, and checks what is left
             [--writers N] [--readers N] [--seed N]
         StoreWorker powercut DEVICE FOLDER CUTS              cuts the power of the file system on DEVICE, which it
             [--writers N] [--seed N]                         mounts at FOLDER, and checks what is left
         StoreWorker faulty FOLDER NAME SEED                  commits while calls fail as FaultInjection.c says, or
             [--errno N] [--patience N]                       the disk is full
         StoreWorker faults FOLDER LIBRARY                    makes every call of such a writer fail in turn, with the
             [--rounds N] [--step N] [--seed N]               library of FaultInjection.c, and checks what is left;
                                                              with a step, not every call
  Those that write take --tables 1|2: how many tables a commit changes.
  """

/// Never released, like a store in a global variable of a script.
private let openStores = Mutex<[RecordStore]>([])

/// The processes of the tests that kill processes, and of those that cut the power.
@main
struct StoreWorker {
  static func main() {
    do {
      try run()
    } catch {
      // At the first: what comes after it proves nothing.
      FileHandle.standardError.write(Data("StoreWorker: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() throws {
    var arguments = try Arguments(CommandLine.arguments.dropFirst())
    let tables = Int(arguments.number("--tables", default: 2))
    let parent = pid_t(arguments.number("--parent", default: UInt64(getppid())))
    /// Whoever started this may have been killed itself.
    func isWanted() -> Bool { getppid() == parent }

    switch try arguments.next() {
    case "add":
      let (folder, name) = (try arguments.folder(), try arguments.next())
      try addPlainRecords(Int(arguments.count()), name: name, folder: folder)
    case "leave":
      let store = try openStore(arguments.folder())
      openStores.withLock { $0.append(store) }
      try store.table(workTables[0]).add(WorkRow(writer: "leave", key: 1, sequence: 1, length: 0))
    case "hold":
      try openStore(arguments.folder()).write { tx in
        try tx[workTables[0]].add(WorkRow(writer: "hold", key: 1, sequence: 1, length: 0))
        report("holding")
        while isWanted() { usleep(10_000) }
        throw Fault("let go of the lock")
      }
    case "fork": try Fork.run(in: arguments.folder())
    case "writer":
      let (folder, name) = (try arguments.folder(), try arguments.next())
      let limit = arguments.number("--commits", default: .max)
      var writer = try Writer(
        folder: folder, name: name, seed: UInt64(arguments.count()), tablesPerCommit: tables)
      var commits: UInt64 = 0
      while commits < limit, isWanted() {
        try writer.pause()
        try writer.commit()
        commits += 1
      }
    case "reader":
      var reader = try Reader(folder: arguments.folder(), tablesPerCommit: tables)
      while isWanted() {
        try reader.look()
        usleep(1_000)
      }
    case "supervise":
      let seed = arguments.seed()
      stopOnSignals()
      try withScratchFolder { scratch in
        var supervisor = Supervisor(
          folder: try arguments.folder(), scratch: scratch, kills: Int(try arguments.count()),
          writers: Int(arguments.number("--writers", default: 4)),
          readers: Int(arguments.number("--readers", default: 2)), tablesPerCommit: tables,
          random: Random(seed: seed))
        try supervisor.run()
        report("0 faults")
      }
    case "powercut":
      #if os(Linux)
        let seed = arguments.seed()
        stopOnSignals()
        try withScratchFolder { scratch in
          var test = PowerCut(
            device: try arguments.next(), mountPoint: try arguments.folder(), scratch: scratch,
            cuts: Int(try arguments.count()), writers: Int(arguments.number("--writers", default: 2)),
            tablesPerCommit: tables, random: Random(seed: seed))
          try test.run()
          report("0 faults")
        }
      #else
        throw Fault("power can be cut on Linux only")
      #endif
    #if os(Linux)
      case "faulty":
        var writer = FaultyWriter(
          folder: try arguments.folder(), name: try arguments.next(), seed: try arguments.count(),
          tablesPerCommit: tables, errno: Int32(arguments.number("--errno", default: 0)),
          patience: Int(arguments.number("--patience", default: 1)))
        try writer.run()
      case "faults":
        let seed = arguments.seed()
        stopOnSignals()
        try withScratchFolder { scratch in
          var test = FaultTest(
            folder: try arguments.folder(), scratch: scratch,
            library: URL(fileURLWithPath: try arguments.next()),
            rounds: Int(arguments.number("--rounds", default: 1)),
            step: Int(arguments.number("--step", default: 1)), tablesPerCommit: tables,
            random: Random(seed: seed))
          try test.run()
          report("0 violations")
        }
    #endif
    case let role: throw Fault("no role '\(role)'\n\(usage)")
    }
  }

  private static func withScratchFolder(_ body: (URL) throws -> Void) throws {
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("worker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    try body(scratch)
  }
}

/// Words in their order, and options with a number each.
private struct Arguments {
  private var words: ArraySlice<String> = []
  private var options: [String: UInt64] = [:]

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        words.append(word)
        continue
      }
      guard let number = rest.popFirst().flatMap(UInt64.init) else {
        throw Fault("\(word) needs a number\n\(usage)")
      }
      options[word] = number
    }
  }

  mutating func next() throws -> String {
    guard let word = words.popFirst() else { throw Fault("too few arguments\n\(usage)") }
    return word
  }

  mutating func folder() throws -> URL { URL(fileURLWithPath: try next(), isDirectory: true) }

  mutating func count() throws -> UInt64 {
    let word = try next()
    guard let number = UInt64(word) else { throw Fault("'\(word)' is no number\n\(usage)") }
    return number
  }

  func number(_ option: String, default value: UInt64) -> UInt64 { options[option] ?? value }

  /// Printed, so that what the supervisor chose can be chosen again. When the processes run is not in its hands.
  func seed() -> UInt64 {
    let seed = number("--seed", default: .random(in: 0 ... .max))
    report("seed \(seed)")
    return seed
  }
}
