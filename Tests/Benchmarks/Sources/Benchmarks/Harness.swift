import Foundation

/// What is measured. Peers are compared within one task.
enum Task: String, CaseIterable {
  case readValues = "read the file into values"
  case openAndCount = "open, count, first record"
  case readRows = "read every row, typed, in order"
  case writeValues = "write values as a document"
  case commit = "write the whole table to the disk"
}

/// One way to do a task. ``Peer`` makes them.
struct Case {
  var name: String
  var isOurs = false
  /// Fewer for who takes many seconds.
  var runs = 7
  /// Does it once. What it returns is let go after the clock has stopped.
  var body: () throws -> Any
}

/// Somebody to compare with, FileDB included. One file each, in Peers.
protocol Peer {
  static var name: String { get }
  /// Its ways to do `task`, made ready.
  static func cases(_ task: Task, _ sample: Sample) throws -> [Case]
  /// Opens the table and returns what stays in memory; run in a process of its own, which then looks at itself.
  static func open(_ sample: Sample) throws -> Any
}

struct Measurement {
  private var runs: [Double] = []

  /// Runs each case once, then each again and so on, so that a busy moment of the machine meets them all.
  static func measure(_ cases: [Case]) throws -> [Measurement] {
    var measurements = cases.map { _ in Measurement() }
    for round in 0..<(cases.map(\.runs).max() ?? 0) {
      for (number, measured) in cases.enumerated() where round < measured.runs {
        measurements[number].runs.append(try seconds(measured.body))
      }
    }
    return measurements
  }

  private static func seconds(_ body: () throws -> Any) throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    let duration = clock.now - start
    withExtendedLifetime(result) {}
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  /// From the quickest run to the slowest.
  var seconds: [Double] { runs.sorted() }

  var median: Double {
    let seconds = seconds
    return (seconds[(seconds.count - 1) / 2] + seconds[seconds.count / 2]) / 2
  }
}

extension String {
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

func format(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

/// Prints a row for each case: the median, the spread, and how many times as long as ours it took.
func printTable(_ task: Task, _ results: [(Case, Measurement)]) {
  let ours = results.first { $0.0.isOurs }?.1.median
  print("\n\(task.rawValue)".padded(to: 48) + "   median s          min-max s   runs   times ours")
  for (measured, measurement) in results {
    let spread = "\(format(measurement.seconds.first ?? 0, 3))-\(format(measurement.seconds.last ?? 0, 3))"
    let ratio = measured.isOurs ? "1" : ours.map { format(measurement.median / $0, 2) } ?? ""
    print(
      "  \(measured.name)".padded(to: 47) + format(measurement.median, 3).leftPadded(to: 11)
        + spread.leftPadded(to: 19) + String(measured.runs).leftPadded(to: 7) + ratio.leftPadded(to: 13))
  }
}

/// Bytes that this process has in memory now, and the most it ever had; `nil` where the system does not tell.
func residentMemory() -> (now: Int, peak: Int)? {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
  func bytes(_ key: String) -> Int? {
    for line in status.split(separator: "\n") where line.hasPrefix("\(key):") {
      return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map {
        $0 * 1_024
      }
    }
    return nil
  }
  guard let now = bytes("VmRSS"), let peak = bytes("VmHWM") else { return nil }
  return (now, peak)
}
