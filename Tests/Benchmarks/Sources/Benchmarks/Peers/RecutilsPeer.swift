import Foundation

/// GNU recutils: records in a text file, by a program for each verb. Its times are those of whole processes.
final class RecutilsPeer: Peer {
  static let name = "recutils"

  private let sample: Sample
  private lazy var file = Result { try makeFile() }
  /// The highest id in the file.
  private lazy var last = sample.records
  private lazy var present = Array(1...sample.records)

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int { 10_000 }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .open, .record, .command, .edit(.bottom, .commit), .edit(.update, .commit), .edit(.delete, .commit):
      guard findProgram("recsel") != nil else { throw LeftOut("recutils is not installed") }
    default: return nil
    }
    let file = try file.get().path
    switch workload {
    case .open: return { [self] in try countRecords(file) }
    case .record: return { [self] in try readRecords(file) }
    case .command: return { [self] in try printRecord(file) }
    case .edit(let kind, _): return { [self] in try edit(kind, file) }
    default: return nil
    }
  }

  private func makeFile() throws -> URL {
    let url = try sample.scratch("recutils").appendingPathComponent("sample.rec")
    var text =
      "%rec: Entry\n%key: id\n%type: id,amount int\n%type: price real\n%type: due date\n%type: isDone bool\n"
    for (number, entry) in sample.entries.enumerated() {
      text += "\n" + RecutilsPeer.fields(entry, id: number + 1).map { "\($0): \($1)\n" }.joined()
    }
    try text.write(to: url, atomically: true, encoding: .utf8)
    return url
  }

  private static func fields(_ entry: Entry, id: Int) -> [(String, String)] {
    [
      ("id", String(id)), ("title", entry.title), ("note", entry.note), ("amount", String(entry.amount)),
      ("price", String(entry.price)), ("due", entry.due.ISO8601Format()), ("isDone", String(entry.isDone)),
    ]
  }
}

/// Reading.
extension RecutilsPeer {
  private func count(_ file: String) throws -> Int? {
    Int(
      try runProgram("recsel", ["-t", "Entry", "-c", file]).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private func countRecords(_ file: String) throws -> Double {
    try seconds(
      of: { try count(file) }, check: { try sample.checkOpening($0 ?? 0, sample.entries.first?.title) })
  }

  private func readRecords(_ file: String) throws -> Double {
    try sample.readRecords { id in
      let text = try runProgram("recsel", ["-t", "Entry", "-e", "id = \(id)", "-P", "amount", file])
      return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  private func printRecord(_ file: String) throws -> Double {
    let (id, title) = sample.recordToPrint
    return try seconds(
      of: { try runProgram("recsel", ["-t", "Entry", "-e", "id = \(id)", file]) },
      check: { try expect($0.contains(title), "the printed record") })
  }
}

/// Writing.
extension RecutilsPeer {
  private static let commits = 200
  private static let commitSeconds = 1.0

  private func edit(_ kind: EditKind, _ file: String) throws -> Double {
    let before = present.count
    let pace = Pace(limit: RecutilsPeer.commitSeconds)
    switch kind {
    case .bottom: try pace.run(0..<RecutilsPeer.commits) { _ in try add(file) }
    case .update:
      try pace.run(present.shuffled().prefix(RecutilsPeer.commits)) { id in
        try runProgram("recset", ["-t", "Entry", "-e", "id = \(id)", "-f", "amount", "-s", "7", file])
      }
    case .delete:
      try pace.run(present.shuffled().prefix(RecutilsPeer.commits / 2)) { try delete($0, file) }
    case .top, .middle, .move: break
    }
    try expect(try count(file) == present.count, "the number of records")
    while present.count < before { try add(file) }
    for id in present.dropFirst(before) { try delete(id, file) }
    return pace.secondsEach
  }

  private func add(_ file: String) throws {
    last += 1
    let fields = RecutilsPeer.fields(sample.entries[0], id: last).flatMap { ["-f", $0, "-v", $1] }
    try runProgram("recins", ["-t", "Entry"] + fields + [file])
    present.append(last)
  }

  private func delete(_ id: Int, _ file: String) throws {
    try runProgram("recdel", ["-t", "Entry", "-e", "id = \(id)", file])
    present.removeAll { $0 == id }
  }
}
