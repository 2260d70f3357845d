import Foundation

/// A text with columns: the first to the left, the others to the right.
func tableLine(_ first: String, _ others: [(text: String, width: Int)]) -> String {
  first.padded(to: 34) + others.map { $0.text.leftPadded(to: $0.width) }.joined()
}

extension String {
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

/// A number with three digits that count, or as many as are before the point.
func short(_ number: Double) -> String {
  if number >= 1_000 { return grouped(Int(number.rounded())) }
  return String(format: number < 0.1 ? "%.3f" : number < 10 ? "%.2f" : number < 100 ? "%.1f" : "%.0f", number)
}

func duration(_ seconds: Double) -> String {
  switch seconds {
  case ..<1e-6: short(seconds * 1e9) + " ns"
  case ..<1e-3: short(seconds * 1e6) + " µs"
  case ..<1: short(seconds * 1e3) + " ms"
  default: short(seconds) + " s"
  }
}

func ratio(_ number: Double) -> String { short(number) + "×" }

/// A whole number with a comma after each three digits.
func grouped(_ number: Int) -> String {
  let digits = Array(String(number))
  return digits.enumerated().map { ($0 > 0 && (digits.count - $0) % 3 == 0 ? "," : "") + String($1) }.joined()
}

/// - Returns: the length of its file.
func printSample(_ sample: Sample) throws -> Int {
  let size = try Data(contentsOf: sample.file).count
  print("\n## \(grouped(sample.records)) records of six fields, \(grouped(size)) bytes")
  return size
}

/// Prints a line for each peer: the median, the spread, and how many times as long as ours it took.
func printTable(_ workload: Workload, _ records: Int, _ measurements: [Measurement]) {
  guard !measurements.isEmpty else { return }
  let ours = measurements.first { $0.peer == FileDBPeer.name }?.median
  print("\n\(workload.title), \(grouped(records)) records  [\(workload.name)]")
  print(tableLine("", [("median", 10), ("least", 11), ("most", 10), ("runs", 6), ("times ours", 12)]))
  for measurement in measurements {
    guard let median = measurement.median, let least = measurement.sorted.first,
      let most = measurement.sorted.last
    else {
      print(tableLine("  " + measurement.peer, [("–", 10)]) + "   \(measurement.leftOut ?? "")")
      continue
    }
    print(
      tableLine(
        "  " + measurement.peer,
        [
          (duration(median), 10), (duration(least), 11), (duration(most), 10),
          (String(measurement.seconds.count), 6), (ours.map { ratio(median / $0) } ?? "", 12),
        ]))
  }
}

func printMemory(_ memory: [Results.Memory], _ ofCommands: [Results.CommandMemory]) {
  if let first = memory.first { printMemory(memory, first.records) }
  guard let first = ofCommands.first else { return }
  print("\nresident memory of a command at most, \(grouped(first.records)) records  [resident]")
  for one in ofCommands {
    print(tableLine("  \(one.peer): \(one.verb)", [("\(short(Double(one.peakBytes) / 1e6)) MB", 10)]))
  }
}

private func printMemory(_ memory: [Results.Memory], _ records: Int) {
  print(
    "\nresident memory that opening and reading each record once adds, \(grouped(records)) records  [resident]"
  )
  print(tableLine("", [("added", 10), ("times the file", 17), ("at most", 10)]))
  for one in memory {
    let most = Double(one.peakBytes) / Double(one.fileBytes)
    print(
      tableLine(
        "  " + one.peer + one.state.title,
        [("\(one.addedBytes >> 20) MiB", 10), (ratio(one.timesTheFile), 17), (ratio(most), 10)]))
  }
}

/// Prints what commands asked of the system.
func printCalls(_ calls: [Results.Calls]) {
  guard let first = calls.first else { return }
  print("\nwhat a command asks of the system, \(grouped(first.records)) records  [calls]")
  print(tableLine("", [("syncs", 8), ("opens", 8), ("stats", 8), ("bytes written", 16)]))
  for one in calls {
    print(
      tableLine(
        "  \(one.peer): \(one.verb)",
        [
          (String(one.calls.syncs), 8), (String(one.calls.opens), 8), (String(one.calls.stats), 8),
          (grouped(one.calls.bytesWritten), 16),
        ]))
  }
}

/// Prints FileDB's own medians beside each other, size by size, and how many times as long GRDB took.
func printGrowth(_ workloads: [Workload], _ results: Results) {
  let sizes = Set(results.measurements.map(\.records)).sorted()
  guard sizes.count > 1 else { return }
  print("\n## FileDB as the table grows; in brackets, how many times as long GRDB takes\n")
  print(tableLine("records", sizes.map { (grouped($0), 20) }).padded(to: 34))
  for workload in workloads where !workload.isSizeless {
    let cells = sizes.map { records -> (String, Int) in
      guard let ours = results.median(workload, FileDBPeer.self, at: records) else { return ("–", 20) }
      let theirs = results.ratio(workload, GRDBPeer.self, at: records).map { " (\(ratio($0)))" } ?? ""
      return (duration(ours) + theirs, 20)
    }
    print(tableLine(workload.name, cells))
  }
}
