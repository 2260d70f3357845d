import FileDB
import TestSupport
import Testing

private struct Todo: Codable, Sendable, Equatable {
  var title: String
  var isDone = false
  var due: String?
}

extension TableName<Todo> {
  fileprivate static var todos: Self { "todos" }
}

/// Adds records titled a, b, c, ... and returns their ids.
@discardableResult
private func fill(_ table: RecordTable<Todo>, _ count: Int) throws -> [RecordID<Todo>] {
  try table.add(contentsOf: (0..<count).map { Todo(title: String(UnicodeScalar(UInt8(97 + $0)))) })
}

private func titles(_ table: RecordTable<Todo>) throws -> String {
  try table.lastSnapshot.values().get().map(\.title).joined()
}

@Suite struct VerbTests {
  @Test(arguments: StorePlace.allCases) func addingFirstRecordCreatesTable(place: StorePlace) throws {
    try withStore(place) { store in
      let notes = try store.table(.todos)
      #expect(try !notes.exists)
      #expect(notes.lastSnapshot.isEmpty)
      let id = try notes.add(Todo(title: "milk"))
      #expect(id == 1)
      #expect(try notes.exists)
      #expect(try notes.value(of: 1) == Todo(title: "milk"))
      #expect(try store.tableNames == ["todos"])
    }
  }

  @Test func recordCanBeAddedAtEveryPosition() throws {
    for count in 0..<5 {
      var positions: [(Position<Todo>, index: Int)] = [(.top, 0), (.bottom, count)]
      for index in 0...count { positions.append((.index(index), index)) }
      for index in 0..<count {
        let id = RecordID<Todo>(rawValue: Int64(index + 1))!
        positions += [(.before(id), index), (.after(id), index + 1)]
      }
      for (position, index) in positions {
        try withStore { store in
          let notes = try store.table(.todos)
          if count > 0 { try fill(notes, count) } else { try notes.create() }
          try notes.add(Todo(title: "X"), at: position)
          var expected = Array("abcdefgh".prefix(count))
          expected.insert("X", at: index)
          #expect(try titles(notes) == String(expected), "\(position) of \(count)")
        }
      }
    }
  }

  @Test(arguments: 1..<6) func everyMoveAgreesWithPlainArray(count: Int) throws {
    for from in 0..<count {
      for to in 0..<count {
        try withStore { store in
          let notes = try store.table(.todos)
          let ids = try fill(notes, count)
          var expected = Array("abcdefgh".prefix(count))
          expected.insert(expected.remove(at: from), at: to)
          try notes.move(fromIndex: from, toIndex: to)
          #expect(try titles(notes) == String(expected), "index \(from) to \(to) of \(count)")

          try notes.move(ids[from], to: .index(from))
          #expect(try titles(notes) == String("abcdefgh".prefix(count)), "and back")

          for (position, index) in [(Position<Todo>.before(ids[to]), to), (.after(ids[to]), to + 1)]
          where from != to {
            var rest = Array("abcdefgh".prefix(count))
            let moved = rest.remove(at: from)
            rest.insert(moved, at: index > from ? index - 1 : index)
            try store.write { tx in
              try tx[.todos].move(ids[from], to: position)
              let now = try tx[.todos].snapshot().values().get().map(\.title).joined()
              #expect(now == String(rest), "\(position) from index \(from) of \(count)")
              try tx[.todos].move(ids[from], to: .index(from))
            }
          }
        }
      }
    }
  }

  @Test func recordMovesToTopToBottomAndBesideItself() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      let ids = try fill(notes, 3)
      try notes.move(ids[1], to: .top)
      #expect(try titles(notes) == "bac")
      try notes.move(ids[1], to: .bottom)
      #expect(try titles(notes) == "acb")
      try notes.move(ids[2], to: .before(ids[2]))
      try notes.move(ids[2], to: .after(ids[2]))
      #expect(try titles(notes) == "acb")
    }
  }

  @Test func updateKeepsIDIndexAndUnknownFields() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      let ids = try fill(notes, 3)
      try notes.set(["colour": "red", "due": "today"], of: ids[1])
      try notes.update(ids[1]) { note in
        note.title = "B"
        note.due = nil
      }
      let record = try notes.lastSnapshot.record(with: ids[1])
      #expect(record.fields == ["title": "B", "isDone": false, "colour": "red"])
      #expect(notes.lastSnapshot.ids == ids)
      try notes.update(ids[1], to: Todo(title: "C", isDone: true))
      #expect(try notes.lastSnapshot.record(with: ids[1]).fields["colour"] == "red")
      #expect(try notes.value(of: ids[1]).isDone)
    }
  }

  @Test func setAndUnsetChangeOnlyNamedFields() throws {
    try withStore { store in
      let table = try store.table("things")
      let id = try table.add(["a": 1, "b": "two", "c": [true]])
      try table.set(["b": 2.5, "d": "new"], of: id)
      try table.unset(["a", "absent"], of: id)
      #expect(try table.value(of: id) == ["b": 2.5, "c": [true], "d": "new"])
    }
  }

  @Test func deletedIDIsNeverReused() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      let ids = try fill(notes, 4)
      try notes.delete(ids[3])
      try notes.delete([ids[0], ids[2], ids[0]])
      #expect(try titles(notes) == "b")
      #expect(try notes.counter == 4)
      #expect(try notes.add(Todo(title: "new")) == 5)
      try notes.deleteAll()
      #expect(try notes.count == 0)
      #expect(try notes.add(Todo(title: "newer")) == 6)
    }
  }

  @Test func truncateResetsCounter() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      try fill(notes, 4)
      try notes.truncate()
      #expect(try notes.exists)
      #expect(try notes.counter == 0)
      #expect(try notes.add(Todo(title: "first")) == 1)
    }
  }

  @Test(arguments: StorePlace.allCases) func dropRemovesTableAndKeepsItsCounter(place: StorePlace) throws {
    try withStore(place) { store in
      let notes = try store.table(.todos)
      try fill(notes, 2)
      try notes.drop()
      #expect(try !notes.exists)
      #expect(try store.tableNames == [])
      #expect(try fill(notes, 1) == [3])
    }
  }

  @Test func duplicateHasNewIDAndSameFields() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      let ids = try fill(notes, 3)
      try notes.set(["extra": [1, 2]], of: ids[1])
      #expect(try notes.duplicate(ids[1]) == 4)
      #expect(try titles(notes) == "abbc")
      #expect(try notes.duplicate(ids[1], to: .top) == 5)
      #expect(try notes.duplicate(ids[1], to: .bottom) == 6)
      #expect(try titles(notes) == "babbcb")
      #expect(try notes.lastSnapshot.record(with: 4).fields == notes.lastSnapshot.record(with: ids[1]).fields)
    }
  }

  @Test func replaceAllKeepsGivenIDsAndRefusesDuplicates() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      try fill(notes, 3)
      let ids = try notes.replaceAll(identified: [
        IdentifiedValue(Todo(title: "x"), id: 3), IdentifiedValue(Todo(title: "y")),
        IdentifiedValue(Todo(title: "z"), id: 9),
      ])
      #expect(ids == [3, 10, 9])
      #expect(try titles(notes) == "xyz")
      #expect(try notes.counter == 10)
      #expect(throws: StoreError.self) {
        try notes.replaceAll(identified: [
          IdentifiedValue(Todo(title: "p"), id: 3), IdentifiedValue(Todo(title: "q"), id: 3),
        ])
      }
      #expect(try titles(notes) == "xyz")
    }
  }

  @Test func snapshotIsUnaffectedByLaterWrites() throws {
    try withStore { store in
      let notes = try store.table(.todos)
      try fill(notes, 3)
      let before = notes.lastSnapshot
      try notes.deleteAll()
      #expect(try before.values().get().map(\.title) == ["a", "b", "c"])
      #expect(notes.lastSnapshot.isEmpty)
    }
  }

  @Test func dryRunWritesNothing() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let id = try store.dryRun { tx in try tx[.todos].add(Todo(title: "x")) }
      #expect(id == 1)
      #expect(try store.tableNames == [])
      #expect(try contents(of: folder) == [])
    }
  }

  @Test func dryRunWorksWithoutFolder() throws {
    try withTemporaryFolder { folder in
      let missing = folder.appendingPathComponent("missing")
      for store in [try RecordStore(at: missing), .inMemory()] {
        #expect(try store.dryRun { tx in try tx[.todos].add(Todo(title: "x")) } == 1)
        #expect(try store.tableNames == [])
      }
      #expect(try contents(of: folder) == [])
    }
  }
}
