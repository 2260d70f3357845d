import Foundation

/// What is asked of a program that does one thing and ends.
enum CommandVerb: String, CaseIterable, Codable {
  case get, count, show, add, set, move

  static let reading: [CommandVerb] = [.get, .count, .show]
  static let writing: [CommandVerb] = [.add, .set, .move]
  static let shownRecords = 20

  var title: String {
    switch self {
    case .get: "print one record"
    case .count: "print the number of records"
    case .show: "print the first \(CommandVerb.shownRecords) records"
    case .add: "add a record at the bottom"
    case .set: "set a field of a record"
    case .move: "move a record to the bottom"
    }
  }
}

/// A program with its arguments, and what must come of it.
struct TableCommand {
  let program: String
  let arguments: [String]
  /// Looks at what was printed, and at the table.
  let check: (_ output: String) throws -> Void

  func run() throws -> Double {
    try seconds(of: { try runProgram(program, arguments) }, check: check)
  }
}

/// A peer with such a program.
protocol CommandLinePeer: Peer {
  var commands: Result<CommandTable, any Error> { get }
  func command(_ verb: CommandVerb, _ table: CommandTable) throws -> TableCommand
}

extension CommandLinePeer {
  /// Each run does what the last one did, with something else.
  func nextCommand(_ verb: CommandVerb) throws -> TableCommand {
    let table = try commands.get()
    table.begin(verb)
    return try command(verb, table)
  }

  /// The first one is not timed: it may make what later ones find.
  func running(_ verb: CommandVerb) throws -> Run {
    _ = try nextCommand(verb).run()
    return { [self] in try nextCommand(verb).run() }
  }
}

/// A table that commands change, and what is in it.
final class CommandTable {
  let location: URL
  let sample: Sample
  private(set) var records: Int
  /// What the next `set` sets; no record had it before.
  private(set) var amount = 1_000_000
  /// The record that the next `move` moves: none of those that `show` shows, and not the one that `get` prints.
  private(set) var moved: Int

  init(_ location: URL, _ sample: Sample) {
    self.location = location
    self.sample = sample
    records = sample.records
    moved = sample.records / 2 + 1
  }

  /// What `add` adds.
  var added: Entry { sample.entries[0] }
  /// The record that `set` changes.
  var changedID: Int { sample.records / 2 + 1 }

  fileprivate func begin(_ verb: CommandVerb) {
    switch verb {
    case .get, .count, .show: break
    case .add: records += 1
    case .set: amount += 1
    case .move: moved += 1
    }
  }
}
