import Foundation

/// What is done to two tables with rules.
enum RuledWork: String, CaseIterable {
  case commit, `import`, cascade
}

/// Whether somebody keeps the rules.
enum Rules: String, CaseIterable {
  case free, kept
}

/// A record that has an owner.
struct RuledItem: Sendable {
  let code: String
  let amount: Int
  let owner: Int

  /// The one with the id `number` + 1.
  init(_ number: Int) {
    (code, amount, owner) = ("code \(number)", number % 1_000, number / Self.perOwner + 1)
  }

  /// How many items each owner has.
  static let perOwner = 10
}

/// Two tables of a peer. The rules: each owner has a name, which no other has. Each item has a code, which no other
/// has, an amount from 0 to 1,000,000, and an owner that is there; it goes with its owner.
protocol RuledTables: AnyObject {
  /// Makes empty tables in an empty folder. Ids go from 1.
  init(in folder: URL, _ rules: Rules) throws
  /// In one transaction.
  func addOwners(_ count: Int) throws
  /// In one transaction, on the disk when it is done.
  func add(_ items: [RuledItem]) throws
  /// With its items, whose ids these are, in one transaction, on the disk when it is done. Who keeps rules need not be
  /// told the items.
  func deleteOwner(_ id: Int, items: ClosedRange<Int>) throws
  func counts() throws -> (owners: Int, items: Int)
  /// Does what is put off, so that it falls into nobody's time.
  func settle() throws
}

extension RuledTables {
  /// - Parameter scratch: a name for its files.
  static func prepare(_ work: RuledWork, _ rules: Rules, _ sample: Sample, in scratch: String) throws -> Run {
    let folder = try sample.scratch("\(scratch)-\(work.rawValue)-\(rules.rawValue)")
    let filled = FilledTables<Self>(in: folder, rules, items: sample.records)
    switch work {
    case .commit: return { try filled.addItems() }
    case .import: return { try filled.fillAnew() }
    case .cascade: return { try filled.deleteOwners() }
    }
  }
}

/// Tables with as many items as the sample has records.
private final class FilledTables<Tables: RuledTables> {
  private let folder: URL
  private let rules: Rules
  private let items: Int
  private var tables: Tables?
  private var added = 0
  private var deletedOwners = 0

  private var owners: Int { (items - 1) / RuledItem.perOwner + 1 }

  init(in folder: URL, _ rules: Rules, items: Int) {
    (self.folder, self.rules, self.items) = (folder, rules, items)
  }

  /// Adds all items in one transaction, and returns how long that took.
  func fillAnew() throws -> Double {
    tables = nil
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tables = try Tables(in: folder, rules)
    try tables.addOwners(owners)
    let all = (0..<items).map { RuledItem($0) }
    let time = try seconds(of: { try tables.add(all) }) {
      try expect(tables.counts() == (owners, items), "the number of items")
    }
    try tables.settle()
    (self.tables, added, deletedOwners) = (tables, items, 0)
    return time
  }

  private func filled() throws -> Tables {
    if tables == nil { _ = try fillAnew() }
    guard let tables else { throw WrongResult("no tables") }
    return tables
  }

  /// Adds items one by one, each with a commit.
  func addItems() throws -> Double {
    let tables = try filled()
    let pace = Pace(limit: EditedTable.commitSeconds)
    try pace.run(added..<added + EditedTable.commits) { number in
      // An owner that is there.
      try tables.add([RuledItem(code: "code \(number)", amount: 1, owner: number % owners + 1)])
    }
    added += pace.done
    try expect(tables.counts() == (owners, added), "the number of items")
    try tables.settle()
    return pace.secondsEach
  }

  /// Deletes some owners one by one, each with a commit.
  func deleteOwners() throws -> Double {
    let count = max(1, min(EditedTable.commits, owners / 10))
    if deletedOwners + count > owners { _ = try fillAnew() }
    let tables = try filled()
    let pace = Pace(limit: EditedTable.commitSeconds)
    try pace.run(deletedOwners + 1...deletedOwners + count) { id in
      let last = min(id * RuledItem.perOwner, items)
      try tables.deleteOwner(id, items: (id - 1) * RuledItem.perOwner + 1...last)
    }
    deletedOwners += pace.done
    let left = max(0, items - deletedOwners * RuledItem.perOwner)
    try expect(tables.counts() == (owners - deletedOwners, left), "what is left")
    try tables.settle()
    return pace.secondsEach
  }
}

extension RuledItem {
  init(code: String, amount: Int, owner: Int) { (self.code, self.amount, self.owner) = (code, amount, owner) }
}
