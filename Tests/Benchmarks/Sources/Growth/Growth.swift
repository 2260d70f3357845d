import FileDB
import Foundation

/// Growth [RECORDS ...]: how the time of what touches many records grows with the table. By default, the tables have
/// 10,000, 100,000 and 1,000,000 records. Prints CPU seconds, and by which power the time grows: 1 is linear.
@main
struct Growth {
  struct Note: Codable, Sendable {
    var number: Int
    var name: String
    var city: String
    var folder: RecordID<Folder>?
    var text: String
  }

  struct Folder: Codable, Sendable {
    var number: Int
    var city: String
  }

  static func main() throws {
    let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    var growth = Growth(counts: counts.isEmpty ? [10_000, 100_000, 1_000_000] : counts)
    for count in growth.counts { try growth.measure(count) }
    growth.printPowers()
  }

  private let counts: [Int]
  /// What came before an undo or redo.
  private var owner = ""
  /// The seconds for each number of records, by what was done.
  private var seconds: [(what: String, seconds: [Double])] = []

  private init(counts: [Int]) { self.counts = counts }

  private mutating func measure(_ count: Int) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("growth-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try RecordStore(at: url)
    let notes = try store.table(TableName<Note>("notes"))
    let folders = try store.table(TableName<Folder>("folders"))
    var step: UndoStep?

    let new = (0..<count).map { Self.note($0, folder: RecordID(rawValue: Int64($0 / 10 + 1))) }
    let newFolders = (0...count / 10).map { Folder(number: $0, city: Self.cities[$0 % 7]) }
    try run("add(contentsOf:)", count) {
      try store.write { tx in
        try tx[folders.name].add(contentsOf: newFolders)
        try tx[notes.name].add(contentsOf: new)
      }
    }
    try run("checkpoint", count) { try store.checkpoint() }
    try run("values of another store", count) {
      let others = try RecordStore(at: url).table(notes.name).snapshot()
      guard try others.values().get().count == count else { throw Wrong() }
    }

    let before = try notes.snapshot()
    try run("updateAll in an undoable write", count) {
      step = try store.undoableWrite { _ in try notes.updateAll { $0.text += " changed" } }.step
    }
    try run("  undo", count) { step = try store.undo(step!) }
    try run("  redo", count) { step = try store.undo(step!) }
    try run("the change for an observer", count) {
      let change = TableChange(from: before, to: try notes.snapshot())
      guard change.steps.sequence.count == count else { throw Wrong() }
    }
    try run("a logged updateAll", count) {
      try store.undoLog.write { _ in try notes.updateAll { $0.number += 1 } }
    }
    try run("  undo of the log", count) { try store.undoLog.undo() }
    try run("  redo of the log", count) { try store.undoLog.redo() }
    try run("sort", count) {
      step = try store.undoableWrite { _ in try notes.sort(by: [SortKey(\Note.name)]) }.step
    }
    try run("  undo", count) { step = try store.undo(step!) }
    try run("move half to the top", count) {
      let ids = try notes.snapshot().ids.suffix(count / 2)
      step = try store.undoableWrite { _ in try notes.move(ids, to: .top) }.step
    }
    try run("  undo", count) { step = try store.undo(step!) }
    try run("removal of every second record", count) {
      let ids = try notes.snapshot().ids.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      step = try store.undoableWrite { _ in try notes.delete(ids) }.step
    }
    try run("  undo", count) { step = try store.undo(step!) }

    try run("join", count) {
      let all = try store.snapshot()
      let pairs = try all[notes.name].joined(to: all[folders.name], by: \.folder)
      guard pairs.reduce(0, { sum, _ in sum + 1 }) == count else { throw Wrong() }
    }
    try run("groups", count) {
      guard try notes.snapshot().grouped(by: \.city).count == 7 else { throw Wrong() }
    }
    let base = try notes.snapshot()
    try notes.updateAll { if $0.number % 2 == 0 { $0.text += " by us" } }
    let ours = try notes.snapshot()
    try notes.updateAll { if $0.number % 2 == 1 { $0.text += " by them" } }
    try run("merge of two versions", count) {
      let merge = try TableMerge(base: base, ours: ours, theirs: notes.snapshot())
      guard merge.conflicts.isEmpty else { throw Wrong() }
    }
    try run("declaration of references", count) {
      let reference = ReferenceRule("folders", onDelete: .cascade)
      try notes.declare(TableSchema(fields: [FieldSchema("folder", references: reference)]))
    }
    try run("cascade to every second record", count) {
      let ids = try folders.snapshot().ids.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      step = try store.undoableWrite { _ in try folders.delete(ids) }.step
    }
    try run("  undo", count) { step = try store.undo(step!) }
    try store.close()
  }

  private struct Wrong: Error {}

  private mutating func run(_ what: String, _ count: Int, _ body: () throws -> Void) throws {
    let start = Self.cpuSeconds
    try body()
    let seconds = Self.cpuSeconds - start
    let title = what.hasPrefix("  ") ? "\(owner),\(what.dropFirst())" : what
    if !what.hasPrefix("  ") { owner = what }
    if let place = self.seconds.firstIndex(where: { $0.what == title }) {
      self.seconds[place].seconds.append(seconds)
    } else {
      self.seconds.append((title, [seconds]))
    }
    // At once, also into a pipe.
    let line = String(format: "%10d  %8.2f s  ", count, seconds) + title + "\n"
    FileHandle.standardOutput.write(Data(line.utf8))
  }

  private func printPowers() {
    guard counts.count > 1, let first = counts.first, let last = counts.last else { return }
    print("\npower of growth")
    for (what, seconds) in seconds where seconds.count == counts.count {
      let power = log(seconds[seconds.count - 1] / seconds[0]) / log(Double(last) / Double(first))
      print(String(format: "%10.2f  ", power) + what)
    }
  }

  private static let cities = ["Aachen", "Bern", "Chur", "Dole", "Évian", "Fano", "Gent"]

  private static func note(_ number: Int, folder: RecordID<Folder>?) -> Note {
    let mixed = number * 2_654_435_761 % 4_294_967_296
    return Note(
      number: number, name: "name \(mixed)", city: cities[number % 7], folder: folder,
      text: "a note of some length \(number)")
  }

  private static var cpuSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
