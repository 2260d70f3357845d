import Foundation

/// GNU recutils: records in a text file, by a program for each verb. Its times are those of whole processes.
final class RecutilsPeer: Peer {
  static let name = "recutils"

  private let sample: Sample
  private lazy var file = Result { try makeFile() }

  init(_ sample: Sample) { self.sample = sample }

  /// It checks the whole file at each change, and that takes it the square of the records' number: one insertion at
  /// 10,000 is enough to see it.
  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .edit(.update, _), .edit(.delete, _): 1_000
    default: 10_000
    }
  }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .open, .record, .command, .edit(.bottom, .commit), .edit(.update, .commit), .edit(.delete, .commit):
      guard findProgram("recsel") != nil else { throw LeftOut("recutils is not installed") }
    default: return nil
    }
    let file = try file.get()
    switch workload {
    case .open: return { [self] in try countRecords(file.path) }
    case .record: return { [self] in try readRecords(file.path) }
    case .command: return { [self] in try printRecord(file.path) }
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

  /// Each run changes a copy, which is quicker than to undo the changes.
  private func edit(_ kind: EditKind, _ sound: URL) throws -> Double {
    let copy = sound.deletingLastPathComponent().appendingPathComponent("\(kind.rawValue).rec")
    try FileManager.default.copyItem(at: sound, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let ids = Array((1...sample.records).shuffled().prefix(RecutilsPeer.commits))
    let pace = Pace(limit: RecutilsPeer.commitSeconds)
    try pace.run(ids) { try RecutilsPeer.edit(kind, $0, sample, copy.path) }
    let added = kind == .bottom ? pace.done : kind == .delete ? -pace.done : 0
    try expect(try count(copy.path) == sample.records + added, "the number of records")
    return pace.secondsEach
  }

  private static func edit(_ kind: EditKind, _ id: Int, _ sample: Sample, _ file: String) throws {
    let one = ["-t", "Entry", "-e", "id = \(id)"]
    switch kind {
    case .bottom:
      let fields = fields(sample.entries[0], id: sample.records + id).flatMap { ["-f", $0, "-v", $1] }
      try runProgram("recins", ["-t", "Entry"] + fields + [file])
    case .update: try runProgram("recset", one + ["-f", "amount", "-s", "7", file])
    case .delete: try runProgram("recdel", one + [file])
    case .top, .middle, .move: throw WrongResult("a change that it does not know")
    }
  }
}
