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
    case .open, .record, .command(.get), .edit(.bottom, .commit): 10_000
    case .edit(.update, .commit), .edit(.delete, .commit): 1_000
    default: 0
    }
  }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .open: try onFile { [self] in try countRecords($0.path) }
    case .record: try onFile { [self] in try readRecords($0.path) }
    case .command(.get): try onFile { [self] in try printRecord($0.path) }
    case .edit(let kind, _): try onFile { [self] in try edit(kind, $0) }
    default: nil
    }
  }

  private func onFile(_ body: @escaping (URL) throws -> Double) throws -> Run {
    let file = try file.get()
    return { try body(file) }
  }

  @discardableResult
  private static func run(_ name: String, _ arguments: [String]) throws -> String {
    guard let program = findProgram(name) else { throw LeftOut("recutils is not installed") }
    return try runProgram(program, arguments)
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
      try RecutilsPeer.run("recsel", ["-t", "Entry", "-c", file]).trimmingCharacters(
        in: .whitespacesAndNewlines))
  }

  private func countRecords(_ file: String) throws -> Double {
    try seconds(
      of: { try count(file) }, check: { try sample.checkOpening($0 ?? 0, sample.entries.first?.title) })
  }

  private func readRecords(_ file: String) throws -> Double {
    try sample.readRecords { id in
      let text = try RecutilsPeer.run("recsel", ["-t", "Entry", "-e", "id = \(id)", "-P", "amount", file])
      return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  private func printRecord(_ file: String) throws -> Double {
    let (id, title) = sample.recordToPrint
    return try seconds(
      of: { try RecutilsPeer.run("recsel", ["-t", "Entry", "-e", "id = \(id)", file]) },
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
      try RecutilsPeer.run("recins", ["-t", "Entry"] + fields + [file])
    case .update: try RecutilsPeer.run("recset", one + ["-f", "amount", "-s", "7", file])
    case .delete: try RecutilsPeer.run("recdel", one + [file])
    case .top, .middle, .move: throw WrongResult("a change that it does not know")
    }
  }
}
