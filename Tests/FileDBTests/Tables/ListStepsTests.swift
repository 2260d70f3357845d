import FileDB
import TestSupport
import Testing

@Suite struct ListStepsTests {
  private static let options: StoreOptions = {
    var options = StoreOptions(checkpoints: .manual)
    options.shape = OrderedRecords.Shape(chunk: 3, section: 3)
    return options
  }()

  @Test func stepsTurnOldListIntoNewOne() throws {
    var random = SeededRandom.fromEnvironment("stepsTurnOldListIntoNewOne")
    for _ in 0..<12 {
      try withStore(options: Self.options) { store in
        let table = try store.table("list")
        var view = StrictTableView()
        var list: [StoredRecord<Fields>] = []
        var shown = table.lastSnapshot
        for _ in 0..<40 {
          for _ in 0...Int.random(in: 0...4, using: &random) { try edit(table, &random) }
          let change = TableChange(from: shown, to: table.lastSnapshot)
          try view.show(change)
          try #require(view.shows(change.after))
          try apply(change, to: &list)
          shown = change.after
        }
      }
    }
  }

  @Test func stepsConnectAnyTwoSmallLists() throws {
    let none = try snapshot([])
    let later = try lists(of: [2, 3, 4, 5]).map(snapshot)
    for old in try lists(of: [1, 2, 3, 4]).map(snapshot) {
      for new in later {
        let change = TableChange(from: old, to: new)
        var view = StrictTableView()
        try view.show(TableChange(from: none, to: old))
        try view.show(change)
        try #require(view.shows(new), "from \(old.ids) to \(new.ids)")
        var list = Array(old)
        try apply(change, to: &list)
      }
    }
  }

  @Test func recordMovedAndUpdatedIsListedAsBoth() throws {
    try withStore { store in
      let table = try store.table("list")
      let ids = try table.add(contentsOf: (0..<9).map { ["n": .integer($0)] })
      let before = table.lastSnapshot
      try store.write { tx in
        try tx[table.name].move(ids[7], to: .top)
        try tx[table.name].set(["n": 70], of: ids[7])
      }
      let steps = TableChange(from: before, to: table.lastSnapshot).steps
      #expect(steps.moves.map(\.id) == [AnyRecordID(ids[7])] && steps.updates == steps.moves)
      #expect(steps.updates.first?.oldIndex == 7 && steps.updates.first?.newIndex == 0)
      #expect(
        steps.sequence == [
          .move(AnyRecordID(ids[7]), fromIndex: 7, index: 0), .update(AnyRecordID(ids[7]), index: 0),
        ])
    }
  }

  @Test func checkpointProducesNoSteps() throws {
    try withStore(.disk) { store in
      let table = try store.table("list")
      try table.add(contentsOf: (0..<9).map { ["n": .integer($0)] })
      let before = table.lastSnapshot
      try store.checkpoint()
      let read = try RecordStore(at: store.url).table("list").lastSnapshot
      #expect(TableChange(from: before, to: read).steps.isEmpty)
    }
  }

  /// Applies the single steps as their documentation does, and requires the new list.
  private func apply(_ change: TableChange<Fields>, to list: inout [StoredRecord<Fields>]) throws {
    for step in change.steps.sequence {
      switch step {
      case .delete(let id, let index): try #require(list.remove(at: index).id == RecordID(id))
      case .insert(let id, let index):
        try #require(change.after[index].id == RecordID(id))
        list.insert(change.after[index], at: index)
      case .move(let id, let oldIndex, let index):
        try #require(list[oldIndex].id == RecordID(id))
        list.insert(list.remove(at: oldIndex), at: index)
      case .update(let id, let index):
        try #require(list[index].id == RecordID(id))
        list[index] = change.after[index]
      }
    }
    try #require(list.map(\.id) == change.after.ids)
    try #require(list.map(\.fields) == change.after.map(\.fields))
  }

  /// All orders of all subsets.
  private func lists(of ids: [Int64]) -> [[Int64]] {
    [[]]
      + ids.flatMap { first in
        lists(of: ids.filter { $0 != first }).map { [first] + $0 }
      }
  }

  /// Records that are also updated when they go from an even index to an odd one, or back.
  private func snapshot(_ ids: [Int64]) throws -> TableSnapshot<Fields> {
    let table = try RecordStore.inMemory(options: Self.options).table("list")
    try table.replaceAll(
      identified: ids.enumerated().map { index, id in
        IdentifiedValue(["isEven": .bool(index.isMultiple(of: 2))], id: RecordID<Fields>(rawValue: id))
      })
    return table.lastSnapshot
  }

  private func edit(_ table: RecordTable<Fields>, _ random: inout SeededRandom) throws {
    let ids = table.lastSnapshot.ids
    guard let id = ids.randomElement(using: &random) else {
      try table.add(contentsOf: (0..<9).map { ["n": .integer($0)] })
      return
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: try table.move(id, to: .index(.random(in: 0..<ids.count, using: &random)))
    case 6..<11: try table.set(["n": .integer(.random(in: 0...3, using: &random))], of: id)
    case 11..<14: try table.delete(id)
    case 14: try table.sort(by: [.ascending("n")])
    case 15: try table.truncate()
    default: try table.add(["n": 0], at: .index(.random(in: 0...ids.count, using: &random)))
    }
  }
}
