import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Several processes write to one folder and look at it at different moments, while journals come and go.
@Suite struct ManyStoresTests {
  private static let names = ["a", "b", "large"]

  private static func contents(_ store: RecordStore) throws -> [String] {
    try store.tableNames.map { name in
      let table = try store.table(name).lastSnapshot
      return "\(name) \(table.counter) \(table.map { "\($0.id):\($0["n"]?.integer ?? -1)" })"
    }
  }

  /// The same random change in two stores.
  private func change(_ store: RecordStore, _ model: RecordStore, _ random: inout SeededRandom) throws {
    let name = Self.names.randomElement(using: &random) ?? "a"
    let ids = try model.table(name).snapshot().ids
    let (number, verb) = (Int64.random(in: 0..<1_000, using: &random), Int.random(in: 0..<12, using: &random))
    let count = Int.random(in: 1...(name == "large" ? 12 : 3), using: &random)
    let id = ids.randomElement(using: &random)
    for store in [store, model] {
      let table = try store.table(name)
      switch (verb, id) {
      case (0, _?): try table.drop()
      case (1, _?): try table.truncate()
      case (2, let id?): try table.delete(id)
      case (3, let id?): try table.move(id, to: .top)
      case (4...6, let id?): try table.set(["n": .integer(number)], of: id)
      default:
        try table.add(
          contentsOf: (0..<Int64(count)).map { ["n": .integer(number + $0), "text": "a record"] })
      }
    }
  }

  @Test func storesThatLookAtDifferentMomentsAgree() throws {
    var random = SeededRandom.fromEnvironment("many stores")
    for round in 0..<120 {
      let disk = MemoryDisk()
      var options = StoreOptions(checkpoints: .manual)
      options.keptJournal = [0, 1_000, 3_000].randomElement(using: &random) ?? 0
      options.shortJournal = [0, 1 << 20].randomElement(using: &random) ?? 0
      options.longestFrame = [1_000, 8 << 20].randomElement(using: &random) ?? 0
      options.largeFile = 3_000
      func open() throws -> RecordStore {
        try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
      }
      let model = RecordStore.inMemory(options: StoreOptions(checkpoints: .manual))
      var stores = try (0..<3).map { _ in try open() }
      for step in 0..<80 {
        let number = Int.random(in: 0..<3, using: &random)
        let store = stores[number]
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try store.checkpoint()
        case 1...4: try store.checkpointTablesThatAreDue()
        case 5: _ = try store.tableNames
        case 6: try store.refresh()
        case 7: #expect(try Self.contents(store) == Self.contents(model), "round \(round), step \(step)")
        case 8: stores[number] = try open()
        default: try change(store, model, &random)
        }
      }
      for store in try stores + [open()] {
        try store.refresh()
        #expect(try Self.contents(store) == Self.contents(model), "round \(round), at the end")
        try store.checkInvariants()
      }
      try stores[0].checkNothingIsLeftBehind()
    }
  }
}
