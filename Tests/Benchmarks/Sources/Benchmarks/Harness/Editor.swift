/// A change of one record. A place is given by a neighbour, as by a person who drags a row, so that nobody need count
/// rows.
enum Edit: Sendable {
  case add(Entry, Place)
  case move(Int, after: Int)
  case update(Int, amount: Int)
  case delete(Int)
}

enum Place: Sendable {
  case top
  case bottom
  case after(Int)
}

/// A peer's open table, to be changed.
protocol Editor: AnyObject {
  var hasTransactions: Bool { get }
  /// Carries out each edit by itself, on the disk when it is done.
  func commit(_ edits: [Edit], _ log: EditLog) throws
  /// Carries out the edits as one transaction.
  func transact(_ edits: [Edit], _ log: EditLog) throws
  /// Does what is put off, a checkpoint, say, so that it falls into nobody's time.
  func settle() throws

  func count() throws -> Int
  func entry(_ id: Int) throws -> Entry?
  /// The ids right above and below a record; `nil` if there is none.
  func neighbours(of id: Int) throws -> (above: Int?, below: Int?)
}

extension Editor {
  var hasTransactions: Bool { true }
  func settle() throws {}
}

/// An editor that several threads may use at once.
protocol SharedEditor: Editor, Sendable {}

/// An editor that tasks may use at once, without a thread for each.
protocol AsyncEditor: SharedEditor {
  /// Carries out each edit by itself, on the disk when it is done, and returns the ids.
  func commit(_ edits: [Edit]) async throws -> [Int]
}

/// Runs edits against the clock, and remembers what became of them.
final class EditLog {
  let pace: Pace
  /// The id that each edit was about.
  private(set) var ids: [Int] = []

  init(limit: Double) { pace = Pace(limit: limit) }

  func run(_ edits: [Edit], _ body: (Edit) throws -> Int) rethrows {
    ids.reserveCapacity(edits.count)
    try pace.run(edits) { ids.append(try body($0)) }
  }
}
