import Foundation

/// What a program asks of the system.
struct SystemCalls: Codable {
  var syncs = 0
  var opens = 0
  var stats = 0
  /// To files, not to standard output.
  var bytesWritten = 0
}

extension SystemCalls {
  private static let syncNames: Set = ["fsync", "fdatasync", "sync_file_range"]
  private static let openNames: Set = ["open", "openat", "openat2", "creat"]
  private static let statNames: Set = ["stat", "lstat", "fstat", "newfstatat", "statx"]
  private static let writeNames: Set = ["write", "pwrite64", "writev", "pwritev", "pwritev2"]
  private static let copyNames: Set = ["copy_file_range", "sendfile"]

  /// Counts what a command asks, by strace.
  /// - Parameter folder: where the traces are for the time being.
  /// - Throws: ``LeftOut`` if strace is missing or must not trace.
  static func count(_ command: TableCommand, in folder: URL) throws -> SystemCalls {
    let strace = try findStrace()
    let traces = folder.appendingPathComponent("traces")
    try FileManager.default.createDirectory(at: traces, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: traces) }
    let names = syncNames.union(openNames).union(statNames).union(writeNames).union(copyNames)
    // A question mark before a name that not every machine has. A file for each thread, so that no line is broken off.
    let filter = "trace=" + names.sorted().map { "?" + $0 }.joined(separator: ",")
    let options = ["-ff", "-qq", "-s", "0", "-e", filter, "-e", "signal=none"]
    let output = try runProgram(
      strace,
      options + ["-o", traces.appendingPathComponent("thread").path, command.program] + command.arguments)
    try command.check(output)
    var calls = SystemCalls()
    for file in try FileManager.default.contentsOfDirectory(at: traces, includingPropertiesForKeys: nil) {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") { calls.add(line) }
    }
    return calls
  }

  private static func findStrace() throws -> String {
    guard let strace = findProgram("strace") else { throw LeftOut("strace is not installed") }
    guard (try? runProgram(strace, ["-o", "/dev/null", strace, "-V"])) != nil else {
      throw LeftOut("strace must not trace here")
    }
    return strace
  }

  /// - Parameter line: `name(first argument, ...) = result`
  private mutating func add(_ line: Substring) {
    let name = String(line.prefix { $0 != "(" })
    let result = line.components(separatedBy: " = ").last.flatMap { Int($0.prefix { $0 != " " }) }
    if Self.syncNames.contains(name) { syncs += 1 }
    if Self.openNames.contains(name) { opens += 1 }
    if Self.statNames.contains(name) { stats += 1 }
    let isToFile = Int(line.dropFirst(name.count + 1).prefix(while: \.isNumber)).map { $0 > 2 } ?? false
    if Self.copyNames.contains(name) || Self.writeNames.contains(name) && isToFile {
      bytesWritten += max(0, result ?? 0)
    }
  }
}

extension SystemCalls {
  static let verbs: [CommandVerb] = [.get, .count, .add, .set, .move]

  /// Counts what the commands of each peer that has some ask of the system, and says so if it cannot.
  static func compare(_ peers: [any Peer], _ sample: Sample, _ results: inout Results) {
    for verb in verbs {
      for peer in peers.compactMap({ $0 as? any CommandLinePeer }) {
        do { results.calls.append(try count(verb, peer, sample)) } catch {
          print("\nsystem calls of \(type(of: peer).name) \(verb): \(error)")
          if !(error is LeftOut) { results.hasFailed = true }
        }
      }
    }
  }

  /// Of the second command: the first may make what later ones find.
  private static func count(
    _ verb: CommandVerb, _ peer: any CommandLinePeer, _ sample: Sample
  ) throws -> Results.Calls {
    _ = try peer.nextCommand(verb).run()
    let calls = try count(peer.nextCommand(verb), in: sample.folder)
    return Results.Calls(records: sample.records, peer: type(of: peer).name, verb: verb, calls: calls)
  }
}
