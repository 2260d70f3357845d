import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Several machines change a table in a folder that a sync service copies between them.
@Suite struct SyncedFolderTests {
  /// Where the own folder is, and whether the service copies it.
  enum Place: CaseIterable {
    case inStore, inStoreAndCopied, inUserState
  }

  private struct Machines {
    let service: SyncedMachines
    let place: Place
    let options: StoreOptions
    var stores: [RecordStore] = []
    /// The titles of the records that a machine has added.
    var added: Set<String> = []
    /// Those of which a record was deleted.
    var deleted: Set<String> = []

    init(_ place: Place, _ random: inout SeededRandom) throws {
      self.place = place
      var options = StoreOptions(
        checkpoints: .manual, ownFolder: place == .inUserState ? .inUserState : .inStore)
      options.stateFolder = "/state"
      options.keptJournal = [0, 3_000].randomElement(using: &random) ?? 0
      options.longestFrame = [300, 8 << 20].randomElement(using: &random) ?? 0
      self.options = options
      let name = SyncedMachines.Service.allCases.randomElement(using: &random) ?? .syncthing
      service = try SyncedMachines(
        count: Int.random(in: 2...3, using: &random), service: name,
        copiesOwnFolder: place == .inStoreAndCopied)
      stores = try service.machines.indices.map(open)
    }

    func open(_ machine: Int) throws -> RecordStore {
      try RecordStore(
        at: URL(fileURLWithPath: SyncedMachines.folder), disk: service.machines[machine].programDisk,
        options: options)
    }

    mutating func write(_ machine: Int, _ step: Int, _ random: inout SeededRandom) throws {
      let table = try stores[machine].table("todo")
      let snapshot = try table.snapshot()
      let record = snapshot.randomElement(using: &random)
      switch (Int.random(in: 0..<8, using: &random), record) {
      case (0, let record?):
        // The service may have brought another record with this id.
        try stores[machine].write { transaction in
          let table = try transaction["todo"]
          deleted.insert(try table.record(with: record.id)["title"]?.string ?? "")
          try table.delete(record.id)
        }
      case (1, let record?): try table.move(record.id, to: .top)
      case (2...3, let record?): try table.set(["note": .string("by \(machine) at \(step)")], of: record.id)
      default:
        let titles = (0...Int.random(in: 0..<4, using: &random)).map { "\(machine)-\(step)-\($0)" }
        try table.add(
          contentsOf: titles.map { ["title": .string($0), "note": "new", "done": false] }, at: .bottom)
        added.formUnion(titles)
      }
    }

    /// Merges the copies on a machine, while the service goes on.
    mutating func merge(_ machine: Int, _ random: inout SeededRandom) throws {
      let store = stores[machine]
      func go(_ random: inout SeededRandom) throws {
        for _ in 0..<Int.random(in: 0...3, using: &random) { try service.step(machine, &random) }
      }
      let merge = try ConflictCopiesMerge(store.conflictCopies, in: store) { _ in }
      try go(&random)
      let merged = try store.write { tx in try merge.carryOut(in: &tx) }
      try go(&random)
      _ = try merge.finish(merged)
    }

    mutating func step(_ step: Int, _ random: inout SeededRandom) throws {
      let machine = stores.indices.randomElement(using: &random) ?? 0
      try service.during(machine, &random) { random in try run(machine, step, &random) }
    }

    private mutating func run(_ machine: Int, _ step: Int, _ random: inout SeededRandom) throws {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: stores[machine] = try open(machine)
      case 1...2: try stores[machine].checkpoint()
      case 3...6: try service.step(machine, &random)
      case 7: try merge(machine, &random)
      default: try write(machine, step, &random)
      }
    }

    /// A table whose file has not arrived as a whole is left alone. Waiting commits that do not fit the file are added
    /// to it.
    mutating func attempt(_ body: (inout Machines) throws -> Void) throws {
      do { try body(&self) } catch StoreError.Code.conflict {
        for machine in stores.indices where !service.isArriving(at: machine) {
          do { try stores[machine].repair("todo", keeping: .both) } catch let error as StoreError
            where Self.isOfMissingPart(error)
          {}
        }
      } catch StoreError.Code.storeGone {
        // The own folder is outside now: the file '.filedb' has arrived.
        try attempt { machines in
          for machine in machines.stores.indices { machines.stores[machine] = try machines.open(machine) }
        }
      } catch StoreError.Code.recordNotFound {
        // The service has replaced the file since the program chose the record.
      } catch let error as StoreError where Self.isOfMissingPart(error) {}
    }

    private static func isOfMissingPart(_ error: StoreError) -> Bool {
      // The service may also have removed a draft, or a file of records.
      [.damagedTable, .notATable, .tableNotFound, .newerFormat, .damagedJournal, .fileNotFound]
        .contains(error.code)
    }

    /// The titles in conflicts that nobody has settled.
    func told() throws -> Set<String> {
      let conflicts = try stores.flatMap { try $0.openConflicts(of: "todo")?.conflicts ?? [] }
      return Set(
        conflicts.compactMap { conflict in
          if case .field("title", _, _, let theirs) = conflict.kind { theirs?.string } else { nil }
        })
    }

    /// The service copies everything, and one machine merges what it has kept twice, until nothing is left to do.
    mutating func end(_ random: inout SeededRandom) throws {
      for _ in 0..<20 {
        try service.settle(&random)
        for machine in stores.indices { stores[machine] = try open(machine) }
        for store in stores {
          do { try store.checkpoint() } catch StoreError.Code.conflict {
            try store.repair("todo", keeping: .both)
            try store.checkpoint()
          }
        }
        try service.settle(&random)
        let merging = stores.randomElement(using: &random) ?? stores[0]
        if try merging.conflictCopies.isEmpty { return }
        for merge in try merging.merge(merging.conflictCopies) where merge.backup == nil {
          try merging.disk.remove(merge.copy.url.path)
        }
        try merging.checkpoint()
      }
      Issue.record("there are always new copies")
    }
  }

  @Test(arguments: Place.allCases) func noRecordIsLost(_ place: Place) throws {
    var random = SeededRandom.fromEnvironment("synced folder")
    for round in 0..<min(TestLength.operations / 1_600, 500) {
      var machines = try Machines(place, &random)
      try machines.stores[0].table("todo").add(["title": "first", "note": "new", "done": false])
      try machines.stores[0].checkpoint()
      machines.added = ["first"]
      try machines.service.settle(&random)
      for step in 0..<80 {
        try machines.attempt { try $0.step(step, &random) }
      }
      try machines.end(&random)
      let titles = Set(try machines.stores[0].table("todo").snapshot().compactMap { $0["title"]?.string })
      let lost = try machines.added.subtracting(machines.deleted).subtracting(titles).subtracting(
        machines.told())
      #expect(lost.isEmpty, "round \(round)")
      var files = machines.service.machines.indices.map { machines.service.files($0) }
      #expect(files.allSatisfy { ($0[SyncedMachines.ownFile] != nil) == (place == .inUserState) })
      for machine in files.indices {
        files[machine] = files[machine].filter { !$0.key.hasPrefix(".") }
      }
      #expect(
        files.allSatisfy { $0 == files[0] } && files[0].count == 1, "round \(round): \(files.map(\.keys))")
      for store in machines.stores { try store.checkInvariants() }
    }
  }
}
