import Foundation

/// What a process has in memory, if the system tells.
enum ResidentMemory {
  /// What a table is like that is measured.
  enum State: String, CaseIterable, Codable {
    case opened, lookup

    var title: String { self == .opened ? "" : ", with a lookup" }
  }

  /// What a step added, in bytes, and how much it had added at most on the way.
  struct Growth: Codable {
    var added: Int
    var peak: Int
  }

  /// Runs `body` and says how this process grew by it; `nil` if the system does not tell.
  static func growth<Result>(of body: () throws -> Result) rethrows -> Growth? {
    guard let before = bytes("VmRSS") else { return nil }
    let result = try body()
    guard let after = bytes("VmRSS"), let peak = bytes("VmHWM") else { return nil }
    return withExtendedLifetime(result) { Growth(added: after - before, peak: peak - before) }
  }

  private static func bytes(_ key: String) -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
    for line in status.split(separator: "\n") where line.hasPrefix("\(key):") {
      return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map {
        $0 * 1_024
      }
    }
    return nil
  }

  /// The growth of each peer by opening the sample, each in a process of its own.
  static func compare(_ peers: [any Peer], _ sample: Sample) -> [Results.Memory] {
    guard bytes("VmRSS") != nil else { return [] }
    return State.allCases.flatMap { state in
      peers.compactMap { peer in
        guard sample.records <= type(of: peer).mostRecords(for: .open) else { return nil }
        do { return try measure(peer, state, sample) } catch {
          print("\nresident memory of \(type(of: peer).name)\(state.title): \(error)")
          return nil
        }
      }
    }
  }

  private static func measure(_ peer: any Peer, _ state: State, _ sample: Sample) throws -> Results.Memory? {
    let name = type(of: peer).name
    try peer.makeFileToOpen()
    let output = try runProgram(
      "/proc/\(ProcessInfo.processInfo.processIdentifier)/exe",
      ["memory", name, sample.folder.path, String(sample.records), state.rawValue])
    guard let growth = try JSONDecoder().decode(Growth?.self, from: Data(output.utf8)) else { return nil }
    return Results.Memory(
      records: sample.records, peer: name, state: state, fileBytes: try Data(contentsOf: sample.file).count,
      addedBytes: growth.added, peakBytes: growth.peak)
  }
}

/// The most memory of whole commands.
extension ResidentMemory {
  static let verbs: [CommandVerb] = [.get, .add]

  /// The same for all peers that have commands.
  static func compareCommands(_ peers: [any Peer], _ sample: Sample) -> [Results.CommandMemory] {
    peers.compactMap { $0 as? any CommandLinePeer }.flatMap { peer in
      verbs.compactMap { verb in
        do { return try measure(verb, peer, sample) } catch {
          print("\nresident memory of \(type(of: peer).name) \(verb): \(error)")
          return nil
        }
      }
    }
  }

  /// Of the second command: the first may make what later ones find.
  private static func measure(
    _ verb: CommandVerb, _ peer: any CommandLinePeer, _ sample: Sample
  ) throws -> Results.CommandMemory {
    guard let python = findProgram("python3") else { throw LeftOut("python3 is not installed") }
    _ = try peer.nextCommand(verb).run()
    let command = try peer.nextCommand(verb)
    let script = Places.programs.appendingPathComponent("peak.py").path
    let output = try runProgram(python, [script, command.program] + command.arguments)
    guard let bytes = Int(output.filter(\.isNumber)) else { throw WrongResult("the memory of \(verb)") }
    return Results.CommandMemory(
      records: sample.records, peer: type(of: peer).name, verb: verb, peakBytes: bytes)
  }
}
