import Foundation

@main
struct Benchmarks {
  static var peers: [any Peer.Type] {
    [
      FileDBPeer.self, EmptySAXPeer.self, PropertyListCoderPeer.self, PropertyListSerializationPeer.self,
    ]
  }

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--resident" { return try reportMemory(Array(arguments.dropFirst())) }
    let records = arguments.first.map { Int($0) ?? 0 } ?? 100_000
    guard records > 0 else {
      print("usage: run [records] [task] [peer]")
      exit(64)
    }
    let sample = try Sample.make(records: records)
    defer { cleanUp(sample) }
    let size = try Data(contentsOf: sample.file).count
    print("\(records) records of six fields, \(size) bytes, \(size / records) a record.")
    print("Each time is that of the result being there; letting it go is not counted.")

    for task in Task.allCases where isWanted(task.rawValue, arguments.dropFirst().first) {
      let wanted = peers.filter { isWanted($0.name, arguments.dropFirst(2).first) }
      let cases = try wanted.flatMap { try $0.cases(task, sample) }
      printTable(task, Array(zip(cases, try Measurement.measure(cases))))
    }
    if arguments.count < 2 { try compareMemory(sample, size: size) }
  }

  /// Part of a name picks one task or one peer: for a profiler, say.
  private static func isWanted(_ name: String, _ part: String?) -> Bool { part.map(name.contains) ?? true }

  private static func cleanUp(_ sample: Sample) {
    let manager = FileManager.default
    let parent = sample.folder.deletingLastPathComponent()
    for name in (try? manager.contentsOfDirectory(atPath: parent.path)) ?? []
    where name.hasPrefix(sample.folder.lastPathComponent) {
      try? manager.removeItem(at: parent.appendingPathComponent(name))
    }
  }

  private static func compareMemory(_ sample: Sample, size: Int) throws {
    guard residentMemory() != nil else { return }
    print("\nresident memory, opened".padded(to: 48) + "      added   times the file   peak, times")
    for peer in peers {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = ["--resident", peer.name, sample.folder.path, String(sample.records)]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      let numbers = text.split(separator: " ").compactMap {
        Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      guard numbers.count == 2 else { throw WrongResult() }
      print(
        "  \(peer.name)".padded(to: 47) + "\(numbers[0] >> 20) MiB".leftPadded(to: 12)
          + format(Double(numbers[0]) / Double(size), 2).leftPadded(to: 17)
          + format(Double(numbers[1]) / Double(size), 2).leftPadded(to: 14))
    }
  }

  /// Prints how many bytes opening the table added to this process, and how many at most on the way.
  private static func reportMemory(_ arguments: [String]) throws {
    guard arguments.count == 3, let records = Int(arguments[2]), let before = residentMemory(),
      let peer = peers.first(where: { $0.name == arguments[0] })
    else { exit(64) }
    let opened = try peer.open(Sample(folder: URL(fileURLWithPath: arguments[1]), records: records))
    guard let after = residentMemory() else { exit(64) }
    withExtendedLifetime(opened) { print(after.now - before.now, after.peak - before.now) }
  }
}
