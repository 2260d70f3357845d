import FileDB
import Foundation
import TestSupport
import Testing

private struct Todo: Codable, Sendable {
  var title: String
}

extension TableName<Todo> {
  fileprivate static var todos: Self { "todos" }
}

/// The verbs for several records, compared with an array that does the same.
@Suite struct SeveralRecordsTests {
  private func table(of count: Int) throws -> RecordTable<Fields> {
    let table = try RecordStore.inMemory().table("t")
    try table.add(contentsOf: (1...count).map { ["n": .integer(Int64($0))] })
    return table
  }

  @Test func movingByOffsetsIsThatOfAnArray() throws {
    var random = SeededRandom.fromEnvironment("moves by offsets")
    for _ in 0..<200 {
      let count = Int.random(in: 1...12, using: &random)
      let table = try table(of: count)
      let offsets = (0..<count).shuffled(using: &random).prefix(Int.random(in: 0...count, using: &random))
      let target = Int.random(in: 0...count, using: &random)
      let ids = try table.snapshot().ids
      let moved = offsets.sorted().map { ids[$0] }
      let above = ids[..<target].filter { !moved.contains($0) }
      let below = ids[target...].filter { !moved.contains($0) }
      try table.move(fromOffsets: offsets, toOffset: target)
      #expect(try table.snapshot().ids == above + moved + below, "\(offsets) to \(target)")
      try table.store.checkInvariants()
    }
  }

  @Test func movedRecordsFollowOneAnother() throws {
    var random = SeededRandom.fromEnvironment("moves of several")
    for _ in 0..<200 {
      let count = Int.random(in: 2...12, using: &random)
      let table = try table(of: count)
      let ids = try table.snapshot().ids
      let moved = Array(ids.shuffled(using: &random).prefix(Int.random(in: 1..<count, using: &random)))
      let others = ids.filter { !moved.contains($0) }
      let place = Int.random(in: 0...others.count, using: &random)
      let positions: [Position?] = [
        .index(place), place == 0 ? .top : .after(others[place - 1]),
        place == others.count ? .bottom : .before(others[place]),
      ]
      let position = try #require(positions.compactMap(\.self).randomElement(using: &random))
      try table.move(moved, to: position)
      #expect(
        try table.snapshot().ids == Array(others[..<place]) + moved + Array(others[place...]),
        "\(moved) to \(position)")
    }
  }

  @Test func failedMoveLeavesOrder() throws {
    let table = try table(of: 4)
    #expect(storeError { try table.move([1, 9], to: .bottom) }?.code == .recordNotFound)
    #expect(storeError { try table.move([1, 2], to: .index(3)) }?.code == .indexOutOfRange)
    #expect(storeError { try table.move(fromOffsets: [0, 4], toOffset: 1) }?.code == .indexOutOfRange)
    #expect(storeError { try table.move(fromOffsets: [0], toOffset: 5) }?.code == .indexOutOfRange)
    #expect(try table.snapshot().ids == [1, 2, 3, 4])
    try table.store.checkInvariants()
  }

  @Test func copiesGoBelowTheirOriginalsOrTogether() throws {
    let table = try table(of: 3)
    #expect(try table.duplicate([1, 3]) == [4, 5])
    #expect(try table.snapshot().ids == [1, 4, 2, 3, 5])
    #expect(try table.duplicate([3, 1], to: .top) == [6, 7])
    #expect(try table.snapshot().map { $0["n"] } == [3, 1, 1, 1, 2, 3, 3])
    #expect(storeError { try table.duplicate([1, 9]) }?.record == 9)
    #expect(try table.count == 7)
    try table.store.checkInvariants()
  }

  @Test func fieldsAreSetAndUnsetTogetherOrNotAtAll() throws {
    let table = try table(of: 3)
    try table.set(["done": true], of: [1, 3])
    #expect(try table.snapshot().map { $0["done"] } == [true, nil, true])
    #expect(storeError { try table.unset(["done"], of: [1, 9]) }?.code == .recordNotFound)
    #expect(try table.snapshot().map { $0["done"] } == [true, nil, true])
    try table.unset(["done"], of: [1, 2])
    #expect(try table.snapshot().map { $0["done"] } == [nil, nil, true])
    try table.store.checkInvariants()
  }

  @Test func allMatchingRecordsAreUpdated() throws {
    let todos = try RecordStore.inMemory().table(.todos)
    try todos.add(contentsOf: ["a", "b", "c"].map { Todo(title: $0) })
    let matches = try todos.updateAll(where: RecordPredicate("title >= 'b' OR titel == 1")) {
      $0.title += "!"
    }
    #expect(matches.ids == [2, 3])
    #expect(matches.unknownFields.map(\.name) == ["titel"])
    #expect(try todos.snapshot().values().get().map(\.title) == ["a", "b!", "c!"])
    #expect(throws: CancellationError.self) {
      try todos.updateAll { todo in
        if todo.title == "c!" { throw CancellationError() }
        todo.title = ""
      }
    }
    #expect(try todos.snapshot().values().get().map(\.title) == ["a", "b!", "c!"])
    try todos.updateAll { $0.title = $0.title.uppercased() }
    #expect(try todos.snapshot().values().get().map(\.title) == ["A", "B!", "C!"])
    try todos.store.checkInvariants()
  }

  @Test func asyncVerbsDoTheSame() async throws {
    let table = try table(of: 4)
    try await table.move([4, 3], to: .top)
    try await table.move(fromOffsets: [0], toOffset: 2)
    #expect(try table.snapshot().ids == [3, 4, 1, 2])
    #expect(try await table.duplicate([1, 2], to: .bottom) == [5, 6])
    try await table.set(["done": true], of: [5, 6])
    try await table.unset(["done"], of: [6])
    try await table.update([5, 6]) { $0["x"] = 1 }
    try await table.updateAll { $0["all"] = true }
    try await table.updateAll(where: RecordPredicate("x == 1")) { $0["x"] = 2 }
    #expect(try table.snapshot().map { $0["x"] } == [nil, nil, nil, nil, 2, 2])
    #expect(try table.snapshot().map { $0["done"] } == [nil, nil, nil, nil, true, nil])
    #expect(try table.snapshot().allSatisfy { $0["all"] == true })
    try table.store.checkInvariants()
  }
}
