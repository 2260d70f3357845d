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
      let records = table.map { "\($0.id):\($0["n"]?.integer ?? -1) \($0["text"]?.string ?? "")" }
      return "\(name) \(table.counter) \(records)"
    }
  }

  /// A change that can be made in one store and in another that has the same records.
  private static func change(_ model: RecordStore, _ random: inout SeededRandom) throws -> (RecordStore)
    throws -> Void
  {
    let name = names.randomElement(using: &random) ?? "a"
    let id = try model.table(name).snapshot().ids.randomElement(using: &random)
    let (number, verb) = (Int64.random(in: 0..<1_000, using: &random), Int.random(in: 0..<12, using: &random))
    let count = Int64.random(in: 1...(name == "large" ? 12 : 3), using: &random)
    return { store in
      let table = try store.table(name)
      switch (verb, id) {
      case (0, _?): try table.drop()
      case (1, _?): try table.truncate()
      case (2, let id?): try table.delete(id)
      case (3, let id?): try table.move(id, to: .top)
      case (4...6, let id?): try table.set(["n": .integer(number)], of: id)
      default:
        try table.add(contentsOf: (0..<count).map { ["n": .integer(number + $0), "text": "a record"] })
      }
    }
  }

  /// The folder, three stores that have it open, and a store in memory that was changed as they were.
  private struct Machines {
    let disk = MemoryDisk()
    let model = RecordStore.inMemory(options: StoreOptions(checkpoints: .manual))
    let options: StoreOptions
    var stores: [RecordStore] = []

    init(_ random: inout SeededRandom) throws {
      var options = StoreOptions(checkpoints: .manual)
      options.keptJournal = [0, 1_000, 3_000].randomElement(using: &random) ?? 0
      options.shortJournal = [0, 1 << 20].randomElement(using: &random) ?? 0
      options.longestFrame = [1_000, 8 << 20].randomElement(using: &random) ?? 0
      options.largeFile = 3_000
      self.options = options
      stores = try (0..<3).map { _ in try open() }
    }

    func open(on other: (any Disk)? = nil) throws -> RecordStore {
      try RecordStore(at: URL(fileURLWithPath: "/store"), disk: other ?? disk, options: options)
    }

    /// A store whose process is killed after some calls.
    func openDying(_ random: inout SeededRandom) throws -> RecordStore {
      let call = Int.random(in: 30..<120, using: &random)
      let isTorn = Bool.random(using: &random)
      return try open(on: FaultyDisk(over: disk, faults: .fail(at: call, lasting: true, halfWritten: isTorn)))
    }

    /// Another program saves a table's file again: as it is, or with another text in each record.
    func save(_ name: String, text: String?) throws {
      let path = "/store/\(name).plist"
      guard var bytes = try? disk.read(path).bytes else { return }
      if let text {
        let table = try model.table(name)
        for id in try table.snapshot().ids { try table.set(["text": .string(text)], of: id) }
        bytes = Array(
          String(decoding: bytes, as: UTF8.self).replacing(/<string>(a record|edit \d+)</) { _ in
            "<string>\(text)<"
          }.utf8)
      }
      _ = try disk.replace(path, with: bytes)
    }
  }

  @Test func storesThatLookAtDifferentMomentsAgree() throws {
    var random = SeededRandom.fromEnvironment("many stores")
    for round in 0..<TestLength.operations / 200 {
      var machines = try Machines(&random)
      let model = machines.model
      for step in 0..<80 {
        let number = Int.random(in: 0..<3, using: &random)
        let store = machines.stores[number]
        switch Int.random(in: 0..<24, using: &random) {
        case 0: try store.checkpoint()
        case 1...4: try store.checkpointTablesThatAreDue()
        case 5: _ = try store.tableNames
        case 6: try store.refresh()
        case 7: #expect(try Self.contents(store) == Self.contents(model), "round \(round), step \(step)")
        case 8: machines.stores[number] = try machines.open()
        case 9:
          let dying = try machines.openDying(&random)
          try? dying.checkpoint()
        case 10:
          let before = try Self.contents(model)
          let change = try Self.change(model, &random)
          try? change(machines.openDying(&random))
          if try Self.contents(machines.open()) != before { try change(model) }
        case 11: try machines.save(Self.names.randomElement(using: &random) ?? "a", text: nil)
        case 12:
          try store.checkpoint()
          try machines.save(Self.names.randomElement(using: &random) ?? "a", text: "edit \(step)")
        default:
          let change = try Self.change(model, &random)
          try change(store)
          try change(model)
        }
      }
      for store in try machines.stores + [machines.open()] {
        try store.refresh()
        #expect(try Self.contents(store) == Self.contents(model), "round \(round), at the end")
        try store.checkInvariants()
      }
      try machines.stores[0].checkNothingIsLeftBehind()
    }
  }
}
